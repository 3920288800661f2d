/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace is told of the calls that the plug-in has moved: where each stood, when it was
 * started, and how long it was waited for. If Sennit takes no trace, that is one load and one
 * branch. A place is an address in the call: a debugger's information says which line that is.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct sennit_pass_mark {
    const char *call; /* null: there is none */
    const void *place;
    unsigned long started;
};

struct sennit_trace_moved_call;

/* Null: no trace is taken. */
__attribute__((visibility("hidden"))) extern void (*sennit_pass_moved)(
    const struct sennit_trace_moved_call *call);
__attribute__((visibility("hidden"))) extern unsigned long (*sennit_pass_clock)(void);

static inline int sennit_pass_is_traced(void) {
    return __builtin_expect(sennit_pass_moved != 0, 0);
}
static inline unsigned long sennit_pass_time(void) {
    return sennit_pass_is_traced() ? sennit_pass_clock() : 0;
}

/* `behind`: where the call returns to. If a trace is taken. */
__attribute__((visibility("hidden"))) void
sennit_pass_set_mark(struct sennit_pass_mark *mark, const char *call, const void *behind);
static inline struct sennit_pass_mark sennit_pass_begin(const char *call, const void *behind) {
    struct sennit_pass_mark mark = {0, 0, 0};
    if (sennit_pass_is_traced())
        sennit_pass_set_mark(&mark, call, behind);
    return mark;
}

/* The wait that began then was for all of these, and is over. */
__attribute__((visibility("hidden"))) void
sennit_pass_tell_later(const struct sennit_pass_mark *marks, int count, unsigned long waits);
/* The call is over; it has been bound to its task. Nothing if no trace is taken. */
__attribute__((visibility("hidden"))) void
sennit_pass_tell_at_once(const struct sennit_pass_mark *mark);
__attribute__((visibility("hidden"))) void
sennit_pass_tell_bound(const struct sennit_pass_mark *mark);

/* Before anything is told. */
__attribute__((visibility("hidden"))) void sennit_pass_look_for_trace(void);

#ifdef __cplusplus
}
#endif

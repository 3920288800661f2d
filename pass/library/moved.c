/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a. Whether a trace is taken is known when the program is loaded.
 */
#include "moved.h"

#include "sennit.h"

#include <dlfcn.h>

#pragma GCC visibility push(hidden)

void (*sennit_pass_moved)(const struct sennit_trace_moved_call *call);
unsigned long (*sennit_pass_clock)(void);

__attribute__((constructor)) void sennit_pass_look_for_trace(void) {
    int (*on)(void);
    *(void **)&on = dlsym(RTLD_DEFAULT, "sennit_trace_on");
    *(void **)&sennit_pass_clock = dlsym(RTLD_DEFAULT, "sennit_trace_time");
    if (on && sennit_pass_clock && on())
        *(void **)&sennit_pass_moved = dlsym(RTLD_DEFAULT, "sennit_trace_moved");
}

void sennit_pass_set_mark(struct sennit_pass_mark *mark, const char *call, const void *behind) {
    mark->call = call;
    mark->place = (const char *)behind - 1;
    mark->started = sennit_pass_clock();
}

void sennit_pass_tell_later(const struct sennit_pass_mark *marks, int count, unsigned long waits) {
    const unsigned long wait = sennit_pass_clock() - waits;
    int together = 0;
    for (int i = 0; i < count; ++i)
        together += marks[i].call != 0;
    for (int i = 0; i < count; ++i)
        if (marks[i].call)
            sennit_pass_moved(&(struct sennit_trace_moved_call){
                .call = marks[i].call,
                .place = marks[i].place,
                .how = SENNIT_MOVED_LATER,
                .together = together,
                .until_wait = waits - marks[i].started,
                .wait = wait,
            });
}

static void tell(const struct sennit_pass_mark *mark, int how) {
    if (sennit_pass_is_traced())
        sennit_pass_moved(&(struct sennit_trace_moved_call){
            .call = mark->call,
            .place = mark->place,
            .how = how,
            .together = 1,
            .wait = sennit_pass_clock() - mark->started,
        });
}

void sennit_pass_tell_at_once(const struct sennit_pass_mark *mark) {
    tell(mark, SENNIT_MOVED_AT_ONCE);
}

void sennit_pass_tell_bound(const struct sennit_pass_mark *mark) {
    tell(mark, SENNIT_MOVED_BOUND);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Undeferred tasks that only exchange messages, in a program that is compiled with -sennit-detach:
 * the plug-in asks here whether the task may be deferred, and waits here before its creator touches
 * what it exchanges.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Of one message of the task. */
struct sennit_pass_envelope {
    long communicator; /* a handle of 32 bits, or a pointer */
    int peer, tag;
    int receives; /* else it sends */
};

struct sennit_pass_dependence { /* kmp_depend_info_t */
    const void *address;
    unsigned long length;
    unsigned char flags;
};

__attribute__((visibility("hidden"))) int
sennit_pass_detach(void *where, int thread, void *task, int count,
                   const struct sennit_pass_dependence *dependences, int messages,
                   const struct sennit_pass_envelope *envelopes);
__attribute__((visibility("hidden"))) void sennit_pass_settle(void);

#ifdef __cplusplus
}
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a. The order of messages is kept by dependences, besides those that the
 * program gives:
 *
 *   - a task depends on its envelopes (inout): the communicator, the peer, the tag. MPI matches
 *     messages of the same envelope in the order in which they begin, and the next one begins when
 *     the one before is complete, as in the program as it was;
 *   - it depends on `all` (in), so that who waits for `all` (inout) waits for each of them. A
 *     receive from any source, or of any tag, may match what any other one should get: it waits so,
 *     and is not deferred.
 *
 * An envelope's address is a hash of it, where no memory is. If two have the same, one waits for
 * the other, which it did before, too: so no wait is new.
 */
#include "detached.h"

#include "slots.h"

#include <stdint.h>

#define WEAK __attribute__((weak, visibility("default")))
WEAK int __kmpc_global_thread_num(void *where);
WEAK int __kmpc_omp_task_with_deps(void *where, int thread, void *task, int count,
                                   const struct sennit_pass_dependence *dependences, int more,
                                   const struct sennit_pass_dependence *rest);
WEAK void __kmpc_omp_wait_deps(void *where, int thread, int count,
                               const struct sennit_pass_dependence *dependences, int more,
                               const struct sennit_pass_dependence *rest);

enum { most = 64 /* messages of a task */, in = 1, inout = 3 };
static const char all;

/* Without Sennit a thread would wait in the task, and all threads might. */
static int detaches;
__attribute__((constructor)) static void look(void) {
    detaches = sennit_pass_request_free_form("TAMPI_Irecv") != 0;
}

/* MPI_PROC_NULL, MPI_ANY_SOURCE and MPI_ANY_TAG are negative, whatever the MPI. To nobody, or from
 * nobody, no message goes; here it is a receive from anybody. */
static int may_match_any(const struct sennit_pass_envelope *one) {
    return one->receives && (one->peer < 0 || one->tag < 0);
}

/* Of what is sent and of what is received. */
static const void *address_of(const struct sennit_pass_envelope *one) {
    const uint64_t words[] = {(uint64_t)one->communicator,
                              (uint64_t)(uint32_t)one->peer << 32 | (uint32_t)one->tag,
                              (uint64_t)one->receives};
    uint64_t hash = 0;
    for (int i = 0; i < 3; ++i) {
        hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
    }
    return (const void *)((hash | 1UL << 63) & ~1UL); /* -1 is all memory */
}

/* For each of the creator's tasks that is under way. */
static void settle(void *where, int thread) {
    const struct sennit_pass_dependence one = {&all, 1, inout};
    __kmpc_omp_wait_deps(where, thread, 1, &one, 0, 0);
}

void sennit_pass_settle(void) {
    if (detaches)
        settle(0, __kmpc_global_thread_num(0));
}

/* The task is deferred, or has to run now, when its dependences are fulfilled. */
int sennit_pass_detach(void *where, int thread, void *task, int count,
                       const struct sennit_pass_dependence *dependences, int messages,
                       const struct sennit_pass_envelope *envelopes) {
    struct sennit_pass_dependence own[most + 1] = {{&all, 1, in}};
    int may = messages <= most;
    for (int i = 0; may && i < messages; ++i) {
        may = !may_match_any(&envelopes[i]);
        own[i + 1] = (struct sennit_pass_dependence){address_of(&envelopes[i]), 1, inout};
    }
    if (!detaches)
        return 0;
    if (may)
        __kmpc_omp_task_with_deps(where, thread, task, count, dependences, messages + 1, own);
    else
        settle(where, thread);
    return may;
}

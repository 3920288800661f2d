/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of libsennit-pass.a: static loops that the plug-in has let go (static_loops.h). Under Sennit
 * with SENNIT_SPLIT=loops a thread gets pieces of such a loop until there are none left, and who is
 * done takes over others'. Everywhere else a thread has its static share, as the source says: what
 * clang's code would have called is called.
 */
#include "loops.h"

#include <dlfcn.h>

#define WEAK __attribute__((weak, visibility("default")))
WEAK void __kmpc_for_static_fini(void *location, int thread);

#define LOOPS(suffix, value, distance)                                                             \
    WEAK void __kmpc_for_static_init_##suffix(void *, int, int, int *, value *, value *,           \
                                              distance *, distance, distance);                     \
    static int (*lend_##suffix)(void *, void **, value *, value *, distance);                      \
    static int (*lend_next_##suffix)(value *, value *);                                            \
                                                                                                   \
    int sennit_pass_loop_##suffix(void *location, int thread, int schedule, int *last,             \
                                  value *lower, value *upper, distance *stride, distance step,     \
                                  distance chunk, void **place) {                                  \
        if (lend_##suffix && lend_##suffix(location, place, lower, upper, step)) {                 \
            *last = 0;                                                                             \
            return 1;                                                                              \
        }                                                                                          \
        __kmpc_for_static_init_##suffix(location, thread, schedule, last, lower, upper, stride,    \
                                        step, chunk);                                              \
        return 0;                                                                                  \
    }                                                                                              \
    int sennit_pass_loop_next_##suffix(void *location, int thread, int lent, value *lower,         \
                                       value *upper) {                                             \
        if (lent)                                                                                  \
            return lend_next_##suffix(lower, upper);                                               \
        __kmpc_for_static_fini(location, thread);                                                  \
        return 0;                                                                                  \
    }
LOOPS(4, int, int)
LOOPS(4u, unsigned, int)
LOOPS(8, long, long)
LOOPS(8u, unsigned long, long)

/* Before any thread of a team. */
__attribute__((constructor)) static void look_for_sennit(void) {
#define LOOK(suffix)                                                                               \
    {                                                                                              \
        void *const lend = dlsym(RTLD_DEFAULT, "sennit_lend_" #suffix);                            \
        void *const next = dlsym(RTLD_DEFAULT, "sennit_lend_next_" #suffix);                       \
        if (lend && next) {                                                                        \
            *(void **)&lend_next_##suffix = next;                                                  \
            *(void **)&lend_##suffix = lend;                                                       \
        }                                                                                          \
    }
    LOOK(4)
    LOOK(4u)
    LOOK(8)
    LOOK(8u)
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a static loop that the plug-in has let go calls, in place of __kmpc_for_static_init_4 and
 * the like, and of __kmpc_for_static_fini. The first gives bounds and says whether the loop is
 * lent; the second says whether there are new ones, with which the loop is run again. `place`:
 * room for the runtime to keep something of this loop.
 */
#pragma once

#define LOOPS(suffix, value, distance)                                                             \
    __attribute__((visibility("hidden"))) int sennit_pass_loop_##suffix(                           \
        void *location, int thread, int schedule, int *last, value *lower, value *upper,           \
        distance *stride, distance step, distance chunk, void **place);                            \
    __attribute__((visibility("hidden"))) int sennit_pass_loop_next_##suffix(                      \
        void *location, int thread, int lent, value *lower, value *upper);
LOOPS(4, int, int)
LOOPS(4u, unsigned, int)
LOOPS(8, long, long)
LOOPS(8u, unsigned long, long)
#undef LOOPS

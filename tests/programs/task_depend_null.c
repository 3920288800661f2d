/* SPDX-License-Identifier: Apache-2.0
 * test: # stock libgomp hangs: null is an address to it
 * A dependence on what a null pointer points to is none, as with LLVM's runtime: so a program can
 * drop a dependence at run time. Each kind: a task that waits for an event is followed by one that
 * fulfils it, which would never begin if the two were in order.
 */
#include "check.h"

/* From GCC 13 on, code that writes to what a null pointer points to says the same as one that names
 * omp_all_memory, and is in order with all. */
#if !defined __clang__ && __GNUC__ >= 13
#define NULL_IS_ALL_MEMORY
#endif

static int *volatile null;

#define OVERTAKE(kind)                                                                             \
    do {                                                                                           \
        omp_event_handle_t event = (omp_event_handle_t)0;                                          \
        int *const nothing = null;                                                                 \
        DO_PRAGMA(omp task detach(event) depend(kind : *nothing) depend(inout : cells[0]))         \
        ++ran;                                                                                     \
        DO_PRAGMA(omp task firstprivate(event) depend(kind : *nothing) depend(inout : cells[1])) { \
            ++cells[1];                                                                            \
            omp_fulfill_event(event);                                                              \
        }                                                                                          \
        _Pragma("omp taskwait")++ expected;                                                        \
    } while (0)
#define DO_PRAGMA(text) _Pragma(#text)

static int cells[2], ran, expected;

static void each_kind(void) {
    OVERTAKE(in);
#ifndef NULL_IS_ALL_MEMORY
    OVERTAKE(out);
    OVERTAKE(inout);
#endif
    OVERTAKE(mutexinoutset);
#if defined __clang__ || __GNUC__ >= 13
    OVERTAKE(inoutset);
#endif
    CHECK_EQ(ran, expected);
    CHECK_EQ(cells[1], expected);
}

#ifndef NULL_IS_ALL_MEMORY
static void objects(void) {
    omp_depend_t object;
    omp_event_handle_t event = (omp_event_handle_t)0;
    int *const nothing = null;
#pragma omp depobj(object) depend(inout : *nothing)
#pragma omp task detach(event) depend(depobj : object)
    ++ran;
#pragma omp task firstprivate(event) depend(depobj : object)
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK_EQ(ran, ++expected);
    --ran;
    --expected;
#pragma omp depobj(object) destroy
}

/* Whoever waits for nothing else does not wait. */
static void undeferred(void) {
    omp_event_handle_t event = (omp_event_handle_t)0;
    int *const nothing = null;
    int done = 0;
#pragma omp task detach(event) depend(inout : *nothing)
    {
    }
#pragma omp taskwait depend(inout : *nothing)
#pragma omp task if (0) depend(out : *nothing) shared(done)
    done = 1;
    CHECK_EQ(done, 1);
    omp_fulfill_event(event);
#pragma omp taskwait
}

#endif

/* Other items of the same task are as ever. */
static void others_are_in_order(void) {
    int *const nothing = null;
    int x = 0;
    for (int i = 0; i < 50; ++i) {
#pragma omp task depend(inout : *nothing, x) shared(x) firstprivate(i)
        CHECK_EQ(x++, i);
    }
#pragma omp taskwait
    CHECK_EQ(x, 50);
}

static void all(void) {
    ran = expected = cells[1] = 0;
    each_kind();
#ifndef NULL_IS_ALL_MEMORY
    objects();
    undeferred();
#endif
    others_are_in_order();
}

int main(void) {
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel
#pragma omp single
        all();
#pragma omp parallel num_threads(1)
        all();
        all();
    }
    return 0;
}

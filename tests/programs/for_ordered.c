/* SPDX-License-Identifier: Apache-2.0
 * test, split, tool:
 * OpenMP 5.2, 15.10.2 (ordered): the structured blocks of an ordered region run in the order of the
 * iterations, under every schedule.
 */
#include "check.h"

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define IN_ORDER(...)                                                                              \
    do {                                                                                           \
        int next = 0;                                                                              \
        PRAGMA(omp parallel for ordered __VA_ARGS__)                                               \
        for (int i = 0; i < 100; ++i) {                                                            \
            PRAGMA(omp ordered)                                                                    \
            CHECK_EQ(next++, i);                                                                   \
        }                                                                                          \
        CHECK_EQ(next, 100);                                                                       \
    } while (0)

int main(void) {
    IN_ORDER(schedule(static));
    IN_ORDER(schedule(static, 3));
    IN_ORDER(schedule(dynamic));
    IN_ORDER(schedule(dynamic, 4));
    IN_ORDER(schedule(guided));
    IN_ORDER(schedule(runtime));
    return 0;
}

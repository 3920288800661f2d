/* SPDX-License-Identifier: Apache-2.0
 * part:
 * For C and Fortran: callgrind's requests are macros of C. */
#include "counting.h"

#include <valgrind/callgrind.h>

void start_counting(void) {
    CALLGRIND_START_INSTRUMENTATION;
}

void stop_counting(void) {
    CALLGRIND_STOP_INSTRUMENTATION;
}

/* SPDX-License-Identifier: Apache-2.0
 * test:
 * A thread that begins allocates nothing, or the C library would set up a heap for it: system
 * calls and page faults for each thread of the first region.
 */
#include "check.h"
#include <malloc.h>
#include <string.h>

static int count_heaps(void) {
    char text[1 << 16] = "";
    FILE *file = fmemopen(text, sizeof text - 1, "w");
    CHECK(file && malloc_info(0, file) == 0);
    fclose(file);
    int count = 0;
    for (const char *at = text; (at = strstr(at, "<heap nr=")); ++at)
        ++count;
    return count;
}

int main(void) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    CHECK_EQ(sum, check_threads());
    CHECK_EQ(count_heaps(), 1);
    return 0;
}

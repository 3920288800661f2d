/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc
 * test: # stock libgomp 12 hangs: null is an address to it
 * GCC 13 and later hand over omp_all_memory as a null address. This program says that such a
 * compiler has made a part of it, and writes what that one would.
 */
#include "check.h"

__asm__(".ident \"GCC: (some vendor (2nd) 1.2) 13.2.0\"");

static int *volatile null;

int main(void) {
    for (int round = 0; round < 20; ++round) {
        int cell[30] = {0};
        int done = 0;
#pragma omp parallel
#pragma omp single
        for (int wave = 0; wave < 5; ++wave) {
            int *const all_memory = null;
            for (int i = 0; i < 30; ++i) {
#pragma omp task depend(out : cell[i]) shared(done)
                {
                    int before;
#pragma omp atomic capture
                    before = done++;
                    CHECK(before >= 31 * wave);
                }
            }
#pragma omp task depend(inout : *all_memory) depend(in : cell[3]) shared(done)
            CHECK_EQ(done++, 31 * wave + 30);
        }
        CHECK_EQ(done, 155 + cell[0]);
    }
    return 0;
}

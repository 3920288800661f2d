/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.9.4 (depobj): a depend object stands for the dependence it was made of; update
 * changes its type; one clause may name several, mixed with plain dependences.
 */
#include "check.h"

int main(void) {
    int x = 0, y = 0, readers = 0;
    omp_depend_t on_x, on_y, on_x_too, on_y_too;
#pragma omp depobj(on_x) depend(inout : x)
#pragma omp depobj(on_y) depend(in : y)
#pragma omp depobj(on_x_too) depend(in : x)
#pragma omp depobj(on_y_too) depend(mutexinoutset : y)
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(depobj : on_x) shared(x)
            CHECK_EQ(x++, i);
        }
#pragma omp task depend(out : y) depend(depobj : on_x) shared(x, y)
        y = x;
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(depobj : on_y, on_x_too) shared(y, readers)
            {
                CHECK_EQ(y, 100);
#pragma omp atomic
                readers += 1;
            }
        }
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(depobj : on_y_too) shared(y, readers)
            {
                CHECK_EQ(readers, 10);
                y += 1;
            }
        }
#pragma omp taskwait
#pragma omp depobj(on_x) update(in)
#pragma omp task depend(out : x) shared(x)
        x = -1;
#pragma omp task depend(depobj : on_x) shared(x)
        CHECK_EQ(x, -1);
#pragma omp task if (0) depend(depobj : on_x)
        CHECK_EQ(x, -1);
    }
    CHECK_EQ(y, 110);
#pragma omp depobj(on_x) destroy
#pragma omp depobj(on_y) destroy
#pragma omp depobj(on_x_too) destroy
#pragma omp depobj(on_y_too) destroy
    return 0;
}

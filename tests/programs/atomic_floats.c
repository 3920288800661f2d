/* SPDX-License-Identifier: Apache-2.0
 * build: -- -latomic
 * test:
 * OpenMP 5.2, 15.8.4 (atomic): floating-point and complex variables of every size, 16-byte and
 * larger ones included, which compilers hand to the runtime's helpers. Small integers: sums exact.
 */
#include "check.h"
#include <complex.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define ARITHMETIC(type)                                                                           \
    do {                                                                                           \
        type sum = 0, difference = 0, product = 1, quotient = 1024, reverse = 1, copy = 0;         \
        PRAGMA(omp parallel for)                                                                   \
        for (int i = 0; i < 1000; ++i) {                                                           \
            type before;                                                                           \
            PRAGMA(omp atomic)                                                                     \
            sum += (type)i;                                                                        \
            PRAGMA(omp atomic capture) {                                                           \
                before = difference;                                                               \
                difference -= (type)2;                                                             \
            }                                                                                      \
            (void)before;                                                                          \
            if (i < 10) {                                                                          \
                PRAGMA(omp atomic)                                                                 \
                product *= (type)2;                                                                \
                PRAGMA(omp atomic seq_cst)                                                         \
                quotient /= (type)2;                                                               \
                PRAGMA(omp atomic)                                                                 \
                reverse = (type)3 - reverse;                                                       \
            }                                                                                      \
            PRAGMA(omp atomic write)                                                               \
            copy = (type)17;                                                                       \
        }                                                                                          \
        CHECK(sum == (type)499500);                                                                \
        CHECK(difference == (type) - 2000);                                                        \
        CHECK(product == (type)1024);                                                              \
        CHECK(quotient == (type)1);                                                                \
        CHECK(reverse == (type)1);                                                                 \
        type read;                                                                                 \
        PRAGMA(omp atomic read)                                                                    \
        read = copy;                                                                               \
        CHECK(read == (type)17);                                                                   \
    } while (0)

#ifdef __clang__ /* gcc takes real types only */
/* A writer stores only values with equal halves: no reader sees a torn one. */
#define NOT_TORN(type, real, imaginary)                                                            \
    do {                                                                                           \
        type pair = 0;                                                                             \
        PRAGMA(omp parallel for schedule(dynamic))                                                 \
        for (int i = 0; i < 4000; ++i) {                                                           \
            if (i % 2) {                                                                           \
                PRAGMA(omp atomic write)                                                           \
                pair = i + i * I;                                                                  \
            } else {                                                                               \
                type seen;                                                                         \
                PRAGMA(omp atomic read)                                                            \
                seen = pair;                                                                       \
                CHECK(real(seen) == imaginary(seen));                                              \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#endif

int main(void) {
    ARITHMETIC(float);
    ARITHMETIC(double);
    ARITHMETIC(long double);
#ifdef __clang__ /* gcc takes real types only */
    ARITHMETIC(float complex);
    ARITHMETIC(double complex);
    ARITHMETIC(long double complex);
    NOT_TORN(float complex, crealf, cimagf);
    NOT_TORN(double complex, creal, cimag);
    NOT_TORN(long double complex, creall, cimagl);
#endif
    return 0;
}

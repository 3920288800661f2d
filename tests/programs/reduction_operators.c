/* SPDX-License-Identifier: Apache-2.0
 * build: -- -latomic
 * test:
 * OpenMP 5.2, 5.5 (reduction): every implicitly declared identifier, for arithmetic types of every
 * size, in parallel, worksharing-loop and sections constructs.
 */
#include "check.h"
#include <complex.h>
#include <stdbool.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

#define ARITHMETIC(type)                                                                           \
    do {                                                                                           \
        type sum = 5, product = 1;                                                                 \
        PRAGMA(omp parallel for reduction(+ : sum) reduction(* : product))                         \
        for (int i = 1; i <= 6; ++i) {                                                             \
            sum += (type)i;                                                                        \
            product *= (type)(i % 2 + 1);                                                          \
        }                                                                                          \
        CHECK(sum == (type)26);                                                                    \
        CHECK(product == (type)8);                                                                 \
    } while (0)

#define ORDERED(type)                                                                              \
    do {                                                                                           \
        ARITHMETIC(type);                                                                          \
        type least = 100, most = 0;                                                                \
        bool all = true, any = false;                                                              \
        PRAGMA(omp parallel) {                                                                     \
            PRAGMA(omp for reduction(min : least) reduction(max : most) reduction(&& : all)        \
                       reduction(|| : any) schedule(dynamic))                                      \
            for (int i = 20; i < 60; ++i) {                                                        \
                least = (type)i < least ? (type)i : least;                                         \
                most = (type)i > most ? (type)i : most;                                            \
                all = all && i != 37;                                                              \
                any = any || i == 37;                                                              \
            }                                                                                      \
        }                                                                                          \
        CHECK(least == 20);                                                                        \
        CHECK(most == 59);                                                                         \
        CHECK(!all);                                                                               \
        CHECK(any);                                                                                \
    } while (0)

#define INTEGER(type)                                                                              \
    do {                                                                                           \
        ORDERED(type);                                                                             \
        type both = 0x7f, either = 0, odd = 0x11;                                                  \
        PRAGMA(omp parallel sections reduction(& : both) reduction(| : either)                     \
                   reduction(^ : odd)) {                                                           \
            PRAGMA(omp section) {                                                                  \
                both &= 0x3c, either |= 1, odd ^= 0x0f;                                            \
            }                                                                                      \
            PRAGMA(omp section) {                                                                  \
                both &= 0x6e, either |= 4, odd ^= 0x30;                                            \
            }                                                                                      \
        }                                                                                          \
        CHECK_EQ(both, 0x2c);                                                                      \
        CHECK_EQ(either, 5);                                                                       \
        CHECK_EQ(odd, 0x2e);                                                                       \
    } while (0)

int main(void) {
    INTEGER(signed char);
    INTEGER(unsigned char);
    INTEGER(short);
    INTEGER(unsigned short);
    INTEGER(int);
    INTEGER(unsigned);
    INTEGER(long);
    INTEGER(unsigned long long);
    ORDERED(float);
    ORDERED(double);
    ORDERED(long double);
    ARITHMETIC(float complex);
    ARITHMETIC(double complex);

    int many[3] = {0, 0, 0}, threads = check_threads();
    for (int round = 0; round < 200; ++round) {
        int a = 0, b = 0, c = 1;
#pragma omp parallel reduction(+ : a, b) reduction(&& : c)
        {
            a += 1;
            b += omp_get_thread_num();
            c = c && omp_get_num_threads() == threads;
        }
        many[0] += a, many[1] += b, many[2] += c;
    }
    CHECK_EQ(many[0], 200 * threads);
    CHECK_EQ(many[1], 100 * threads * (threads - 1));
    CHECK_EQ(many[2], 200);
    return 0;
}

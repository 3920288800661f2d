/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang -- -lm
 * test:
 *
 * __kmpc_atomic_*: the routines that compilers of LLVM's ABI may call for `atomic`. Each one does
 * what its name says, gives back what was captured, and loses no update between threads. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <string.h>

int __kmpc_global_thread_num(void *);
#define ME __kmpc_global_thread_num(NULL) /* stock locks want to know */

typedef signed char fixed1;
typedef unsigned char fixed1u;
typedef short fixed2;
typedef unsigned short fixed2u;
typedef int fixed4;
typedef unsigned fixed4u;
typedef long long fixed8;
typedef unsigned long long fixed8u;
typedef float float4;
typedef double float8;
typedef long double float10;
typedef float complex cmplx4;
typedef double complex cmplx8;
typedef long double complex cmplx10;

/* Two operands for each type. */
#define SAMPLE_INTEGER(T) const T left = (T) - 77, right = 3
#define SAMPLE_REAL(T) const T left = -7.5, right = 2
#define SAMPLE_COMPLEX(T) const T left = 3 + 4 * I, right = 1 - 2 * I

/* name: T op; expected is in terms of `left`, what is in memory, and `right`. */
#define TEST_UPDATE(SAMPLE, T, op, expected)                                                       \
    do {                                                                                           \
        void __kmpc_atomic_##T##_##op(void *, int, T *, T);                                        \
        SAMPLE(T);                                                                                 \
        T place = left;                                                                            \
        __kmpc_atomic_##T##_##op(NULL, ME, &place, right);                                         \
        CHECK(place == (T)(expected));                                                             \
    } while (0)

#define TEST_CAPTURE(SAMPLE, T, op, expected)                                                      \
    do {                                                                                           \
        T __kmpc_atomic_##T##_##op(void *, int, T *, T, int);                                      \
        SAMPLE(T);                                                                                 \
        T place = left;                                                                            \
        CHECK(__kmpc_atomic_##T##_##op(NULL, ME, &place, right, 0) == left);                       \
        CHECK(place == (T)(expected));                                                             \
        place = left;                                                                              \
        CHECK(__kmpc_atomic_##T##_##op(NULL, ME, &place, right, 1) == (T)(expected));              \
    } while (0)

/* Two floats come back at an address. */
#define TEST_CAPTURE_AT(SAMPLE, T, op, expected)                                                   \
    do {                                                                                           \
        void __kmpc_atomic_##T##_##op(void *, int, T *, T, T *, int);                              \
        SAMPLE(T);                                                                                 \
        T place = left, out = 0;                                                                   \
        __kmpc_atomic_##T##_##op(NULL, ME, &place, right, &out, 0);                                \
        CHECK(out == left && place == (T)(expected));                                              \
        place = left;                                                                              \
        __kmpc_atomic_##T##_##op(NULL, ME, &place, right, &out, 1);                                \
        CHECK(out == (T)(expected));                                                               \
    } while (0)

#define TEST_BOTH(SAMPLE, T, op, expected)                                                         \
    TEST_UPDATE(SAMPLE, T, op, expected);                                                          \
    TEST_CAPTURE(SAMPLE, T, op##_cpt, expected)
#define TEST_REVERSED(SAMPLE, T, op, expected)                                                     \
    TEST_UPDATE(SAMPLE, T, op##_rev, expected);                                                    \
    TEST_CAPTURE(SAMPLE, T, op##_cpt_rev, expected)

#define TEST_ACCESS(SAMPLE, T)                                                                     \
    do {                                                                                           \
        T __kmpc_atomic_##T##_rd(void *, int, T *);                                                \
        void __kmpc_atomic_##T##_wr(void *, int, T *, T);                                          \
        SAMPLE(T);                                                                                 \
        T place = left;                                                                            \
        CHECK(__kmpc_atomic_##T##_rd(NULL, ME, &place) == left);                                   \
        __kmpc_atomic_##T##_wr(NULL, ME, &place, right);                                           \
        CHECK(place == right);                                                                     \
    } while (0)
#define TEST_SWAP(SAMPLE, T)                                                                       \
    do {                                                                                           \
        T __kmpc_atomic_##T##_swp(void *, int, T *, T);                                            \
        SAMPLE(T);                                                                                 \
        T place = left;                                                                            \
        CHECK(__kmpc_atomic_##T##_swp(NULL, ME, &place, right) == left);                           \
        CHECK(place == right);                                                                     \
    } while (0)

#define TEST_ARITHMETIC(SAMPLE, T)                                                                 \
    TEST_BOTH(SAMPLE, T, add, left + right);                                                       \
    TEST_BOTH(SAMPLE, T, sub, left - right);                                                       \
    TEST_BOTH(SAMPLE, T, mul, left *right);                                                        \
    TEST_BOTH(SAMPLE, T, div, left / right);                                                       \
    TEST_REVERSED(SAMPLE, T, sub, right - left);                                                   \
    TEST_REVERSED(SAMPLE, T, div, right / left);                                                   \
    TEST_ACCESS(SAMPLE, T);                                                                        \
    TEST_SWAP(SAMPLE, T)

#define TEST_ORDER(SAMPLE, T)                                                                      \
    TEST_BOTH(SAMPLE, T, min, left < right ? left : right);                                        \
    TEST_BOTH(SAMPLE, T, max, left < right ? right : left)

/* A wider right operand: the computation is as wide. */
#define TEST_MIXED(T, op, W, start, value, expected)                                               \
    do {                                                                                           \
        void __kmpc_atomic_##T##_##op##_##W(void *, int, T *, W);                                  \
        T place = start;                                                                           \
        __kmpc_atomic_##T##_##op##_##W(NULL, ME, &place, value);                                   \
        CHECK(place == (T)(expected));                                                             \
    } while (0)

#define SAMPLE_SHIFT(T) const T left = 2, right = 5
#define TEST_INTEGER(T)                                                                            \
    do {                                                                                           \
        TEST_ARITHMETIC(SAMPLE_INTEGER, T);                                                        \
        TEST_ORDER(SAMPLE_INTEGER, T);                                                             \
        TEST_BOTH(SAMPLE_INTEGER, T, andb, left &right);                                           \
        TEST_BOTH(SAMPLE_INTEGER, T, orb, left | right);                                           \
        TEST_BOTH(SAMPLE_INTEGER, T, xor, left ^ right);                                           \
        TEST_BOTH(SAMPLE_INTEGER, T, neqv, left ^ right);                                          \
        TEST_BOTH(SAMPLE_INTEGER, T, eqv, left ^ ~right);                                          \
        TEST_BOTH(SAMPLE_INTEGER, T, andl, left &&right);                                          \
        TEST_BOTH(SAMPLE_INTEGER, T, orl, left || right);                                          \
        TEST_BOTH(SAMPLE_SHIFT, T, shl, left << right);                                            \
        TEST_REVERSED(SAMPLE_SHIFT, T, shl, right << left);                                        \
        TEST_BOTH(SAMPLE_INTEGER, T, shr, left >> right);                                          \
        TEST_REVERSED(SAMPLE_SHIFT, T, shr, right >> left);                                        \
        TEST_BOTH(SAMPLE_INTEGER, T##u, shr, left >> right);                                       \
        TEST_REVERSED(SAMPLE_SHIFT, T##u, shr, right >> left);                                     \
        TEST_BOTH(SAMPLE_INTEGER, T##u, div, left / right);                                        \
        TEST_REVERSED(SAMPLE_INTEGER, T##u, div, right / left);                                    \
        TEST_MIXED(T, mul, float8, 10, 2.5, 25);                                                   \
        TEST_MIXED(T, div, float8, 10, 2.5, 4);                                                    \
    } while (0)

#define TEST_COMPUTED(bytes)                                                                       \
    do {                                                                                           \
        void __kmpc_atomic_##bytes(void *, int, void *, void *, void (*)(void *, void *, void *)); \
        struct {                                                                                   \
            unsigned char all[bytes];                                                              \
        } place, value;                                                                            \
        memset(&place, 5, sizeof place);                                                           \
        memset(&value, 7, sizeof value);                                                           \
        __kmpc_atomic_##bytes(NULL, ME, &place, &value, add_##bytes);                              \
        for (int i = 0; i < bytes; ++i)                                                            \
            CHECK_EQ(place.all[i], 12);                                                            \
    } while (0)
#define DEFINE_ADD(bytes)                                                                          \
    static void add_##bytes(void *out, void *left, void *right) {                                  \
        for (int i = 0; i < bytes; ++i)                                                            \
            ((unsigned char *)out)[i] = ((unsigned char *)left)[i] + ((unsigned char *)right)[i];  \
    }
DEFINE_ADD(1)
DEFINE_ADD(2)
DEFINE_ADD(4)
DEFINE_ADD(8)
DEFINE_ADD(10)
DEFINE_ADD(16)
DEFINE_ADD(20)
DEFINE_ADD(32)

#define TEST_COMPARE(bytes, T)                                                                     \
    do {                                                                                           \
        bool __kmpc_atomic_bool_##bytes##_cas(void *, int, T *, T, T);                             \
        T __kmpc_atomic_val_##bytes##_cas(void *, int, T *, T, T);                                 \
        bool __kmpc_atomic_bool_##bytes##_cas_cpt(void *, int, T *, T, T, T *);                    \
        T __kmpc_atomic_val_##bytes##_cas_cpt(void *, int, T *, T, T, T *);                        \
        T place = 1, captured = 99;                                                                \
        CHECK(!__kmpc_atomic_bool_##bytes##_cas(NULL, ME, &place, 2, 3) && place == 1);            \
        CHECK(__kmpc_atomic_bool_##bytes##_cas(NULL, ME, &place, 1, 3) && place == 3);             \
        CHECK(__kmpc_atomic_val_##bytes##_cas(NULL, ME, &place, 1, 4) == 3 && place == 3);         \
        CHECK(__kmpc_atomic_val_##bytes##_cas(NULL, ME, &place, 3, 4) == 3 && place == 4);         \
        CHECK(__kmpc_atomic_bool_##bytes##_cas_cpt(NULL, ME, &place, 4, 5, &captured));            \
        CHECK(place == 5 && captured == 99);                                                       \
        CHECK(!__kmpc_atomic_bool_##bytes##_cas_cpt(NULL, ME, &place, 4, 6, &captured));           \
        CHECK(place == 5 && captured == 5);                                                        \
        CHECK(__kmpc_atomic_val_##bytes##_cas_cpt(NULL, ME, &place, 4, 6, &captured) == 5);        \
        CHECK(place == 5 && captured == 5);                                                        \
        CHECK(__kmpc_atomic_val_##bytes##_cas_cpt(NULL, ME, &place, 5, 6, &captured) == 5);        \
        CHECK(place == 6 && captured == 6);                                                        \
    } while (0)

#define ROUNDS 2000
/* Also where the processor has no such operation. */
#define TEST_CONTENTION(T)                                                                         \
    do {                                                                                           \
        T sum = 0;                                                                                 \
        _Pragma("omp parallel") for (int i = 0; i < ROUNDS; ++i)                                   \
            __kmpc_atomic_##T##_add(NULL, ME, &sum, 1);                                            \
        CHECK(sum == (T)((long)ROUNDS * threads));                                                 \
    } while (0)

void __kmpc_atomic_fixed2_add(void *, int, fixed2 *, fixed2);
void __kmpc_atomic_float8_add(void *, int, float8 *, float8);
void __kmpc_atomic_float10_add(void *, int, float10 *, float10);
void __kmpc_atomic_cmplx4_add(void *, int, cmplx4 *, cmplx4);
void __kmpc_atomic_cmplx8_add(void *, int, cmplx8 *, cmplx8);
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);

int main(void) {
    TEST_INTEGER(fixed1);
    TEST_INTEGER(fixed2);
    TEST_INTEGER(fixed4);
    TEST_INTEGER(fixed8);
    TEST_ARITHMETIC(SAMPLE_REAL, float4);
    TEST_ARITHMETIC(SAMPLE_REAL, float8);
    TEST_ARITHMETIC(SAMPLE_REAL, float10);
    TEST_ORDER(SAMPLE_REAL, float4);
    TEST_ORDER(SAMPLE_REAL, float8);
    TEST_ORDER(SAMPLE_REAL, float10);
    TEST_MIXED(float4, add, float8, 1, 2.5, 3.5);
    TEST_MIXED(float4, sub, float8, 1, 2.5, -1.5);
    TEST_MIXED(float4, mul, float8, 3, 2.5, 7.5);
    TEST_MIXED(float4, div, float8, 5, 2.5, 2);

    TEST_ARITHMETIC(SAMPLE_COMPLEX, cmplx8);
    TEST_ARITHMETIC(SAMPLE_COMPLEX, cmplx10);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, add, left + right);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, sub, left - right);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, mul, left * right);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, div, left / right);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, sub_rev, right - left);
    TEST_UPDATE(SAMPLE_COMPLEX, cmplx4, div_rev, right / left);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, add_cpt, left + right);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, sub_cpt, left - right);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, mul_cpt, left * right);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, div_cpt, left / right);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, sub_cpt_rev, right - left);
    TEST_CAPTURE_AT(SAMPLE_COMPLEX, cmplx4, div_cpt_rev, right / left);
    TEST_ACCESS(SAMPLE_COMPLEX, cmplx4);
    TEST_MIXED(cmplx4, add, cmplx8, 1 + I, 2 + I, 3 + 2 * I);
    TEST_MIXED(cmplx4, mul, cmplx8, 1 + I, 2 + I, 1 + 3 * I);

    TEST_COMPUTED(1);
    TEST_COMPUTED(2);
    TEST_COMPUTED(4);
    TEST_COMPUTED(8);
    TEST_COMPUTED(10);
    TEST_COMPUTED(16);
    TEST_COMPUTED(20);
    TEST_COMPUTED(32);
    TEST_COMPARE(1, char);
    TEST_COMPARE(2, short);
    TEST_COMPARE(4, int);
    TEST_COMPARE(8, long long);

    const int threads = check_threads();
    TEST_CONTENTION(fixed2);
    TEST_CONTENTION(float8);
    TEST_CONTENTION(float10);
    TEST_CONTENTION(cmplx4);
    TEST_CONTENTION(cmplx8);
    long plain = 0;
#pragma omp parallel
    for (int i = 0; i < ROUNDS; ++i) {
        __kmpc_atomic_start();
        ++plain;
        __kmpc_atomic_end();
    }
    CHECK_EQ(plain, (long)ROUNDS * threads);
    return 0;
}

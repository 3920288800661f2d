/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.8.4 (atomic): read, write, update and both forms of capture, for every integer
 * width and every binary operator, lose no update.
 */
#include "check.h"

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
enum { updates = 300 };

/* `total` threads each apply the operator `updates` times; the result equals the serial one. */
#define EQUALS_SERIAL(type, start, expression, ...)                                                \
    do {                                                                                           \
        type x = start, serial = start;                                                            \
        PRAGMA(omp parallel)                                                                       \
        for (int i = 0; i < updates; ++i) {                                                        \
            PRAGMA(omp atomic __VA_ARGS__)                                                         \
            x expression;                                                                          \
        }                                                                                          \
        for (int i = 0; i < updates * check_threads(); ++i)                                        \
            serial expression;                                                                     \
        CHECK_EQ(x, serial);                                                                       \
    } while (0)

#define EVERY_OPERATOR(type)                                                                       \
    do {                                                                                           \
        EQUALS_SERIAL(type, 3, += 1);                                                              \
        EQUALS_SERIAL(type, 3, -= 1, update);                                                      \
        EQUALS_SERIAL(type, 3, *= 3);                                                              \
        EQUALS_SERIAL(type, 100, /= 2, seq_cst);                                                   \
        EQUALS_SERIAL(type, 0x5a, &= 0x3c);                                                        \
        EQUALS_SERIAL(type, 0x05, |= 0x50);                                                        \
        EQUALS_SERIAL(type, 0x05, ^= 0x55, relaxed);                                               \
        EQUALS_SERIAL(type, 1, <<= 1);                                                             \
        EQUALS_SERIAL(type, 100, >>= 1);                                                           \
        captures_are_a_permutation_##type();                                                       \
    } while (0)

/* Each captured old value is seen by exactly one update. */
#define CAPTURE_TEST(type)                                                                         \
    static void captures_are_a_permutation_##type(void) {                                          \
        static unsigned char seen[128];                                                            \
        type next = 0, swapped = 0;                                                                \
        int sum = 0;                                                                               \
        for (int i = 0; i < 128; ++i)                                                              \
            seen[i] = 0;                                                                           \
        PRAGMA(omp parallel for reduction(+ : sum))                                                \
        for (int i = 0; i < 120; ++i) {                                                            \
            type ticket, before, after, seen_now;                                                  \
            PRAGMA(omp atomic capture)                                                             \
            ticket = next++;                                                                       \
            seen[(int)ticket] += 1;                                                                \
            PRAGMA(omp atomic capture acq_rel) {                                                   \
                before = swapped;                                                                  \
                swapped = (type)i;                                                                 \
            }                                                                                      \
            sum += i - (int)before;                                                                \
            PRAGMA(omp atomic read)                                                                \
            seen_now = next;                                                                       \
            CHECK(seen_now > ticket);                                                              \
            PRAGMA(omp atomic capture)                                                             \
            after = swapped += 0;                                                                  \
            (void)after;                                                                           \
        }                                                                                          \
        CHECK_EQ(next, 120);                                                                       \
        CHECK_EQ(sum, swapped);                                                                    \
        for (int i = 0; i < 120; ++i)                                                              \
            CHECK_EQ(seen[i], 1);                                                                  \
        PRAGMA(omp atomic write)                                                                   \
        next = 7;                                                                                  \
        CHECK_EQ(next, 7);                                                                         \
    }

#define EVERY_TYPE(M)                                                                              \
    M(int8_t) M(uint8_t) M(int16_t) M(uint16_t) M(int32_t) M(uint32_t) M(int64_t) M(uint64_t)

EVERY_TYPE(CAPTURE_TEST)

#define RUN(type) EVERY_OPERATOR(type);

int main(void) {
    EVERY_TYPE(RUN)
    /* x = expr op x, where the variable is the right operand */
    int x = 1;
#pragma omp parallel for
    for (int i = 0; i < 101; ++i) {
#pragma omp atomic
        x = 10 - x;
    }
    CHECK_EQ(x, 9);
    return 0;
}

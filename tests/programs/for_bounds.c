/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 4.4.1 (canonical loop nest form): negative steps, unsigned long long and extreme
 * bounds, empty loops and every relational operator give the trip count of the serial loop.
 */
#include "check.h"
#include <limits.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

/* The number and the sum of the values that the loop visits, serial against parallel. */
#define SAME_AS_SERIAL(type, from, relation, to, step, ...)                                        \
    do {                                                                                           \
        unsigned long long count = 0, sum = 0, serial_count = 0, serial_sum = 0;                   \
        const type first = from, last = to;                                                        \
        for (type i = first; i relation last; i step) {                                            \
            serial_count += 1;                                                                     \
            serial_sum += (unsigned long long)i;                                                   \
        }                                                                                          \
        PRAGMA(omp parallel for reduction(+ : count, sum) __VA_ARGS__)                             \
        for (type i = first; i relation last; i step) {                                            \
            count += 1;                                                                            \
            sum += (unsigned long long)i;                                                          \
        }                                                                                          \
        CHECK_EQ(count, serial_count);                                                             \
        CHECK_EQ(sum, serial_sum);                                                                 \
    } while (0)

#define EVERY_SCHEDULE(type, from, relation, to, step)                                             \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(static));                              \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(static, 3));                           \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(dynamic));                             \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(dynamic, 7));                          \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(guided, 2));                           \
    SAME_AS_SERIAL(type, from, relation, to, step, schedule(runtime))

int main(void) {
    EVERY_SCHEDULE(int, 0, <, 100, += 1);
    EVERY_SCHEDULE(int, 100, >, -100, -= 7);
    EVERY_SCHEDULE(int, 100, >=, -100, -= 10);
    EVERY_SCHEDULE(int, -5, <=, 95, += 10);
    EVERY_SCHEDULE(int, 10, <, 10, += 1);
    EVERY_SCHEDULE(int, 11, <, 10, += 1);
    EVERY_SCHEDULE(int, 10, >, 11, -= 1);
    EVERY_SCHEDULE(int, INT_MIN, <, INT_MIN + 40, += 3);
    EVERY_SCHEDULE(int, INT_MAX - 40, <, INT_MAX - 5, += 3);
    EVERY_SCHEDULE(unsigned, UINT_MAX - 50, <, UINT_MAX - 3, += 2);
    EVERY_SCHEDULE(long, LONG_MIN, <, LONG_MIN + 33, += 1);
    EVERY_SCHEDULE(long long, LLONG_MAX - 100, <, LLONG_MAX - 20, += 7);
    EVERY_SCHEDULE(long long, 5000000000LL, >, 4999999900LL, -= 3);
    EVERY_SCHEDULE(unsigned long long, 0, <, 100, += 1);
    EVERY_SCHEDULE(unsigned long long, ULLONG_MAX - 60, <, ULLONG_MAX - 9, += 5);
    EVERY_SCHEDULE(unsigned long long, ULLONG_MAX - 9, >, ULLONG_MAX - 99, -= 4);
    EVERY_SCHEDULE(unsigned long long, 0, <, ULLONG_MAX - (1ULL << 60), += 1ULL << 59);
    EVERY_SCHEDULE(unsigned long long, 7, <, 7, += 1);
    EVERY_SCHEDULE(short, -300, <, 300, += 11);
    EVERY_SCHEDULE(unsigned char, 3, <, 250, += 4);
    return 0;
}

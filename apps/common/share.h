/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows, fields or objects dealt out to ranks in order, as evenly as it gets; and a checksum of the
 * values of all ranks that does not depend on how they were dealt.
 */
#ifndef COMMON_SHARE_H
#define COMMON_SHARE_H

#include <stdint.h>
#include <string.h>

/* Part `i` of `parts` of `count` things: the first one's number. */
static inline int first_of(int count, int parts, int i) {
    return (int)((long)count * i / parts);
}

/* What a value adds to the checksum: of its bits and of where it is, on whichever rank. */
static inline uint64_t value_sum(double value, uint64_t place) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ place * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return bits ^ bits >> 31;
}

#endif

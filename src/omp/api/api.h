// SPDX-License-Identifier: Apache-2.0
// How the omp_* routines are exported.
#pragma once

#include "base/compiler.h"

#include <climits>
#include <cstdint>

#define SENNIT_API extern "C" SENNIT_EXPORT

// SENNIT_GET(type, name, value): type name(void) and its Fortran twin.
#define SENNIT_GET(type, name, value)                                                              \
    SENNIT_API type name(void) {                                                                   \
        return value;                                                                              \
    }                                                                                              \
    SENNIT_API type name##_(void) {                                                                \
        return value;                                                                              \
    }

// The int nearest to one of Fortran's 8-byte integers.
inline int sennit_narrow(std::int64_t value) {
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : static_cast<int>(value);
}

// SENNIT_SET(name, function): void name(int) with its Fortran twins.
#define SENNIT_SET(name, function)                                                                 \
    SENNIT_API void name(int value) {                                                              \
        function(value);                                                                           \
    }                                                                                              \
    SENNIT_API void name##_(const int *value) {                                                    \
        function(*value);                                                                          \
    }                                                                                              \
    SENNIT_API void name##_8_(const std::int64_t *value) {                                         \
        function(sennit_narrow(*value));                                                           \
    }

// SENNIT_ASK(name, function): int name(int) with its Fortran twins.
#define SENNIT_ASK(name, function)                                                                 \
    SENNIT_API int name(int value) {                                                               \
        return function(value);                                                                    \
    }                                                                                              \
    SENNIT_API int name##_(const int *value) {                                                     \
        return function(*value);                                                                   \
    }                                                                                              \
    SENNIT_API int name##_8_(const std::int64_t *value) {                                          \
        return function(sennit_narrow(*value));                                                    \
    }

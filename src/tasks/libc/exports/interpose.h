// SPDX-License-Identifier: Apache-2.0
// Functions of this room under the names of libc's.
#pragma once

#include "base/compiler.h"
#include "tasks/libc/calls.h"
#include "tasks/libc/waits.h"
#include "tasks/pthread/bare.h"

namespace libc = sennit::libc;
using sennit::pthread::bare;

#define CALLER __builtin_return_address(0)

// Under a name of our own in C++: libc's headers declare theirs with attributes that differ.
// Outside of tasks it is a jump to libc's.
#define INTERPOSE(result, name, parameters, ...)                                                   \
    extern "C" SENNIT_EXPORT result interposed_##name parameters __asm__(#name);                   \
    result interposed_##name parameters {                                                          \
        if (SENNIT_LIKELY(!libc::in_task()))                                                       \
            return bare.name(__VA_ARGS__);                                                         \
        return libc::name(__VA_ARGS__, CALLER);                                                    \
    }

// The two names of one function, where off_t has 64 bits.
#define INTERPOSE_64(result, name, parameters, ...)                                                \
    INTERPOSE(result, name, parameters, __VA_ARGS__)                                               \
    INTERPOSE(result, name##64, parameters, __VA_ARGS__)

// With _FORTIFY_SOURCE. What would be too long for the object, libc ends the program for.

#define INTERPOSE_CHECKED(result, name, parameters, arguments, fits, call)                         \
    extern "C" SENNIT_EXPORT result interposed_##name parameters __asm__(#name);                   \
    result interposed_##name parameters {                                                          \
        if (SENNIT_LIKELY(!libc::in_task()) || !(fits))                                            \
            return bare.name arguments;                                                            \
        return call;                                                                               \
    }

// SPDX-License-Identifier: Apache-2.0
// To stand in front of a library: functions under its names, in a library that is preloaded or
// linked before it. The functions behind them are found by mpi/interpose/bare.h.
#pragma once

#include "base/compiler.h" // SENNIT_EXPORT

// Defines `own`(parameters) and exports it under two names: that of the standard, which a program
// calls, and that of the profiling interface, which MPI's language bindings and tools call.
#define SENNIT_INTERPOSE(own, name, profiling_name, ...)                                           \
    SENNIT_INTERPOSE_WITH(, own, name, profiling_name, __VA_ARGS__)

// The same with attributes for all three.
#define SENNIT_INTERPOSE_WITH(attributes, own, name, profiling_name, ...)                          \
    extern "C" attributes int own(__VA_ARGS__);                                                    \
    extern "C" attributes SENNIT_EXPORT int name(__VA_ARGS__) __attribute__((alias(#own)));        \
    extern "C" attributes SENNIT_EXPORT int profiling_name(__VA_ARGS__)                            \
        __attribute__((alias(#own)));                                                              \
    extern "C" int own(__VA_ARGS__)

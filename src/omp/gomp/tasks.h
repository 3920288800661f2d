// SPDX-License-Identifier: Apache-2.0
// What GOMP_task and GOMP_taskloop share: the argument block that GCC makes for a task.
#pragma once

#include "omp/gomp/gomp.h"
#include "task/task.h"

#include <alloca.h>
#include <cstring>

namespace sennit::gomp {

using CopyFunction = void (*)(void *into, void *from);

// The block as the caller has it. copy, if any, constructs a task's own; else it is bytes.
struct Arguments {
    void *data;
    CopyFunction copy;
    long size;
    long align;
};

inline char *align_up(void *pointer, long align) {
    const auto mask = static_cast<std::uintptr_t>(align > 1 ? align - 1 : 0);
    return reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(pointer) + mask) & ~mask);
}

inline void copy_arguments(void *into, void *from, CopyFunction copy, long size) {
    if (copy)
        copy(into, from);
    else if (from)
        std::memcpy(into, from, static_cast<std::size_t>(size));
}

// The body on the caller's stack, with a block of its own if that takes a constructor.
SENNIT_NOINLINE inline void call_with_copy(Function function, const Arguments &arguments) {
    void *raw = alloca(static_cast<std::size_t>(arguments.size + arguments.align - 1));
    void *block = align_up(raw, arguments.align);
    arguments.copy(block, arguments.data);
    function(block);
}

inline void call(Function function, const Arguments &arguments) {
    if (SENNIT_UNLIKELY(arguments.copy != nullptr))
        call_with_copy(function, arguments);
    else
        function(arguments.data);
}

inline std::uint32_t translate(unsigned flags) {
    std::uint32_t ours = 0;
    if (flags & gomp::kUntied)
        ours |= Task::kUntied;
    if (flags & gomp::kFinal)
        ours |= Task::kFinal;
    if (flags & gomp::kMergeable)
        ours |= Task::kMergeable;
    return ours;
}

} // namespace sennit::gomp

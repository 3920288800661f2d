// SPDX-License-Identifier: Apache-2.0
// System calls for code that has no libc, or must not use it: no errno, no thread pointer.
#pragma once

#include "base/system_call.h"

namespace sennit::loader {

// What the kernel returns: -errno where it fails. Pointers are given by address().
template <typename... Arguments>
long call(long number, Arguments... arguments) {
    const long values[6] = {static_cast<long>(arguments)...};
    return system_call(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

template <typename T>
long address(T *pointer) {
    return reinterpret_cast<long>(pointer);
}

} // namespace sennit::loader

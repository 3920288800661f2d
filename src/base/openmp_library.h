// SPDX-License-Identifier: Apache-2.0
// The OpenMP runtimes by the names of their libraries, as objects name them as needed. Python's
// wheels bring copies with names of their own: libgomp-a34b3233.so.1.
#pragma once

#include <cstddef>
#include <cstring>

namespace sennit {

enum class OpenMpLibrary { none, libgomp, libomp, ours };

inline OpenMpLibrary openmp_library(const char *name) {
    struct Start {
        const char *text;
        OpenMpLibrary library;
    };
    static constexpr Start starts[] = {{"libgomp", OpenMpLibrary::libgomp},
                                       {"libomp", OpenMpLibrary::libomp},
                                       {"libiomp5", OpenMpLibrary::libomp},
                                       {"libsennit-omp", OpenMpLibrary::ours}};
    for (const Start &start : starts) {
        const std::size_t length = std::strlen(start.text);
        if (std::strncmp(name, start.text, length) == 0 &&
            (name[length] == '.' || name[length] == '-')) // not libomptarget
            return start.library;
    }
    return OpenMpLibrary::none;
}

inline bool is_openmp_library(const char *name) {
    return openmp_library(name) != OpenMpLibrary::none;
}

} // namespace sennit

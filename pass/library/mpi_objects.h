// SPDX-License-Identifier: Apache-2.0
// Part of libsennit-pass.a. The loaded objects that use MPI, and those that are part of it.
#pragma once

#include "base/loaded_object.h"

#include <cstring>
#include <strings.h>

namespace sennit::pass {

// C's names and Fortran's, which are in lower case.
inline bool starts_with(const char *text, const char *start) {
    return strncasecmp(text, start, std::strlen(start)) == 0;
}

// MPI's own libraries offer everything, and so does Sennit. What MPI itself is built on does not
// call it.
inline bool is_mpi(const LoadedObject &object) {
    const char *slash = std::strrchr(object.path(), '/');
    const char *name = slash ? slash + 1 : object.path();
    for (const char *start : {"libmpi", "libsennit", "mca_"})
        if (starts_with(name, start))
            return true;
    return false;
}

// How many objects the process has loaded until now.
inline unsigned long long count_loads() {
    unsigned long long loads = 0;
    each_object([&](const LoadedObject &object) {
        loads = object.loads();
        return 1;
    });
    return loads;
}

} // namespace sennit::pass

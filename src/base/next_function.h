// SPDX-License-Identifier: Apache-2.0
// The function of libc, or of MPI, that a library of ours stands in front of.
#pragma once

#include <dlfcn.h>

namespace sennit {

// The next one behind the calling library, in the order in which the loader looks;
// `otherwise(name)` where it finds none. Inlined, and no call at the end of a function: dlsym()
// knows the library by the address that it returns to.
[[gnu::always_inline]] inline void *find_next(const char *name,
                                              void *(*otherwise)(const char *name)) {
    void *const found = dlsym(RTLD_NEXT, name);
    return found ? found : otherwise(name);
}

} // namespace sennit

// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/bare.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace sennit::mpi {
namespace {

// A program that is linked with Sennit's library need not name another MPI library. A linker may
// drop that one (--as-needed) if the program calls nothing of it, and we have all of MPI's
// functions.
constexpr const char *kLibraries[] = {
#ifdef MPI_ABI
    "libmpi_abi.so.1",
#elif defined(OPEN_MPI)
    "libmpi.so.40",
#else
    "libmpich.so.12",
    "libmpi.so.12",
#endif
};

void *open_library() {
    for (const char *name : kLibraries)
        if (void *library = dlopen(name, RTLD_LAZY | RTLD_GLOBAL))
            return library;
    return nullptr;
}

// Behind all others, for a library of the MPI that is already loaded may have another name.
void *find_in_own_library(const char *name) {
    static void *const library = open_library();
    return library ? dlsym(library, name) : nullptr;
}

} // namespace

void *find_in_runtime(const char *name) {
    constexpr const char *of_all = "sennit_should_suspend";
    static const bool hidden =
        !dlsym(RTLD_DEFAULT, of_all) && interpose::find_in_any_library(of_all);
    void *found = dlsym(RTLD_DEFAULT, name);
    return found || !hidden ? found : interpose::find_in_any_library(name);
}

void *find_bare(const char *name) {
    void *found = interpose::find_next(name);
    if (!found)
        found = find_in_own_library(name);
    if (!found) {
        std::fprintf(stderr,
                     "sennit: no MPI library has %s: Sennit's library was built for another MPI, "
                     "or %s is not found (see 'sennit doctor')\n",
                     name, *kLibraries);
        std::abort();
    }
    return found;
}

} // namespace sennit::mpi

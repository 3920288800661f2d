// SPDX-License-Identifier: Apache-2.0
// Where the MPI library's own functions are.
#include "mpi/call/array.h"
#include "mpi/engine/engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace sennit::mpi {
namespace {

// In what came with a library which the program opened for itself alone, an extension of Python
// say: neither RTLD_NEXT nor RTLD_DEFAULT looks there.
void *find_in_any_library(const char *name) {
    Dl_info own{};
    dladdr(reinterpret_cast<const void *>(&find_in_any_library), &own);
    struct Libraries {
        const void *without;
        Array<char *> names;
    } libraries{own.dli_fbase, {}};
    // Only named here: dlopen takes a lock that must not be taken within.
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *arg) {
            auto &list = *static_cast<Libraries *>(arg);
            if (*info->dlpi_name && reinterpret_cast<const void *>(info->dlpi_addr) != list.without)
                if (char *copy = strdup(info->dlpi_name))
                    list.names.push(copy);
            return 0;
        },
        &libraries);
    void *found = nullptr;
    for (int i = 0; i < libraries.names.size(); ++i) {
        if (void *library = found ? nullptr : dlopen(libraries.names[i], RTLD_LAZY | RTLD_NOLOAD)) {
            found = dlsym(library, name);
            dlclose(library);
        }
        std::free(libraries.names[i]);
    }
    std::free(libraries.names.data());
    return found;
}

// A program that is linked with Sennit's library need not name another one: a linker drops those
// that it calls nothing of (--as-needed), and we have all of MPI's functions.
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

// Behind all others: a library of the MPI that is there already may have another name.
void *find_in_own_library(const char *name) {
    static void *const library = open_library();
    return library ? dlsym(library, name) : nullptr;
}

} // namespace

void *find_next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : find_in_any_library(name);
}

void *find_in_runtime(const char *name) {
    constexpr const char *of_all = "sennit_should_suspend";
    static const bool hidden = !dlsym(RTLD_DEFAULT, of_all) && find_in_any_library(of_all);
    void *found = dlsym(RTLD_DEFAULT, name);
    return found || !hidden ? found : find_in_any_library(name);
}

void *find_bare(const char *name) {
    void *found = find_next(name);
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

// SPDX-License-Identifier: Apache-2.0
#include "mpi/interpose/bare.h"

#include "base/loaded_object.h"

#include <cstdint>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace sennit::interpose {

void *find_in_any_library(const char *name) {
    Dl_info own{};
    dladdr(reinterpret_cast<const void *>(&find_in_any_library), &own);
    std::vector<std::string> libraries;
    // Only named here: dlopen takes a lock that must not be taken within.
    each_object([&](const LoadedObject &object) {
        if (*object.path() && object.base() != reinterpret_cast<std::uintptr_t>(own.dli_fbase))
            libraries.emplace_back(object.path());
        return 0;
    });
    for (const std::string &one : libraries)
        if (void *library = dlopen(one.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
            void *const found = dlsym(library, kInFront) ? nullptr : dlsym(library, name);
            dlclose(library);
            if (found)
                return found;
        }
    return nullptr;
}

void *find_next(const char *name) {
    return sennit::find_next(name, find_in_any_library);
}

} // namespace sennit::interpose

// SPDX-License-Identifier: Apache-2.0
#include "interpose/bare.h"

#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

namespace sennit::interpose {

void *find_in_any_library(const char *name) {
    Dl_info own{};
    dladdr(reinterpret_cast<const void *>(&find_in_any_library), &own);
    struct Libraries {
        const void *without;
        std::vector<std::string> names;
    } libraries{own.dli_fbase, {}};
    // Only named here: dlopen takes a lock that must not be taken within.
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *arg) {
            auto &list = *static_cast<Libraries *>(arg);
            if (*info->dlpi_name && reinterpret_cast<const void *>(info->dlpi_addr) != list.without)
                list.names.emplace_back(info->dlpi_name);
            return 0;
        },
        &libraries);
    for (const std::string &one : libraries.names)
        if (void *library = dlopen(one.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
            void *const found = dlsym(library, name);
            dlclose(library);
            if (found)
                return found;
        }
    return nullptr;
}

void *find_next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : find_in_any_library(name);
}

} // namespace sennit::interpose

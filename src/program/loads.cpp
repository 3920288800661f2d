// SPDX-License-Identifier: Apache-2.0
#include "program/loads.h"

#include "base/loaded_object.h"

#include <cstring>
#include <dlfcn.h>

namespace sennit::program {
namespace {

// This library's own entry, which is never unloaded.
link_map *own_entry() {
    Dl_info info;
    void *entry = nullptr;
    static const char here = 0;
    return dladdr1(&here, &info, &entry, RTLD_DL_LINKMAP) != 0 ? static_cast<link_map *>(entry)
                                                               : nullptr;
}

} // namespace

Loads::Found Loads::find() {
    link_map *const own = own_entry();
    link_map *last = own;
    char path[4096] = "";
    unsigned long long loaded = 0;
    // The list does not change while this runs.
    each_object([&](const LoadedObject &object) {
        loaded = object.loads();
        while (last && last->l_next)
            last = last->l_next;
        const std::size_t size = last ? std::strlen(last->l_name) + 1 : 0;
        if (size > 0 && size <= sizeof path)
            std::memcpy(path, last->l_name, size);
        return 1;
    });
    // Kept from now on, unless it is gone meanwhile, or is another one of this name.
    void *const handle =
        path[0] != '\0' ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : nullptr;
    if (handle)
        dlclose(handle);
    return {loaded, handle == last || last == own ? last : nullptr};
}

} // namespace sennit::program

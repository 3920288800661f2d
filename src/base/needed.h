// SPDX-License-Identifier: Apache-2.0
// The libraries that a loaded object names as needed.
#pragma once

#include <cstdint>
#include <link.h>

namespace sennit {

// Is wanted(name) true of one of them? Where the loader has made addresses of the dynamic section's
// distances, as glibc does but for the vdso.
template <class Wanted>
bool needs(const link_map &object, Wanted wanted) {
    const char *strings = nullptr;
    for (const ElfW(Dyn) *entry = object.l_ld; entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_STRTAB && entry->d_un.d_ptr >= object.l_addr)
            strings = reinterpret_cast<const char *>(entry->d_un.d_ptr);
    for (const ElfW(Dyn) *entry = object.l_ld; strings && entry->d_tag != DT_NULL; ++entry)
        if (entry->d_tag == DT_NEEDED && wanted(strings + entry->d_un.d_val))
            return true;
    return false;
}

} // namespace sennit

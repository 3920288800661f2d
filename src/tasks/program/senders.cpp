// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/senders.h"

#include "base/hash.h"
#include "base/loaded_object.h"
#include "tasks/program/code.h"
#include "tasks/program/marks.h"

#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

namespace sennit::program {

std::optional<bool> known_to_send(const void *entry) {
    if (const std::optional<Marks> marks = marks_of(entry)) {
        if (marks->sends)
            return true;
        if (marks->all_known)
            return false;
    }
    return calls_send(entry);
}

namespace detail {

constinit Kinds g_kinds;

SENNIT_COLD void Kinds::forget() {
    const Guard guard(forgetting_);
    loads_.look([this] {
        for (std::atomic<std::uintptr_t> &kind : kinds_)
            kind.store(0, std::memory_order_relaxed);
        marked_.store(any_marks(), std::memory_order_relaxed);
    });
}

std::size_t Kinds::place_of(std::uintptr_t entry) {
    return hash_place(entry, 32) % kPlaces;
}

SENNIT_COLD bool Kinds::look_up(const void *entry, std::atomic<std::uintptr_t> &kind) {
    const bool computes = marks_of(entry) == Marks{};
    std::uintptr_t free = 0;
    kind.compare_exchange_strong(free, reinterpret_cast<std::uintptr_t>(entry) << 1 | computes,
                                 std::memory_order_relaxed);
    return computes;
}

bool Kinds::find(const void *entry) {
    if (loads_.any_new())
        forget();
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    std::size_t place = place_of(address);
    for (std::size_t i = 0; i < kTries; ++i, place = (place + 1) % kPlaces) {
        const std::uintptr_t kind = kinds_[place].load(std::memory_order_relaxed);
        if (kind >> 1 == address)
            return kind & 1;
        if (kind == 0)
            return look_up(entry, kinds_[place]);
    }
    return false;
}

} // namespace detail

namespace {

bool is_system_library(const char *path) {
    const char *slash = std::strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (const char *known :
         {"libc.so", "libm.so", "ld-linux", "libdl.so", "libpthread.so", "librt.so", "libstdc++.so",
          "libgcc_s.so", "libgfortran.so", "libquadmath.so", "linux-vdso", "libgomp.so",
          "libomp.so", "libiomp5.so", "libsennit-omp.so"})
        if (std::strncmp(name, known, std::strlen(known)) == 0)
            return true;
    return false;
}

} // namespace

bool process_may_suspend() {
    return each_object([](const LoadedObject &object) {
               const DynamicSection tables(object);
               return !is_system_library(object.path()) &&
                      (tables.imports(names().suspends) ||
                       (tables.needs(is_openmp_library) && tables.imports(names().blocks)));
           }) != 0;
}

static constinit SymbolNames g_names{};

const SymbolNames &names() {
    return g_names;
}

void set_names(const SymbolNames &names) {
    g_names = names;
}

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

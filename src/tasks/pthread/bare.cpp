// SPDX-License-Identifier: Apache-2.0
#include "tasks/pthread/bare.h"

#include "base/loaded_object.h"
#include "base/message.h"
#include "tasks/program/objects.h"

#include <cstring>
#include <dlfcn.h>
#include <gnu/libc-version.h>

namespace sennit::pthread {
namespace {

bool is_ours(void *symbol) {
    Dl_info at{}, own{};
    return dladdr(symbol, &at) && dladdr(&bare, &own) && at.dli_fbase == own.dli_fbase;
}

void *first(const char *name) {
    void *const program = dlopen(nullptr, RTLD_LAZY); // RTLD_DEFAULT: ours, by -Bsymbolic
    return program ? dlsym(program, name) : nullptr;
}

// The calls for C23 came with glibc 2.38; no program calls them where an older one is. That one is
// not asked: a name that dlsym() does not find takes memory, and an allocator may be who asks
// first.
const char *name_here(const char *name) {
    constexpr const char *kCalls[][2] = {{"__isoc23_vfscanf", "__isoc99_vfscanf"},
                                         {"__isoc23_vscanf", "__isoc99_vscanf"}};
    for (const auto &[c23, c99] : kCalls)
        if (std::strcmp(name, c23) == 0)
            return strverscmp(gnu_get_libc_version(), "2.38") < 0 ? c99 : c23;
    return name;
}

// Before glibc 2.34, message queues and aio_suspend were in librt.
bool librt_is_in_libc() {
    return strverscmp(gnu_get_libc_version(), "2.34") >= 0;
}

// A plugin may have loaded librt for itself.
void *in_librt(const char *name) {
    void *const librt =
        librt_is_in_libc() ? nullptr : dlopen("librt.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return librt ? dlsym(librt, name) : nullptr;
}

// libc comes before this library where only a library of the program needs OpenMP. Then the first
// in the loader's order is libc's, or that of a tool in front of libc.
void *first_of_others(const char *name) {
    void *found = first(name);
    if (!found || is_ours(found))
        found = made_of_older_calls(name);
    if (!found)
        found = in_librt(name);
    if (!found)
        fatal("the C library has no %s", name);
    return found;
}

// Several threads may do this at once: all write the same.
template <class Function>
void set_next(Function *&function, const char *name) {
    __atomic_store_n(&function,
                     reinterpret_cast<Function *>(find_next(name_here(name), first_of_others)),
                     __ATOMIC_RELAXED);
}

#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    result find_##name parameters {                                                                \
        find_bare();                                                                               \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE

#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    result find_##name parameters {                                                                \
        set_next(bare.name, #name);                                                                \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE

} // namespace

bool is_first(const char *name) {
    void *const found = first(name);
    return found && is_ours(found);
}

void find_bare() {
#define SENNIT_BARE(result, name, parameters, arguments) set_next(bare.name, #name);
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
    // The one of the late ones that a signal handler may be the first to call.
    if (librt_is_in_libc()) {
        set_next(bare.aio_suspend, "aio_suspend");
        set_next(bare.aio_suspend64, "aio_suspend64");
    }
}

#define SENNIT_BARE(result, name, parameters, arguments) .name = find_##name,
constinit Bare bare = {SENNIT_BARE_FUNCTIONS(SENNIT_BARE) SENNIT_BARE_LATE(SENNIT_BARE)};
#undef SENNIT_BARE

namespace {

// Null where libraries call a tool that is in front of us, such as ThreadSanitizer's: it is to hear
// of their calls.
const void *bare_function(const char *symbol) {
#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    if (std::strcmp(symbol, #name) == 0)                                                           \
        return is_first(#name) ? reinterpret_cast<const void *>(bare.name) : nullptr;
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
    SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE
    return nullptr;
}

} // namespace

void leave_alone(bool (*library)(const char *path)) {
    find_bare();
    each_object([=](const LoadedObject &object) {
        if (object.path() && library(object.path()))
            program::rebind(object, bare_function);
        return 0;
    });
}

} // namespace sennit::pthread

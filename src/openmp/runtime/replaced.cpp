// SPDX-License-Identifier: Apache-2.0
#include "openmp/runtime/library.h"

#include "base/loaded_object.h"
#include "base/message.h"
#include "tasks/program/objects.h"
#include "tasks/pthread/bare.h"

#include <cstring>

namespace sennit::runtime {
namespace {

bool is_ours(const LoadedObject &object) {
    return object.contains(PT_LOAD, reinterpret_cast<std::uintptr_t>(stand_in_for_replaced));
}

bool is_replaced(const LoadedObject &object) {
    const char *const slash = std::strrchr(object.path(), '/');
    const OpenMpLibrary library = openmp_library(slash ? slash + 1 : object.path());
    return (library == OpenMpLibrary::libgomp || library == OpenMpLibrary::libomp) &&
           !is_ours(object);
}

// Ours; null for what we have only a name of, whose call ends the program: there the other runtime
// answers itself.
const void *own_function(const char *name) {
    const void *found = nullptr;
    each_object([&](const LoadedObject &object) {
        if (!is_ours(object))
            return 0;
        DynamicSection(object).each_function([&](const char *own, const ElfW(Sym) & symbol) {
            if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL && std::strcmp(own, name) == 0)
                found = reinterpret_cast<const void *>(object.base() + symbol.st_value);
        });
        return 1;
    });
    return found;
}

// Where the program's own calls reach another runtime, that one has to answer.
bool comes_first() {
    return pthread::is_first("omp_set_num_threads");
}

void stand_in(const LoadedObject &object) {
    program::stand_in_for(object, [](const char *name) -> const void * {
        return std::strncmp(name, "_", 1) != 0 || std::strncmp(name, "__kmp", 5) == 0
                   ? own_function(name)
                   : nullptr;
    });
}

} // namespace

void stand_in_for_replaced() {
    bool is_there = false;
    each_object(
        [&](const LoadedObject &object) { return (is_there |= is_replaced(object)) ? 1 : 0; });
    if (!is_there || !comes_first())
        return;
    each_object([](const LoadedObject &object) {
        if (is_replaced(object))
            stand_in(object);
        return 0;
    });
}

void stand_in_if_replaced(const void *code) {
    const link_map *const loaded = object_of(code);
    const char *const slash = loaded ? std::strrchr(loaded->l_name, '/') : nullptr;
    if (slash && is_openmp_library(slash + 1))
        stand_in_for_replaced();
}

} // namespace sennit::runtime

// What the stubs of generate_stubs.py call.

extern "C" [[noreturn]] void sennit_unsupported(const char *symbol) {
    sennit::fatal(
        "%s is not supported by this version: the program uses an OpenMP feature that Sennit "
        "does not have yet (docs/status.md); run it on its own OpenMP runtime instead",
        symbol);
}

// SPDX-License-Identifier: Apache-2.0
#include "pthread/bare.h"

#include "base/message.h"

#include <dlfcn.h>

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

// libc comes before this library where only a library of the program needs OpenMP. Then the first
// in the loader's order is libc's, or that of a tool in front of libc.
void *find(const char *name) {
    if (void *const next = dlsym(RTLD_NEXT, name))
        return next;
    void *const found = first(name);
    if (!found || is_ours(found))
        fatal("the C library has no %s", name);
    return found;
}

// Several threads may do this at once: all write the same.
template <class Function>
void find_next(Function *&function, const char *name) {
    __atomic_store_n(&function, reinterpret_cast<Function *>(find(name)), __ATOMIC_RELAXED);
}

#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    result find_##name parameters {                                                                \
        find_bare();                                                                               \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE

} // namespace

bool is_first(const char *name) {
    void *const found = first(name);
    return found && is_ours(found);
}

void find_bare() {
#define SENNIT_BARE(result, name, parameters, arguments) find_next(bare.name, #name);
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
}

#define SENNIT_BARE(result, name, parameters, arguments) .name = find_##name,
constinit Bare bare = {SENNIT_BARE_FUNCTIONS(SENNIT_BARE)};
#undef SENNIT_BARE

} // namespace sennit::pthread

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

// libc comes before this library where only a library of the program needs OpenMP. Then the first
// in the loader's order is libc's, or that of a tool in front of libc.
void *find(const char *name) {
    if (void *const next = dlsym(RTLD_NEXT, name))
        return next;
    void *const program = dlopen(nullptr, RTLD_LAZY); // RTLD_DEFAULT: ours, by -Bsymbolic
    void *const first = program ? dlsym(program, name) : nullptr;
    if (!first || is_ours(first))
        fatal("the C library has no %s", name);
    return first;
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

void find_bare() {
#define SENNIT_BARE(result, name, parameters, arguments) find_next(bare.name, #name);
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
}

#define SENNIT_BARE(result, name, parameters, arguments) .name = find_##name,
constinit Bare bare = {SENNIT_BARE_FUNCTIONS(SENNIT_BARE)};
#undef SENNIT_BARE

} // namespace sennit::pthread

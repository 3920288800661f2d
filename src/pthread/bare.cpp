// SPDX-License-Identifier: Apache-2.0
#include "pthread/bare.h"

#include "base/message.h"

#include <dlfcn.h>

namespace sennit::pthread {
namespace {

// Several threads may do this at once: all write the same.
template <class Function>
void find_next(Function *&function, const char *name) {
    auto *const next = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
    if (!next)
        fatal("the C library has no %s", name);
    __atomic_store_n(&function, next, __ATOMIC_RELAXED);
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

// SPDX-License-Identifier: Apache-2.0
#include "pthread/libraries.h"

#include "base/loaded_object.h"
#include "program/rebind.h"
#include "pthread/bare.h"

#include <cstring>

namespace sennit::pthread {
namespace {

// Null where libraries call a tool that is in front of us, such as ThreadSanitizer's: it is to hear
// of their calls.
const void *bare_function(const char *symbol) {
#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    if (std::strcmp(symbol, #name) == 0)                                                           \
        return is_first(#name) ? reinterpret_cast<const void *>(bare.name) : nullptr;
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
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

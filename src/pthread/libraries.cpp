// SPDX-License-Identifier: Apache-2.0
#include "pthread/libraries.h"

#include "base/loaded_object.h"
#include "program/rebind.h"
#include "pthread/bare.h"

#include <cstring>
#include <initializer_list>

namespace sennit::pthread {
namespace {

// MPICH, Open MPI and its components, and what they stand on.
bool passes_messages(const char *path) {
    const char *const slash = std::strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    for (const char *prefix :
         {"libmpi.", "libmpich.", "libmpi_", "libopen-", "libpmpi", "mca_", "libucp.", "libuct",
          "libucs", "libucm", "libfabric.", "libpsm", "libpmix", "libevent"})
        if (std::strncmp(name, prefix, std::strlen(prefix)) == 0)
            return true;
    return false;
}

const void *bare_function(const char *symbol) {
#define SENNIT_BARE(result, name, parameters, arguments)                                           \
    if (std::strcmp(symbol, #name) == 0)                                                           \
        return reinterpret_cast<const void *>(bare.name);
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
#undef SENNIT_BARE
    return nullptr;
}

} // namespace

void leave_message_libraries_alone() {
    find_bare();
    each_object([](const LoadedObject &object) {
        if (object.path() && passes_messages(object.path()))
            program::rebind(object, bare_function);
        return 0;
    });
}

} // namespace sennit::pthread

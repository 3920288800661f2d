// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/own_yields.h"

#include "base/compiler.h"

#include <dlfcn.h>
#include <mpi.h>

namespace sennit::mpi {

SENNIT_HOT bool make_tests_yield([[maybe_unused]] bool yields) {
#ifdef OPEN_MPI
    // Open MPI 4.1, 5.0: opal/runtime/opal_progress.h.
    static const auto set =
        reinterpret_cast<void (*)(bool)>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
    if (set)
        set(yields);
    return set && yields;
#else
    return false;
#endif
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/assemble.h"

#include "mpi/engine/engine.h"

namespace sennit::mpi {

int assemble(Operation operation, const Reduction &reduction) {
    operation.assembled = true;
    AssembledCall call(g_crowd.assembled, operation.name, reduction);
    return poll_and_wait(operation, [&](int *flag) {
        *flag = call.test() ? 1 : 0;
        return MPI_SUCCESS;
    });
}

} // namespace sennit::mpi

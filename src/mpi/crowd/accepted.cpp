// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/accepted.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"

namespace sennit::mpi {
namespace {

MPI_Comm g_asking{}; // written in MPI_Init

} // namespace

void ask_on(MPI_Comm ours) {
    static constexpr auto set = SENNIT_BARE(Comm_set_errhandler);
    const Inside inside;
    set(ours, MPI_ERRORS_RETURN);
    g_asking = ours;
}

// MPICH calls the handler of MPI_COMM_WORLD here, whatever the communicator, if it is not kept.
bool is_accepted(MPI_Datatype type) {
    static constexpr auto pack = SENNIT_BARE(Pack);
    const QuietTests quiet;
    char nothing[1] = {};
    int end = 0;
    return outside_task([&] {
               return pack(nothing, 0, type, nothing, sizeof nothing, &end, g_asking);
           }) == MPI_SUCCESS;
}

} // namespace sennit::mpi

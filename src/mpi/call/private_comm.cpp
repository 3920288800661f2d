// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/private_comm.h"

#include "base/clock.h"
#include "base/last_words.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/meet.h"

#include <cstdio>

namespace sennit::mpi {

bool make_private_comm(MPI_Comm *copy, const char *setting, int patience_s) {
    static constexpr auto duplicate = SENNIT_BARE(Comm_idup);
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    static constexpr auto abort = SENNIT_BARE(Abort);
    constexpr std::int64_t second = 1'000'000'000;
    const Inside inside;
    SeenTime seen(monotonic_ns());
    LateRanks late;
    return meet([&](MPI_Request *request) { return duplicate(MPI_COMM_WORLD, copy, request); },
                [&] {
                    late();
                    if (seen.look(monotonic_ns()) <= patience_s * second)
                        return;
                    int rank = -1;
                    get_rank(MPI_COMM_WORLD, &rank);
                    std::fprintf(
                        stderr,
                        "sennit: rank %d waits in MPI_Init for ranks without %s: set it, and use "
                        "Sennit's OpenMP runtime, on all ranks of the job or on none\n",
                        rank, setting);
                    let_last_words_through();
                    abort(MPI_COMM_WORLD, 1);
                });
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/members.h"

#include "base/clock.h"
#include "base/message.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

#include <cstdio>

namespace sennit::mpi {
namespace {

void free_group(MPI_Group &group) {
    static constexpr auto free = SENNIT_BARE(Group_free);
    if (group != MPI_GROUP_NULL)
        free(&group);
    group = MPI_GROUP_NULL;
}

} // namespace

Members::Members(MPI_Comm comm, Side side) {
    static constexpr auto is_inter = SENNIT_BARE(Comm_test_inter);
    static constexpr auto group_of = SENNIT_BARE(Comm_group);
    static constexpr auto remote_group_of = SENNIT_BARE(Comm_remote_group);
    static constexpr auto get_size = SENNIT_BARE(Group_size);
    int inter = 0;
    if (is_inter(comm, &inter) != MPI_SUCCESS)
        return;
    inter_ = inter != 0;
    const auto group = inter_ && side == Side::peers ? remote_group_of : group_of;
    if (group(comm, &of_comm_) != MPI_SUCCESS)
        of_comm_ = MPI_GROUP_NULL;
    else if (get_size(of_comm_, &size_) != MPI_SUCCESS ||
             group_of(MPI_COMM_WORLD, &world_) != MPI_SUCCESS) {
        world_ = MPI_GROUP_NULL;
        size_ = 0;
        free_group(of_comm_);
    }
}

Members::~Members() {
    free_group(of_comm_);
    free_group(world_);
}

int Members::own_rank() const {
    static constexpr auto get_rank = SENNIT_BARE(Group_rank);
    int rank = MPI_UNDEFINED;
    if (!known() || get_rank(of_comm_, &rank) != MPI_SUCCESS || rank == MPI_UNDEFINED)
        return -1;
    return rank;
}

int Members::in_world(int member) const {
    static constexpr auto translate = SENNIT_BARE(Group_translate_ranks);
    int rank = MPI_UNDEFINED;
    if (member < 0 || member >= size_ ||
        translate(of_comm_, 1, &member, world_, &rank) != MPI_SUCCESS || rank == MPI_UNDEFINED)
        return -1;
    return rank;
}

std::uint64_t Members::fingerprint() const {
    std::uint64_t sum = 0xcbf29ce484222325u; // FNV-1a
    for (int i = 0; i < size_; ++i) {
        const int rank = in_world(i);
        if (rank < 0)
            return 0;
        sum = (sum ^ static_cast<std::uint64_t>(rank)) * 0x100000001b3u;
    }
    return sum;
}

int target_in_world(MPI_Win win, int target) {
    static constexpr auto group_of = SENNIT_BARE(Win_get_group);
    static constexpr auto world_group = SENNIT_BARE(Comm_group);
    static constexpr auto translate = SENNIT_BARE(Group_translate_ranks);
    MPI_Group of_win = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int rank = MPI_UNDEFINED;
    if (target < 0 || group_of(win, &of_win) != MPI_SUCCESS)
        return -1;
    if (world_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS ||
        translate(of_win, 1, &target, world, &rank) != MPI_SUCCESS || rank == MPI_UNDEFINED)
        rank = -1;
    free_group(world);
    free_group(of_win);
    return rank;
}

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

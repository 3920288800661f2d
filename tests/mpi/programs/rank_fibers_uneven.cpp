// SPDX-License-Identifier: Apache-2.0
// Rank fibers of which two have six times as much work as the others: whole ranks go from worker to
// worker, so that each worker has about as much. However ranks are dealt out to two workers by
// their numbers, in turns or in blocks, one worker would have 14 of 18 parts.
//
// What is counted are parts of the work, by the worker that ran them; not times.
#include <mpi.h>

#include "virt/own_fiber.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

namespace {

constexpr int kParts[] = {6, 1, 6, 1, 1, 1, 1, 1};
constexpr int kRanks = 8;
constexpr int kSteps = 200;
constexpr int kRounds = 10;    // on a busy machine a worker may get no processor for a while
constexpr double kEven = 0.35; // of all parts, at least
constexpr int kPartTurns = 20000;

void work() {
    for (int turn = 0; turn < kPartTurns; ++turn)
        asm volatile("" ::: "memory");
}

using Counts = std::map<std::uint64_t, long>; // by worker; 0: at home

Counts round_of(int rank) {
    Counts counts;
    for (int step = 0; step < kSteps; ++step) {
        for (int part = 0; part < kParts[rank]; ++part) {
            work();
            ++counts[reinterpret_cast<std::uint64_t>(sennit::virt::own_fiber()->worker.load())];
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return counts;
}

// Of all ranks, on each.
Counts sum_of(const Counts &mine) {
    constexpr int kMost = 8;
    std::vector<std::uint64_t> own(2 * kMost);
    std::vector<std::uint64_t> all(2 * kMost * kRanks);
    std::size_t at = 0;
    for (const auto &[worker, count] : mine)
        if (at < own.size()) {
            own[at++] = worker;
            own[at++] = static_cast<std::uint64_t>(count);
        }
    MPI_Allgather(own.data(), 2 * kMost, MPI_UINT64_T, all.data(), 2 * kMost, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    Counts sum;
    for (std::size_t i = 0; i < all.size(); i += 2)
        sum[all[i]] += static_cast<long>(all[i + 1]);
    return sum;
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != kRanks || !sennit::virt::own_fiber())
        MPI_Abort(MPI_COMM_WORLD, 2);
    bool even = false;
    Counts counts;
    for (int round = 0; round < kRounds && !even; ++round) {
        counts = sum_of(round_of(rank));
        long all = 0;
        for (const auto &[worker, count] : counts)
            all += count;
        int sharers = 0;
        for (const auto &[worker, count] : counts)
            sharers +=
                worker != 0 && static_cast<double>(count) >= kEven * static_cast<double>(all);
        even = sharers == 2;
    }
    if (rank == 0)
        for (const auto &[worker, count] : counts)
            if (count > 0)
                std::fprintf(stderr, "%s: %ld parts\n", worker == 0 ? "at home" : "a worker",
                             count);
    if (rank == 0)
        std::puts(even ? "even" : "uneven");
    MPI_Finalize();
    return even ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// build_once: if=rank_fibers compile='{pie_cxx} -std=c++20 -I{source}/src' -- -lstdc++
// Rank fibers of which two have six times as much work as the others: whole ranks go from worker to
// worker, so that each worker has about as much. However ranks are dealt out to two workers by
// their numbers, in turns or in blocks, one worker would have 14 of 18 parts.
//
// What is counted are parts of the work, by the worker that ran them; not times. On a busy machine
// one worker may get no processor while the other one runs. So a rank on a worker that is far ahead
// waits until the other worker has caught up. That one can, as long as ranks have work left: each
// of them may run there. If ranks belonged to workers, the program would not end.
#include <mpi.h>

#include "ranks/fibers/rank_fiber.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <sched.h>

namespace {

constexpr int kParts[] = {6, 1, 6, 1, 1, 1, 1, 1};
constexpr int kRanks = 8;
constexpr int kSteps = 200;
constexpr int kAhead = 300;    // parts; quiet workers do not get there
constexpr double kEven = 0.35; // of all parts that workers ran, at least
constexpr int kPartTurns = 20000;
constexpr int kPlaces = 3; // at home, and two workers

// In memory of all ranks.
struct Shared {
    std::atomic<std::uintptr_t> workers[kPlaces]; // the first one stays 0: at home
    std::atomic<long> parts[kPlaces];
    std::atomic<int> left; // ranks that have work left in this step
};

// Where the caller is. It may be somewhere else in a moment.
int place(Shared &shared) {
    const auto worker = reinterpret_cast<std::uintptr_t>(sennit::virt::own_fiber()->carrier.load());
    for (int i = 0; i < kPlaces; ++i) {
        std::uintptr_t known = shared.workers[i].load();
        if (known == worker ||
            (known == 0 && i > 0 &&
             (shared.workers[i].compare_exchange_strong(known, worker) || known == worker)))
            return i;
    }
    MPI_Abort(MPI_COMM_WORLD, 3); // a third worker
    return 0;
}

void work(Shared &shared) {
    for (int turn = 0; turn < kPartTurns; ++turn)
        asm volatile("" ::: "memory");
    ++shared.parts[place(shared)];
}

// Alone, a rank has nobody who could run on the other worker.
void wait_for_other_worker(Shared &shared) {
    for (;;) {
        const int here = place(shared);
        if (here == 0 || shared.left.load() < 2 ||
            shared.parts[here].load() <= shared.parts[kPlaces - here].load() + kAhead)
            return;
        sched_yield();
    }
}

Shared &make_shared(int rank, MPI_Win &window) {
    void *memory = nullptr;
    int unit = 1;
    MPI_Aint bytes = rank == 0 ? sizeof(Shared) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    if (rank == 0)
        new (memory) Shared{};
    MPI_Barrier(MPI_COMM_WORLD);
    return *static_cast<Shared *>(memory);
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
    MPI_Win window;
    Shared &shared = make_shared(rank, window);
    for (int step = 0; step < kSteps; ++step) {
        if (rank == 0)
            shared.left.store(kRanks);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int part = 0; part < kParts[rank]; ++part) {
            work(shared);
            wait_for_other_worker(shared);
        }
        --shared.left;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    const double away =
        static_cast<double>(shared.parts[1].load()) + static_cast<double>(shared.parts[2].load());
    bool even = away > 0;
    for (int i = 0; i < kPlaces; ++i) {
        const long parts = shared.parts[i].load();
        even = even && (i == 0 || static_cast<double>(parts) >= kEven * away);
        if (rank == 0)
            std::fprintf(stderr, "%s: %ld parts\n", i == 0 ? "at home" : "a worker", parts);
    }
    if (rank == 0)
        std::puts(even ? "even" : "uneven");
    MPI_Win_free(&window);
    MPI_Finalize();
    return even ? 0 : 1;
}

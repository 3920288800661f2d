// SPDX-License-Identifier: Apache-2.0
#include "omp/loops/doacross.h"

#include "base/message.h"
#include "omp/loops/constructs.h"
#include "omp/loops/workshares.h"
#include "omp/sync/wait_until.h"

#include <cstdlib>
#include <new>

namespace sennit::omp {

struct Doacross {
    int loops;
    DoacrossLoop *nest;                 // behind this head
    std::atomic<std::uint64_t> *posted; // behind the nest, a bit an iteration of the whole nest

    // The number of an iteration in sequential order; false outside of the space.
    bool number(const std::int64_t *vector, std::uint64_t *number) const {
        std::uint64_t linear = 0;
        for (int i = 0; i < loops; ++i) {
            const DoacrossLoop &loop = nest[i];
            const std::int64_t distance = vector[i] - loop.first;
            if (distance % loop.step != 0)
                return false;
            const std::int64_t at = distance / loop.step;
            if (at < 0 || static_cast<std::uint64_t>(at) >= loop.count)
                return false;
            linear = linear * loop.count + static_cast<std::uint64_t>(at);
        }
        *number = linear;
        return true;
    }
};

namespace {

Doacross *make(int loops, const DoacrossLoop *nest) {
    std::uint64_t iterations = 1;
    bool too_many = false;
    for (int i = 0; i < loops; ++i)
        too_many |= __builtin_mul_overflow(iterations, nest[i].count, &iterations);
    const std::uint64_t words = iterations / 64 + 1;
    const std::size_t head = sizeof(Doacross) + static_cast<std::size_t>(loops) * sizeof *nest;
    void *memory = too_many ? nullptr : std::calloc(1, head + words * sizeof(std::uint64_t));
    if (!memory)
        fatal("no memory for the dependences between %llu iterations of an ordered(n) loop: a bit "
              "each is needed",
              static_cast<unsigned long long>(iterations));
    auto *made = static_cast<Doacross *>(memory);
    made->loops = loops;
    made->nest = reinterpret_cast<DoacrossLoop *>(made + 1);
    for (int i = 0; i < loops; ++i)
        made->nest[i] = nest[i];
    made->posted = reinterpret_cast<std::atomic<std::uint64_t> *>(made->nest + loops);
    return made;
}

} // namespace

void doacross_begin(sched::Worker &worker, int loops, const DoacrossLoop *nest) {
    Member &member = member_of(worker);
    Team &team = *member.team;
    if (team.size == 1)
        return;
    const std::uint32_t loop = member.work.doacross_begun++;
    DoacrossShare &share = workshares_of(team).doacross[loop % Workshares::kDoacrossRing];
    wait_until(worker, [&] {
        return share.turn.load(std::memory_order_acquire) == loop ||
               team.cancelled.load(std::memory_order_relaxed);
    });
    if (share.turn.load(std::memory_order_acquire) != loop)
        return; // cancelled: no iterations for us
    int before = DoacrossShare::kFree;
    if (share.setup.compare_exchange_strong(before, DoacrossShare::kBusy,
                                            std::memory_order_relaxed)) {
        share.shared = make(loops, nest);
        // release pairs with the others' acquire below.
        share.setup.store(DoacrossShare::kReady, std::memory_order_release);
    } else {
        wait_until(worker, [&] {
            return share.setup.load(std::memory_order_acquire) == DoacrossShare::kReady;
        });
    }
    member.work.doacross = &share;
}

void doacross_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    DoacrossShare *share = member.work.doacross;
    if (!share)
        return;
    member.work.doacross = nullptr;
    // acq_rel: the last thread recycles it after all have used it.
    if (share->left.fetch_add(1, std::memory_order_acq_rel) + 1 < member.team->size)
        return;
    std::free(share->shared);
    share->left.store(0, std::memory_order_relaxed);
    share->setup.store(DoacrossShare::kFree, std::memory_order_relaxed);
    share->turn.store(share->turn.load(std::memory_order_relaxed) + Workshares::kDoacrossRing,
                      std::memory_order_release);
}

int doacross_loops(sched::Worker &worker) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    return share ? share->shared->loops : 0;
}

void doacross_post(sched::Worker &worker, const std::int64_t *vector) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    if (ompt::on() && share)
        tell_iteration(vector, share->shared->loops, ompt::kDependSource);
    std::uint64_t number = 0;
    if (!share || !share->shared->number(vector, &number))
        return;
    // release: a thread that finds the bit sees what the iteration wrote.
    share->shared->posted[number / 64].fetch_or(std::uint64_t{1} << (number % 64),
                                                std::memory_order_release);
}

void doacross_wait(sched::Worker &worker, const std::int64_t *vector) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    std::uint64_t number = 0;
    if (!share || !share->shared->number(vector, &number))
        return;
    const std::atomic<std::uint64_t> &word = share->shared->posted[number / 64];
    if (ompt::on())
        tell_iteration(vector, share->shared->loops, ompt::kDependSink);
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const std::atomic<bool> &cancelled = member_of(worker).team->cancelled;
    wait_until(worker, [&] {
        return (word.load(std::memory_order_acquire) & bit) != 0 ||
               cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace sennit::omp

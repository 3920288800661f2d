// SPDX-License-Identifier: Apache-2.0
// A ring of descriptors per team lets threads run ahead of each other by up to kRing nowait
// constructs. A descriptor belongs to construct number `turn`: the first thread that comes sets it up,
// the last one that leaves passes it on to construct turn + kRing.
#include "omp/worksharing.h"

#include "base/message.h"
#include "sched/threads.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::omp {
namespace {

constexpr std::uint32_t kRing = 8;
// A thread takes several chunks with one atomic operation while plenty are left.
constexpr std::uint64_t kMostChunks = 32;
constexpr std::uint64_t kPlenty = 16; // that many batches per thread must be left

enum Setup : std::uint32_t { kFree, kBusy, kReady };

struct alignas(kCacheLine) LoopState {
    std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> setup{kFree};
    std::uint64_t count = 0;
    std::uint64_t chunk = 1;
    std::uint64_t chunks = 0;
    LoopSchedule schedule;
    std::atomic<std::uintptr_t> word{0};
    std::atomic<void *> memory{nullptr};
    alignas(kCacheLine) std::atomic<std::uint64_t> next{0}; // chunk (dynamic) or iteration (guided)
    alignas(kCacheLine) std::atomic<std::uint64_t> ordered{0}; // first iteration that may go on
    std::atomic<int> left{0};
};

// Let others go first: what we wait for may need our processor, or even our worker.
template <class Predicate>
void wait_until(sched::Worker &worker, Predicate holds) {
    for (int round = 0; !holds(); ++round) {
        if (round < 1000 && sched::spin_budget() > 0)
            cpu_relax();
        else
            worker.yield();
    }
}

} // namespace

struct Workshares {
    std::atomic<std::uint32_t> singles{0}; // `single` constructs that found their thread
    LoopState ring[kRing];
};

Workshares *make_workshares(int) {
    void *memory = std::aligned_alloc(alignof(Workshares), sizeof(Workshares));
    if (!memory)
        fatal("no memory for a team's worksharing state (%zu bytes)", sizeof(Workshares));
    return new (memory) Workshares;
}

void drop_workshares(Workshares *workshares) {
    workshares->~Workshares();
    std::free(workshares);
}

void reset_workshares(Team &team) {
    Workshares &state = *team.workshares;
    state.singles.store(0, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kRing; ++i) {
        state.ring[i].turn.store(i, std::memory_order_relaxed);
        state.ring[i].setup.store(kFree, std::memory_order_relaxed);
    }
}

namespace {

LoopState &state_of(Member &member) { return *static_cast<LoopState *>(member.work.loop); }

// OpenMP 5.2, 11.5.3: without a chunk the iterations are divided into one piece a thread.
bool next_static(Member &member, const LoopState &state, std::uint64_t *first,
                 std::uint64_t *last) {
    const auto threads = static_cast<std::uint64_t>(member.group->size);
    const auto thread = static_cast<std::uint64_t>(member.index);
    if (state.schedule.chunk == 0) {
        if (member.work.position++ != 0)
            return false;
        static_share(state.count, member.group->size, member.index, first, last);
        return *first < *last;
    }
    const std::uint64_t chunk = thread + threads * member.work.position;
    if (chunk >= state.chunks)
        return false;
    ++member.work.position;
    *first = chunk * state.chunk;
    *last = state.count - *first > state.chunk ? *first + state.chunk : state.count;
    return true;
}

bool next_dynamic(Member &member, LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    MemberWorkshares &mine = member.work;
    if (mine.first == mine.last) {
        const std::uint64_t seen = state.next.load(std::memory_order_relaxed);
        if (seen >= state.chunks)
            return false;
        std::uint64_t batch = 1;
        if (!state.schedule.ordered) {
            const auto parts = kPlenty * static_cast<std::uint64_t>(member.group->size);
            batch = std::clamp<std::uint64_t>((state.chunks - seen) / parts, 1, kMostChunks);
        }
        const std::uint64_t chunk = state.next.fetch_add(batch, std::memory_order_relaxed);
        if (chunk >= state.chunks)
            return false;
        mine.first = chunk * state.chunk;
        const std::uint64_t rest = state.chunks - chunk;
        mine.last = batch >= rest ? state.count : mine.first + batch * state.chunk;
    }
    *first = mine.first;
    *last = mine.last - mine.first > state.chunk ? mine.first + state.chunk : mine.last;
    mine.first = *last;
    return true;
}

bool next_guided(Member &member, LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    const auto threads = static_cast<std::uint64_t>(member.group->size);
    std::uint64_t start = state.next.load(std::memory_order_relaxed);
    std::uint64_t end = 0;
    do {
        if (start >= state.count)
            return false;
        const std::uint64_t rest = state.count - start;
        const std::uint64_t size = std::max(rest / threads + (rest % threads != 0), state.chunk);
        end = size < rest ? start + size : state.count;
    } while (!state.next.compare_exchange_weak(start, end, std::memory_order_relaxed));
    *first = start;
    *last = end;
    return true;
}

// The thread's last piece is over: who comes next in an ordered loop may go on.
void pass_ordered_on(sched::Worker &worker, Member &member, LoopState &state) {
    MemberWorkshares &mine = member.work;
    if (mine.ordered_last == mine.ordered_first)
        return;
    wait_until(worker, [&] {
        return state.ordered.load(std::memory_order_acquire) == mine.ordered_first;
    });
    state.ordered.store(mine.ordered_last, std::memory_order_release);
    mine.ordered_first = mine.ordered_last;
}

} // namespace

void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                  std::uint64_t *last) {
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    const std::uint64_t each = count / n;
    const std::uint64_t longer = count % n;
    *first = i * each + std::min(i, longer);
    *last = *first + each + (i < longer ? 1 : 0);
}

LoopSchedule runtime_schedule(sched::Worker &worker) {
    const Icvs &icvs = *worker.task->icvs;
    LoopSchedule schedule;
    schedule.kind = icvs.schedule;
    schedule.chunk = icvs.chunk > 0 ? static_cast<std::uint64_t>(icvs.chunk) : 0;
    schedule.monotonic = icvs.schedule_monotonic;
    return schedule;
}

void loop_begin(sched::Worker &worker, std::uint64_t count, const LoopSchedule &schedule) {
    Member &member = member_of(worker);
    const std::uint32_t construct = member.work.begun++;
    LoopState &state = member.team->workshares->ring[construct % kRing];
    member.work.loop = &state;
    member.work.first = member.work.last = 0;
    member.work.position = 0;
    member.work.ordered_first = member.work.ordered_last = 0;
    if (state.turn.load(std::memory_order_acquire) != construct)
        wait_until(worker,
                   [&] { return state.turn.load(std::memory_order_acquire) == construct; });
    std::uint32_t expected = kFree;
    if (state.setup.load(std::memory_order_relaxed) == kFree &&
        state.setup.compare_exchange_strong(expected, kBusy, std::memory_order_relaxed)) {
        state.schedule = schedule;
        if (schedule.kind == Sched::automatic)
            state.schedule.kind = Sched::static_;
        state.count = count;
        state.chunk = std::max<std::uint64_t>(schedule.chunk, 1);
        state.chunks = count == 0 ? 0 : (count - 1) / state.chunk + 1;
        state.next.store(0, std::memory_order_relaxed);
        state.ordered.store(0, std::memory_order_relaxed);
        state.left.store(0, std::memory_order_relaxed);
        state.word.store(0, std::memory_order_relaxed);
        // release pairs with the others' acquire below.
        state.setup.store(kReady, std::memory_order_release);
        return;
    }
    if (state.setup.load(std::memory_order_acquire) != kReady)
        wait_until(worker, [&] { return state.setup.load(std::memory_order_acquire) == kReady; });
}

bool loop_next(sched::Worker &worker, std::uint64_t *first, std::uint64_t *last) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return false;
    LoopState &state = state_of(member);
    if (SENNIT_UNLIKELY(state.schedule.ordered))
        pass_ordered_on(worker, member, state);
    bool found = false;
    switch (state.schedule.kind) {
    case Sched::dynamic: found = next_dynamic(member, state, first, last); break;
    case Sched::guided: found = next_guided(member, state, first, last); break;
    default: found = next_static(member, state, first, last); break;
    }
    if (SENNIT_UNLIKELY(state.schedule.ordered) && found) {
        member.work.ordered_first = *first;
        member.work.ordered_last = *last;
    }
    return found;
}

void loop_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return;
    LoopState &state = state_of(member);
    if (state.schedule.ordered)
        pass_ordered_on(worker, member, state);
    member.work.loop = nullptr;
    // acq_rel: the last one's recycling comes after everybody's use.
    if (state.left.fetch_add(1, std::memory_order_acq_rel) + 1 < member.group->size)
        return;
    std::free(state.memory.exchange(nullptr, std::memory_order_relaxed));
    state.setup.store(kFree, std::memory_order_relaxed);
    state.turn.store(state.turn.load(std::memory_order_relaxed) + kRing,
                     std::memory_order_release);
}

std::atomic<std::uintptr_t> &loop_shared_word(sched::Worker &worker) {
    return state_of(member_of(worker)).word;
}

void *loop_shared_memory(sched::Worker &worker, std::size_t size) {
    std::atomic<void *> &memory = state_of(member_of(worker)).memory;
    void *block = memory.load(std::memory_order_acquire);
    if (block)
        return block;
    void *mine = std::calloc(1, size);
    if (!mine)
        fatal("no memory for a worksharing construct (%zu bytes)", size);
    if (memory.compare_exchange_strong(block, mine, std::memory_order_acq_rel))
        return mine;
    std::free(mine);
    return block;
}

void ordered_begin(sched::Worker &worker) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return; // bound to no loop: a team of one thread in a serialized construct
    LoopState &state = state_of(member);
    wait_until(worker, [&] {
        return state.ordered.load(std::memory_order_acquire) == member.work.ordered_first;
    });
}

// The next thread goes on when this one is through with its piece; see pass_ordered_on.
void ordered_end(sched::Worker &) {}

bool single_begin(sched::Worker &worker) {
    Member &member = member_of(worker);
    std::uint32_t mine = member.work.singles++;
    if (member.group->size == 1)
        return true;
    std::atomic<std::uint32_t> &singles = member.team->workshares->singles;
    return singles.load(std::memory_order_relaxed) == mine &&
           singles.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

void copyprivate_publish(sched::Worker &worker, void *data) {
    member_of(worker).team->copyprivate = data;
    barrier(worker); // the others may read
    barrier(worker); // they have read: `data` may go
}

void *copyprivate_receive(sched::Worker &worker) {
    barrier(worker);
    return member_of(worker).team->copyprivate;
}

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
// Who owns and who uses each core of a node: a table on the board, in memory that processes share.
//
// A core is a right to run one thread; where a thread runs is the system's choice among the cores
// that the process may use. The owner of a core is set when processes join and leave (divide).
// Whoever computes uses one, its own or one that another process lends by not using it. Each core
// is one word, changed by compare-and-swap alone, so whoever dies leaves no lock. What it used and
// owned is given back by who sweeps the board.
//
//   who gives a core                     who wants one
//   1. makes it free in its word         1. says so: `wanting`, and `wants` of its slot
//   2. fence                             2. fence
//   3. looks at `wanting`; the policy    3. looks for a free core once more, asks the policy whom
//   to
//      chooses whose bell to ring           recall, then sleeps on the bell of its slot
//
// At least one of the two sees the other. Who stops wanting, with a core or without, looks whether
// a core is free that it was woken for, and passes the ring on.
//
// An owner who wants its core back marks it as recalled. The user leaves at its next scheduling
// point. Until then both run and the system divides the core: nobody waits for a program that
// reaches no scheduling point (`overdue`).
#pragma once

#include "node/bell.h"
#include "node/policy/policy.h"

#include <atomic>
#include <cstdint>

namespace sennit::node {

constexpr int kMostSlots = 1024;
constexpr int kMostCores = 1024; // larger core numbers are not told

// To `least`, if it is less. acq_rel: who reads it sees what was done before.
inline void raise_to(std::atomic<std::int32_t> &number, std::int32_t least) {
    std::int32_t now = number.load(std::memory_order_relaxed);
    while (now < least && !number.compare_exchange_weak(now, least, std::memory_order_acq_rel,
                                                        std::memory_order_relaxed)) {
    }
}

// A set of cores.
struct Cores {
    std::uint64_t words[kMostCores / 64] = {};
    void add(int core) { words[core / 64] |= std::uint64_t{1} << (core % 64); }
    void add(const Cores &other) {
        for (int i = 0; i < kMostCores / 64; ++i)
            words[i] |= other.words[i];
    }
    bool has(int core) const { return (words[core / 64] >> (core % 64) & 1) != 0; }
    int count() const {
        int sum = 0;
        for (const std::uint64_t word : words)
            sum += __builtin_popcountll(word);
        return sum;
    }
    int end() const { // the greatest + 1
        for (int i = kMostCores / 64; i-- > 0;)
            if (words[i] != 0)
                return i * 64 + 64 - __builtin_clzll(words[i]);
        return 0;
    }
};

// How a process takes part. In its slot; the process alone writes, but for what is said otherwise.
struct alignas(64) CoreUse {
    std::atomic<std::uint32_t> counts; // it takes part; release, read by acquire
    std::atomic<std::int32_t> wants;   // threads that wait for a core
    std::atomic<std::int32_t> without; // threads that run without one
    // Threads that are about to want a core (Share::ask). For a moment only: whoever reads looks at
    // the time.
    std::atomic<std::int32_t> asked;
    std::atomic<std::int64_t> asked_until_ns; // CLOCK_MONOTONIC
    // For those who look on (`sennit top`): since the process joined.
    std::atomic<std::int64_t> used_ns;     // on cores, summed over them
    std::atomic<std::int64_t> borrowed_ns; // of it, on others' cores
    std::atomic<std::uint64_t> borrowed;   // how often it got another one's core
    std::atomic<std::uint64_t> recalled;   // how often it left one, as its owner wanted it
    std::atomic<std::uint64_t> late;       // how often a thread ran without a core
    std::atomic<std::uint64_t> progress;   // work done (Share::note_progress)
    Bell bell;                             // its threads that want a core sleep on it
};

// What one core's word says.
struct CoreState {
    int owner = kNobody; // slots
    int user = kNobody;
    bool recalled = false;
};

class CoreTable {
  public:
    // The set of cores that anybody may use: widened by those who join.
    void widen(const Cores &cores);
    int end() const { return end_.load(std::memory_order_acquire); }
    CoreState state(int core) const;

    // Take the free core, for `slot`. False: it is not free any more.
    bool take(int core, int slot);
    // Take a free core of the slot's own among `allowed`, `near` first if it is one; kNobody: none.
    int take_own(int slot, const Cores &allowed, int near);
    // The first core that nobody uses, among `allowed`; kNobody: there is none.
    int find_free(const Cores &allowed) const;
    // The slot's use of the core ends. False: it had been taken from it (swept by mistake, or
    // dead).
    bool give(int core, int slot);
    // Its user is to leave. False: it is free, or has been recalled already.
    bool recall(int core, int by);
    // For the user, at a scheduling point.
    bool is_recalled(int core) const {
        return (cells_[core].word.load(std::memory_order_relaxed) & kRecalled) != 0;
    }
    void set_owner(int core, int owner);
    // When its use began, CLOCK_MONOTONIC; the user alone writes.
    std::atomic<std::int64_t> &since_ns(int core) { return cells_[core].since_ns; }
    // The slot's process has died, or left: all that it used is free. Returns how many cores.
    int release(int slot);

    // Who takes part has changed: of two that divide the cores, the last one knows of both.
    void note_change() { changes_.fetch_add(1, std::memory_order_acq_rel); }
    std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }

    // Threads, of all processes, that want a core.
    void want() {
        wanting_.fetch_add(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with anybody_wants()
    }
    void want_no_more(int count = 1) { wanting_.fetch_sub(count, std::memory_order_relaxed); }
    // After give().
    bool anybody_wants() const {
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with want()
        return wanting_.load(std::memory_order_relaxed) > 0;
    }

  private:
    // owner + 1 (16 bits), user + 1 (16 bits), recalled, changes (31 bits: no ABA)
    static constexpr std::uint64_t kRecalled = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kChange = std::uint64_t{1} << 33;
    static CoreState unpack(std::uint64_t word);
    // change(state) -> bool, whether to write it
    template <class Change>
    bool update(int core, Change change);

    struct alignas(64) Cell {
        std::atomic<std::uint64_t> word;
        std::atomic<std::int64_t> since_ns;
    };
    std::atomic<std::int32_t> end_;
    std::atomic<std::uint32_t> changes_;
    alignas(64) std::atomic<std::int32_t> wanting_;
    Cell cells_[kMostCores];
};

} // namespace sennit::node

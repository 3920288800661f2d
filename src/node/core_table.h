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
//   1. makes it free in its word         1. says so for its slot (wanters.h)
//   2. fence                             2. fence
//   3. looks who wants one; the          3. looks for a free core once more, asks the policy whom
//      policy chooses whose bell to         to recall, then sleeps on the bell of its slot
//      ring
//
// At least one of the two sees the other. Who stops wanting, with a core or without, looks whether
// a core is free that it was woken for, and passes the ring on.
//
// An owner who wants its core back marks it as recalled. The user leaves at its next scheduling
// point. Until then both run and the system divides the core: nobody waits for a program that
// reaches no scheduling point (`overdue`).
//
// A core whose thread has run out of work, but may go on in a moment, *rests*: threads of its
// process take it without asking anybody, and so may its owner. For all others it is in use. Who
// wants it all the same, and comes first, frees it by recalling it.
//
// Each use has a number. Who holds a core knows it, and so sees that it holds the core no more.
//
// A thread may sleep in a system call with its core: in read(), in a lock of another library. Who
// has waited for a while looks at the threads that hold cores, and takes the core of one that
// sleeps. The compare-and-swap is with the number of the use that it has seen, so a core is taken
// from that use or not at all. Who was robbed runs on beside the new user when it wakes up, and
// finds at its next scheduling point that it has no core any more.
#pragma once

#include "node/bell.h"
#include "node/policy/policy.h"
#include "node/wanters.h"

#include <atomic>
#include <cstdint>

namespace sennit::node {

// Who is to leave a core and does not within this time keeps it: then the system divides it
// between him and the owner, and it is counted. Who waits looks as often for threads that sleep.
constexpr std::int64_t kKeptNs = 2'000'000;

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
    std::atomic<std::uint64_t> kept;       // how often it left one later than kKeptNs after that
    std::atomic<std::uint64_t> late;       // how often a thread ran without a core
    // How often somebody took a core from one of its threads that slept; who took it writes.
    std::atomic<std::uint64_t> slept;
    std::atomic<std::uint64_t> progress; // work done (Share::note_progress)
    Bell bell;                           // its threads that want a core sleep on it
};

// What one core's word says.
struct CoreState {
    int owner = kNobody; // slots
    int user = kNobody;
    bool recalled = false;
    bool rests = false;
    std::uint32_t use = 0; // the number of the last use, modulo 2^30

    // May threads of this process take it, as far as the word says?
    bool is_open_to(int slot) const {
        return user == kNobody || (rests && (user == slot || owner == slot));
    }
    void free() {
        user = kNobody;
        recalled = false;
        rests = false;
    }
    std::uint32_t begin_use(int slot) { // its number
        free();
        user = slot;
        return use = (use + 1) % (std::uint32_t{1} << 30);
    }
};

// A core that a thread has taken.
struct Hold {
    int core = kNobody; // kNobody: it runs beyond the cores
    std::uint32_t use = 0;
    explicit operator bool() const { return core != kNobody; }
};

class CoreTable {
  public:
    // The set of cores that anybody may use: widened by those who join, by domains.h.
    void widen(const Cores &cores);
    int end() const { return end_.load(std::memory_order_acquire); }
    CoreState state(int core) const;

    // Take a core that is open to the slot. Nothing: it is not any more.
    Hold take(int core, int slot);
    // Take a core of the slot's own, among `allowed`, that is open to it and does not rest with it.
    // `near` first if it is one.
    Hold take_own(int slot, const Cores &allowed, int near);
    // Take a core that rests with the slot, whoever owns it.
    Hold take_rested(int slot, int near);
    // The first core among `allowed` that nobody uses, or that is open to the slot. kNobody: there
    // is none.
    int find_free(const Cores &allowed) const;
    int find_open(int slot, const Cores &allowed) const;
    // The use of the core ends. False: it had ended already, for another one has the core.
    bool give(Hold hold, int slot);
    // Take the core from a use, as it was seen, whose thread sleeps. Nothing: that use is over.
    Hold take_over(Hold from, int slot);
    // It rests. False: nothing has changed, for its use has ended, or it is to be left.
    bool rest(Hold hold, int slot);
    // Does it still rest, for who has said so?
    bool rests(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & (kRests | kUses)) == (kRests | std::uint64_t{hold.use} * kUse);
    }
    // Its user is to leave; a core that rests is free at once. False: nothing has changed.
    bool recall(int core, int by);
    // For the user, at a scheduling point: is it to leave, or has it lost the core?
    bool is_to_leave(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & (kRecalled | kUses)) != std::uint64_t{hold.use} * kUse;
    }
    // For the user: has another one taken it over?
    bool has_lost(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & kUses) != std::uint64_t{hold.use} * kUse;
    }
    // By who has taken it: when its use began, CLOCK_MONOTONIC, and the kernel's number of the
    // thread; 0: nobody is to look at it.
    void note_use(Hold hold, std::int64_t now, int thread) {
        Cell &cell = cells_[hold.core];
        cell.since_ns.store(now, std::memory_order_relaxed);
        // release: who knows the thread knows the time. With the number of the use, for a thread
        // that is not told yet is not the one before.
        cell.thread.store(std::uint64_t{hold.use} << 32 | static_cast<std::uint32_t>(thread),
                          std::memory_order_release);
    }
    int thread_of(Hold hold) const {
        const std::uint64_t told = cells_[hold.core].thread.load(std::memory_order_acquire);
        return told >> 32 == hold.use ? static_cast<int>(told & 0xffffffff) : 0;
    }
    std::int64_t since_ns(int core) const {
        return cells_[core].since_ns.load(std::memory_order_relaxed);
    }
    // Since when the user of this hold is to leave, CLOCK_MONOTONIC; 0: it is not. A hint: of who
    // is recalled just now the time may not be there yet.
    std::int64_t recalled_since(Hold hold) const;
    void set_owner(int core, int owner);
    // Of memory (NUMA).
    void set_domain(int core, int domain) {
        cells_[core].domain.store(domain, std::memory_order_relaxed);
    }
    int domain(int core) const { return cells_[core].domain.load(std::memory_order_relaxed); }
    // The slot's process has died, or left: all that it used is free, and it wants nothing. Whoever
    // dies in it leaves the rest to the next one. Returns how many cores.
    int release(int slot);

    // Who takes part has changed: of two that divide the cores, the last one knows of both.
    void note_change() { changes_.fetch_add(1, std::memory_order_acq_rel); }
    std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
    // The owners are those for as many changes. Who divides may die before it says so, then
    // somebody else does it again.
    void note_divided(std::uint32_t changes) { divided_.store(changes, std::memory_order_release); }
    bool is_divided() const { return divided_.load(std::memory_order_acquire) == changes(); }

    // A thread of the slot's process wants a core. Who wants it no more looks for a free one then,
    // and passes it on.
    void want(int slot) { wanters_.add(slot); }
    void want_no_more(int slot) { wanters_.remove(slot); }
    int wants(int slot) const { return wanters_.count(slot); }
    // After give(), want_no_more().
    bool anybody_wants() const { return wanters_.any(); }
    // The same as a hint.
    bool somebody_wants() const { return wanters_.seem(); }

  private:
    // owner + 1 (16 bits), user + 1 (16 bits), recalled, rests, number of the use (30 bits)
    static constexpr std::uint64_t kRecalled = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kRests = std::uint64_t{1} << 33;
    static constexpr std::uint64_t kUse = std::uint64_t{1} << 34;
    static constexpr std::uint64_t kUses = ~(kUse - 1);
    static CoreState unpack(std::uint64_t word);
    static std::uint64_t pack(const CoreState &state);
    // change(state) -> bool, whether to write it
    template <class Change>
    bool update(int core, Change change);
    Hold begun(int core, std::uint32_t use);
    template <class Accept>
    Hold take_first(int slot, int near, Accept accept);

    struct alignas(64) Cell {
        std::atomic<std::uint64_t> word;
        std::atomic<std::int64_t> since_ns; // the user alone writes this and `thread`
        std::atomic<std::uint64_t> thread;  // of a use (upper half): note_use
        // Of the last recall; 0: of the use before. By who recalls, after the word.
        std::atomic<std::int64_t> recalled_ns;
        std::atomic<std::int32_t> domain;
    };
    std::atomic<std::int32_t> end_;
    std::atomic<std::uint32_t> changes_;
    std::atomic<std::uint32_t> divided_;
    Wanters<kMostSlots> wanters_;
    Cell cells_[kMostCores];
};

} // namespace sennit::node

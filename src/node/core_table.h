// SPDX-License-Identifier: Apache-2.0
// The cores of a node, who owns each and who uses it: a table on the board, in memory that
// processes share.
//
// To have a core is to have the right to run one thread. Where the thread runs is the system's
// choice, among the cores that the process may use. When processes join and leave, divide_cores()
// sets the owner of each core. A process that computes uses a core: its own one, or one that the
// owner lends because it does not use it.
//
// Each core is one word, which only compare-and-swap changes. So a process that dies leaves no
// lock. The process that sweeps the board gives back what the dead one has used and owned.
//
//   a thread that gives a core           a thread that wants one
//   1. makes the core free in its word   1. says so for its slot (wanters.h)
//   2. fence                             2. fence
//   3. looks who wants one; the          3. looks for a free core once more, asks the policy whom
//      policy chooses whose bell to         to recall, then sleeps on the bell of its slot
//      ring
//
// At least one of the two sees the other. A ring is for one free core. A thread that was rung may
// stop wanting, with another core or without one. Then it looks whether that core is still free,
// and rings for the next one.
//
// An owner that wants its core back *recalls* it. The user leaves the core at its next scheduling
// point. Until then both run, and the system divides the core. So nobody waits for a program that
// reaches no scheduling point (CoreUse::kept).
//
// A core *rests* if its thread has run out of work, but may go on in a moment. Threads of the same
// process take a resting core without asking anybody, and so may its owner. For all others it is in
// use. They can only recall it, as they recall any core: that frees a resting core at once.
//
// Each use of a core has a number. A thread that holds a core knows the number of its use. So it
// sees if it holds the core no more.
//
// A thread may sleep in a system call with its core: in read(), in a lock of another library. A
// thread that has waited for a while looks at the threads that hold cores, and takes the core of
// one that sleeps. Its compare-and-swap has the number of the use that it has seen. So it takes the
// core from that use or not at all. When the robbed thread wakes up, it runs on beside the new
// user, and finds at its next scheduling point that it has no core any more.
#pragma once

#include "base/assert.h"
#include "base/spin.h"
#include "decide/cores/policy.h"
#include "wait/bell.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace sennit::node {

// Which processes of a board want a core. Each slot has a count of its threads that want one, and a
// bit that is set if the count is not 0. A thread that gives a core looks at the bits alone: two
// cache lines for all slots.
//
//   a thread that wants a core     a thread that wants one no more
//   1. count + 1                   1. count - 1; if others are left, that is all
//   2. sets the bit                2. clears the bit
//   3. fence                       3. looks at the count again; if others have come, sets the bit
//   4. looks for a free core       4. fence, looks for a free core, passes it on (Share)
//
// Invariant: if a count is not 0, and no thread is at one of these steps, the bit is set. For if
// step 2 on the right comes last, it sees the count that was raised before step 2 on the left
// (release, acquire). A giver that looks between steps 2 and 3 on the right finds the bit clear and
// tells nobody. Then step 4 on the right, with its fence, finds that core.
//
// A process that dies between two steps leaves a bit too many, or a count without its bit. Nobody
// waits for the dead process. The process that sweeps its slot clears both (reset).

template <int kSlots>
class Wanters {
  public:
    void add(int slot) {
        counts_[slot].fetch_add(1, std::memory_order_relaxed);
        word(slot).fetch_or(bit(slot), std::memory_order_release); // pairs with remove()
        full_fence();                                              // pairs with any()
    }
    void remove(int slot) {
        const std::int32_t before = counts_[slot].fetch_sub(1, std::memory_order_relaxed);
        SENNIT_ASSERT(before > 0);
        if (before != 1)
            return;
        word(slot).fetch_and(~bit(slot), std::memory_order_acq_rel); // pairs with add()
        if (count(slot) > 0)
            word(slot).fetch_or(bit(slot), std::memory_order_release);
    }
    // The slot's process has died, or left. Called by one process at a time. If that one dies
    // meanwhile, the next one does the rest.
    void reset(int slot) {
        counts_[slot].store(0, std::memory_order_relaxed);
        word(slot).fetch_and(~bit(slot), std::memory_order_relaxed);
    }
    int count(int slot) const { return counts_[slot].load(std::memory_order_relaxed); }
    // Does anybody want a core that the caller has freed before?
    bool any() const {
        full_fence(); // pairs with add()
        return seem();
    }
    // The same without the fence: a hint.
    bool seem() const {
        std::uint64_t all = 0;
        for (const Atomic<std::uint64_t> &word : words_)
            all |= word.load(std::memory_order_relaxed);
        return all != 0;
    }

  private:
    static constexpr int kBits = 64;
    Atomic<std::uint64_t> &word(int slot) { return words_[slot / kBits]; }
    static std::uint64_t bit(int slot) {
        return std::uint64_t{1} << (static_cast<unsigned>(slot) % kBits);
    }

    alignas(64) Atomic<std::uint64_t> words_[kSlots / kBits];
    alignas(64) Atomic<std::int32_t> counts_[kSlots];
    static_assert(kSlots % kBits == 0);
};

// A user that is to leave a core and does not do so within this time *keeps* it. That is counted;
// the system divides the core between the user and the owner. A thread that waits for a core looks
// for threads that sleep at this interval, too.
constexpr std::int64_t kKeptNs = 2'000'000;

constexpr int kMostSlots = 1024;
constexpr int kMostCores = 1024; // cores with larger numbers are left out

// Raise `number` to `least` if it is less. acq_rel: a reader of the number sees what was done
// before.
inline void raise_to(Atomic<std::int32_t> &number, std::int32_t least) {
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
    int end() const { // the greatest core + 1
        for (int i = kMostCores / 64; i-- > 0;)
            if (words[i] != 0)
                return i * 64 + 64 - __builtin_clzll(words[i]);
        return 0;
    }
};

// How a process takes part. It is in the process's slot, and only the process writes it, except
// where a comment says otherwise.
struct alignas(64) CoreUse {
    Atomic<std::uint32_t> counts; // it takes part; release, read by acquire
    Atomic<std::int32_t> without; // threads that run without one
    // Threads that are about to want a core (Share::ask). It holds for a moment only, so readers
    // look at the time.
    Atomic<std::int32_t> asked;
    Atomic<std::int64_t> asked_until_ns; // CLOCK_MONOTONIC
    // For observers (`sennit top`), counted since the process joined:
    Atomic<std::int64_t> used_ns;     // on cores, summed over them
    Atomic<std::int64_t> borrowed_ns; // of it, on others' cores
    Atomic<std::uint64_t> borrowed;   // how often it got another one's core
    Atomic<std::uint64_t> recalled;   // how often it left one, as its owner wanted it
    Atomic<std::uint64_t> kept;       // how often it left one more than kKeptNs later
    Atomic<std::uint64_t> late;       // how often a thread ran without a core
    // How often a core was taken from one of its threads that slept. The taker writes it.
    Atomic<std::uint64_t> slept;
    Atomic<std::uint64_t> progress; // work done (Share::note_progress)
    wait::Bell bell;                // the threads that want a core sleep on it
};

// What one core's word says.
struct CoreState {
    int owner = kNobody; // slots
    int user = kNobody;
    bool recalled = false;
    bool rests = false;
    std::uint32_t use = 0; // the number of the last use, modulo 2^30

    // A core that is to be left, or that rests, is in use. A core that rests is never to be left:
    // it is free at once.
    bool is_sound() const {
        return !(recalled && rests) && (user != kNobody || (!recalled && !rests));
    }

    // May threads of this slot's process take the core, as far as the word says?
    bool is_open_to(int slot) const {
        return user == kNobody || (rests && (user == slot || owner == slot));
    }
    void free() {
        user = kNobody;
        recalled = false;
        rests = false;
    }
    std::uint32_t begin_use(int slot) { // returns the number of the use
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
    // Add `cores` to the cores that any process may use. A process that joins calls it, by
    // domains.h.
    void widen(const Cores &cores);
    int end() const { return end_.load(std::memory_order_acquire); }
    CoreState state(int core) const;

    // Take a core that is open to the slot. An empty Hold: the core is open no more.
    Hold take(int core, int slot);
    // Take a core among `allowed` that the slot owns, that is open to it, and that does not rest
    // with it. If `near` is such a core, take that one.
    Hold take_own(int slot, const Cores &allowed, int near);
    // Take a core that rests with the slot, no matter who owns it.
    Hold take_rested(int slot, int near);
    // find_free: the first core among `allowed` that nobody uses. find_open: the first one that is
    // open to the slot. kNobody: there is none.
    int find_free(const Cores &allowed) const;
    int find_open(int slot, const Cores &allowed) const;
    // The use of the core ends. False: it had ended already, because another thread has the core.
    bool give(Hold hold, int slot);
    // Take the core from the use `from`, whose thread was seen asleep. An empty Hold: that use is
    // over.
    Hold take_over(Hold from, int slot);
    // From now on the core rests. False: nothing has changed, because the use has ended, or the
    // user is to leave.
    bool rest(Hold hold, int slot);
    // Does the core still rest, in the use of `hold`?
    bool rests(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & (kRests | kUses)) == (kRests | std::uint64_t{hold.use} * kUse);
    }
    // The core's user is to leave it. A core that rests is free at once. False: nothing has
    // changed.
    bool recall(int core, int by);
    // For the user, at a scheduling point: is it to leave the core, or has it lost it?
    bool is_to_leave(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & (kRecalled | kUses)) != std::uint64_t{hold.use} * kUse;
    }
    // For the user: has another thread taken the core over?
    bool has_lost(Hold hold) const {
        const std::uint64_t word = cells_[hold.core].word.load(std::memory_order_relaxed);
        return (word & kUses) != std::uint64_t{hold.use} * kUse;
    }
    // Called by the thread that has taken the core: when the use began (CLOCK_MONOTONIC), and the
    // kernel's number of the thread. With 0 nobody looks at the thread.
    void note_use(Hold hold, std::int64_t now, int thread) {
        Cell &cell = cells_[hold.core];
        cell.since_ns.store(now, std::memory_order_relaxed);
        // release: a reader that sees the thread sees the time. The number of the use is stored
        // beside the thread. So nobody takes the thread of the last use for that of this one.
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
    // Since when the user of this hold is to leave (CLOCK_MONOTONIC). 0: it is not to leave. A
    // hint: if the core is recalled just now, the time may not be there yet.
    std::int64_t recalled_since(Hold hold) const;
    void set_owner(int core, int owner);
    // The core's domain of memory (NUMA).
    void set_domain(int core, int domain) {
        cells_[core].domain.store(domain, std::memory_order_relaxed);
    }
    int domain(int core) const { return cells_[core].domain.load(std::memory_order_relaxed); }
    // Has every core a sound state, with owner and user among the slots below those that
    // `slots_end()` says? It is asked after the core was read: others take slots meanwhile.
    template <class SlotsEnd>
    bool is_sound(SlotsEnd slots_end) const {
        for (int core = 0; core < kMostCores; ++core)
            if (const CoreState now = state(core);
                !now.is_sound() || std::max(now.owner, now.user) >= slots_end())
                return false;
        return end() >= 0 && end() <= kMostCores;
    }
    // The slot's process has died, or left: free all cores that it used, and clear what it wanted.
    // Returns the number of cores. If the caller dies meanwhile, the next one does the rest.
    int release(int slot);

    // Another set of processes takes part. If two changes come at once, the process that divides
    // the cores last knows of both.
    void note_change() { changes_.fetch_add(1, std::memory_order_acq_rel); }
    std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
    // The owners are now set as of that many changes. A process that divides may die before it says
    // so; then another one divides again.
    void note_divided(std::uint32_t changes) { divided_.store(changes, std::memory_order_release); }
    bool is_divided() const { return divided_.load(std::memory_order_acquire) == changes(); }

    // A thread of the slot's process wants a core. After want_no_more() the thread looks for a free
    // core, and passes it on.
    void want(int slot) { wanters_.add(slot); }
    void want_no_more(int slot) { wanters_.remove(slot); }
    int wants(int slot) const { return wanters_.count(slot); }
    // Does anybody want a core? Called after give() or want_no_more().
    bool anybody_wants() const { return wanters_.any(); }
    // The same without the fence: a hint.
    bool somebody_wants() const { return wanters_.seem(); }

  private:
    // owner + 1 (16 bits), user + 1 (16 bits), recalled, rests, number of the use (30 bits)
    static constexpr std::uint64_t kRecalled = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kRests = std::uint64_t{1} << 33;
    static constexpr std::uint64_t kUse = std::uint64_t{1} << 34;
    static constexpr std::uint64_t kUses = ~(kUse - 1);
    static CoreState unpack(std::uint64_t word);
    static std::uint64_t pack(const CoreState &state);
    // change(state) returns whether to write the state back.
    template <class Change>
    bool update(int core, Change change);
    Hold begun(int core, std::uint32_t use);
    template <class Accept>
    Hold take_first(int slot, int near, Accept accept);

    struct alignas(64) Cell {
        Atomic<std::uint64_t> word;
        Atomic<std::int64_t> since_ns; // only the user writes this and `thread`
        Atomic<std::uint64_t> thread;  // number of the use (upper half), thread: note_use
        // The time of the last recall; 0: it was of the use before. The one that recalls writes it,
        // after the word.
        Atomic<std::int64_t> recalled_ns;
        Atomic<std::int32_t> domain;
    };
    Atomic<std::int32_t> end_;
    Atomic<std::uint32_t> changes_;
    Atomic<std::uint32_t> divided_;
    Wanters<kMostSlots> wanters_;
    Cell cells_[kMostCores];
};

} // namespace sennit::node

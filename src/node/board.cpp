// SPDX-License-Identifier: Apache-2.0
#include "node/board.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/small_file.h"
#include "base/spin.h"
#include "node/assembly.h"
#include "node/pool.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace sennit::node {
namespace {

struct Header {
    char magic[sizeof kMagic]; // the segment's
    std::uint32_t version;
    std::uint32_t slots;
};

constexpr int kMostAssemblies = 64;

struct Layout {
    Header header;
    PoolSettings pool;
    Memory memory;
    CoreTable cores;
    CoreWork work;
    Assembly assemblies[kMostAssemblies];
    Assembly::Part parts[kMostSlots][Board::kLanes];
    Atomic<std::int32_t> slots_end;
    BoardSlot slots[kMostSlots];
};

// The rest works on zeroed memory.
void begin(void *memory) {
    auto &header = *static_cast<Header *>(memory);
    header.version = kBoardVersion;
    header.slots = kMostSlots;
}

bool is_of_this_version(const Header &header) {
    return header.version == kBoardVersion && header.slots == kMostSlots;
}

Layout &layout(const Segment &segment) {
    return *static_cast<Layout *>(segment.memory());
}

} // namespace

SpinLock Board::claims_;

Cores allowed_cores() {
    Cores cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return cores;
    for (int core = 0; core < kMostCores && core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set))
            cores.add(core);
    return cores;
}

std::uint64_t scheduling_group() {
    char text[64];
    unsigned long long group = 0;
    if (read_small_file("/proc/sys/kernel/sched_autogroup_enabled", text, sizeof text) == 0 ||
        text[0] != '1' || read_small_file("/proc/self/autogroup", text, sizeof text) == 0 ||
        std::sscanf(text, "/autogroup-%llu", &group) != 1)
        return 0;
    return group;
}

ProcessInfo own_member(const Membership &membership) {
    ProcessInfo member;
    member.cores = allowed_cores();
    member.group = scheduling_group();
    member.share = membership.share;
    member.priority = membership.precedence.priority;
    member.leftover = membership.precedence.leftover;
    std::snprintf(member.program, sizeof member.program, "%s", program_invocation_short_name);
    return member;
}

std::uint64_t new_job() {
    const std::uint64_t mixed =
        (own_identity() ^ static_cast<std::uint64_t>(monotonic_ns())) * kGolden;
    return (mixed ^ mixed >> 29) | 1;
}

bool Board::open(const char *path, Reason &reason) {
    if (!segment_.open(path, sizeof(Layout), begin, reason))
        return false;
    if (is_of_this_version(layout(segment_).header)) {
        SENNIT_ASSERT(is_sound());
        return true;
    }
    reason.say("%s is of another version of Sennit, and in use", path);
    segment_.close();
    return false;
}

SENNIT_HOT BoardSlot &Board::slot(int number) {
    return layout(segment_).slots[number];
}

int Board::number_of(const BoardSlot &slot) {
    return static_cast<int>(&slot - layout(segment_).slots);
}

int Board::slots_end() {
    return layout(segment_).slots_end.load(std::memory_order_acquire);
}

CoreTable &Board::core_table() {
    return layout(segment_).cores;
}

CoreWork &Board::core_work() {
    return layout(segment_).work;
}

PoolSettings &Board::pool() {
    return layout(segment_).pool;
}

Memory &Board::policy_memory() {
    return layout(segment_).memory;
}

Assembly &Board::assembly(int number) {
    return layout(segment_).assemblies[number];
}

int Board::number_of(const Assembly &assembly) {
    return static_cast<int>(&assembly - layout(segment_).assemblies);
}

Assembly::Part &Board::part(int slot, int lane) {
    return layout(segment_).parts[slot][lane];
}

bool Board::is_sound() {
    const Layout &all = layout(segment_);
    for (int i = 0; i < kMostSlots; ++i)
        if (all.slots[i].job.load(std::memory_order_acquire) != 0 && i >= slots_end())
            return false;
    return is_of_this_version(all.header) && slots_end() <= kMostSlots &&
           all.cores.is_sound([this] { return slots_end(); });
}

bool Board::is_there(std::uint64_t job) {
    bool found = false;
    each([&](int, const BoardSlot &slot) {
        found = found || slot.job.load(std::memory_order_relaxed) == job;
    });
    return found;
}

// A job that nobody is left of does not come back: who sees that may claim its place.
Assembly *Board::claim_assembly(std::uint64_t job) {
    for (const bool swept : {false, true}) {
        if (swept)
            sweep();
        for (Assembly &assembly : layout(segment_).assemblies) {
            const std::uint64_t before = assembly.job();
            if ((before == 0 || (swept && !is_there(before))) && assembly.claim(before, job))
                return &assembly;
        }
    }
    return nullptr;
}

// What this process has left that ran another program before: its slot, and those that another
// thread of it was sweeping, or taking, when exec() ended that thread. These have no job. Nobody of
// this program has such a slot in hands just now: not in this library, for we have `claims_`, and
// not in the one that shares cores by a slot of ours, for then only that slot is forgotten.
void Board::forget_past() {
    const Identity own = own_identity();
    const auto is_ours = [&](const BoardSlot &one) {
        return one.holder.load(std::memory_order_acquire) == own;
    };
    bool shares = false;
    each([&](int, const BoardSlot &one) {
        shares = shares || (is_ours(one) && one.image == own_image() &&
                            one.cores.counts.load(std::memory_order_relaxed) != 0);
    });
    for (BoardSlot &past : layout(segment_).slots) {
        const Identity holder = past.holder.load(std::memory_order_relaxed);
        if (is_ours(past) ? past.image != own_image() &&
                                (!shares || past.job.load(std::memory_order_acquire) != 0)
                          : pid_of(holder) == getpid() && take_over(past, holder))
            clear(past);
    }
}

BoardSlot *Board::join(std::uint64_t job, const ProcessInfo &member) {
    const Identity own = own_identity();
    const Guard guard(claims_);
    forget_past();
    for (const bool swept : {false, true}) {
        if (swept && sweep_inside() == 0)
            break;
        for (BoardSlot &slot : layout(segment_).slots) {
            Identity nobody = 0;
            // acquire: what the holder before has written is over.
            if (slot.holder.load(std::memory_order_relaxed) != 0 ||
                !slot.holder.compare_exchange_strong(nobody, own, std::memory_order_acquire,
                                                     std::memory_order_relaxed))
                continue;
            // clear() leaves nothing behind.
            SENNIT_ASSERT(slot.job.load(std::memory_order_relaxed) == 0 &&
                          slot.cores.counts.load(std::memory_order_relaxed) == 0);
            slot.image = own_image();
            slot.member = member;
            part(number_of(slot)).clear();
            raise_to(layout(segment_).slots_end, number_of(slot) + 1);
            slot.job.store(job, std::memory_order_release); // pairs with each()
            SENNIT_ASSERT(is_sound());
            return &slot;
        }
    }
    return nullptr;
}

void Board::leave(BoardSlot &slot) {
    clear(slot);
}

// Whoever's identity the slot has now is the only one to do this. It may die at any step: then the
// next one finds the slot, and does all of it again, for `counts` and `holder` come last.
void Board::clear(BoardSlot &slot) {
    SENNIT_ASSERT(slot.holder.load(std::memory_order_relaxed) == own_identity());
    slot.job.store(0, std::memory_order_relaxed);
    slot.spent.clear();
    CoreUse &use = slot.cores;
    CoreTable &table = core_table();
    if (use.counts.load(std::memory_order_acquire) != 0) {
        table.release(number_of(slot));
        use.without.store(0, std::memory_order_relaxed);
        use.asked.store(0, std::memory_order_relaxed);
        for (auto *count :
             {&use.borrowed, &use.recalled, &use.kept, &use.late, &use.slept, &use.progress})
            count->store(0, std::memory_order_relaxed);
        use.used_ns.store(0, std::memory_order_relaxed);
        use.borrowed_ns.store(0, std::memory_order_relaxed);
        table.note_change();
        use.counts.store(0, std::memory_order_release);
    }
    slot.holder.store(0, std::memory_order_release);
}

// From one that is dead. True: the slot is ours, so that one sweeper clears it, and another can if
// we die before it is done.
bool Board::take_over(BoardSlot &slot, Identity dead) {
    return !is_alive(dead) &&
           slot.holder.compare_exchange_strong(dead, own_identity(), std::memory_order_acquire,
                                               std::memory_order_relaxed);
}

// While another thread of the process sweeps or joins there is nothing to do: it does the same.
int Board::sweep() {
    if (!claims_.try_lock())
        return 0;
    const Guard guard(claims_, AlreadyHeld{});
    return sweep_inside();
}

void Board::abandon() {
    segment_.abandon();
    claims_.after_fork_in_child();
}

int Board::sweep_inside() {
    int freed = 0;
    const Identity own = own_identity();
    for (BoardSlot &slot : layout(segment_).slots) {
        const Identity holder = slot.holder.load(std::memory_order_relaxed);
        if (holder == 0 || holder == own || !take_over(slot, holder))
            continue;
        clear(slot);
        ++freed;
    }
    SENNIT_ASSERT(is_sound());
    return freed;
}

namespace {

void sleep_for(timespec left) {
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

} // namespace

// All relaxed: only the word itself counts.
void Ending::claim(std::uint64_t job, const timespec &patience) {
    constexpr std::uint64_t most = 1 << 16; // claims of a job: each takes long
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint64_t outwaited = 0; // a claim
    for (;;) {
        const bool is_claimed = seen - job < most;
        if (is_claimed && seen != outwaited) {
            sleep_for(patience);
            outwaited = seen;
            seen = word_.load(std::memory_order_relaxed);
        } else if (word_.compare_exchange_strong(seen, is_claimed ? seen + 1 : job,
                                                 std::memory_order_relaxed)) {
            return;
        }
    }
}

// acquire: what the job before has written is over.
bool Assembly::claim(std::uint64_t seen, std::uint64_t job) {
    return job_.compare_exchange_strong(seen, job, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
}

void Assembly::begin(int members) {
    members_ = members;
    left_.store(0, std::memory_order_relaxed);
    here_.store(0, std::memory_order_relaxed);
    over_.store(0, std::memory_order_relaxed);
    for (Note &note : notes_)
        note.clear();
}

} // namespace sennit::node

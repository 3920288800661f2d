// SPDX-License-Identifier: Apache-2.0
#include "node/board.h"

#include "base/clock.h"
#include "base/small_file.h"
#include "node/pool.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sched.h>

namespace sennit::node {
namespace {

struct Header {
    char magic[sizeof kMagic]; // the segment's
    std::uint32_t version;
    std::uint32_t slots;
};

constexpr int kMostAssemblies = 8;

struct Layout {
    Header header;
    PoolSettings pool;
    Memory memory;
    CoreTable cores;
    Assembly assemblies[kMostAssemblies];
    std::atomic<std::int32_t> slots_end;
    Slot slots[kMostSlots];
};

// The rest works on zeroed memory.
void begin(void *memory) {
    auto &header = *static_cast<Header *>(memory);
    header.version = kBoardVersion;
    header.slots = kMostSlots;
}

Layout &layout(const Segment &segment) {
    return *static_cast<Layout *>(segment.memory());
}

} // namespace

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

Member own_member(const Membership &membership) {
    Member member;
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
        (own_identity() ^ static_cast<std::uint64_t>(monotonic_ns())) * 0x9e3779b97f4a7c15U;
    return (mixed ^ mixed >> 29) | 1;
}

bool Board::open(const char *path, Reason &reason) {
    if (!segment_.open(path, sizeof(Layout), begin, reason))
        return false;
    const Header &header = layout(segment_).header;
    if (header.version == kBoardVersion && header.slots == kMostSlots)
        return true;
    reason.say("%s is of another version of Sennit, and in use", path);
    segment_.close();
    return false;
}

Slot &Board::slot(int number) {
    return layout(segment_).slots[number];
}

int Board::number_of(const Slot &slot) {
    return static_cast<int>(&slot - layout(segment_).slots);
}

int Board::slots_end() {
    return layout(segment_).slots_end.load(std::memory_order_acquire);
}

CoreTable &Board::core_table() {
    return layout(segment_).cores;
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

bool Board::is_there(std::uint64_t job) {
    bool found = false;
    each([&](int, const Slot &slot) {
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

// What this process has left that ran another program before.
void Board::forget_past() {
    const Identity own = own_identity();
    for (int i = 0, end = slots_end(); i < end; ++i) {
        Slot &past = slot(i);
        std::uint64_t job = past.job.load(std::memory_order_acquire);
        if (job != 0 && past.holder.load(std::memory_order_relaxed) == own &&
            past.image != own_image() &&
            past.job.compare_exchange_strong(job, 0, std::memory_order_relaxed)) // one thread does
            clear(past);
    }
}

Slot *Board::join(std::uint64_t job, const Member &member) {
    const Identity own = own_identity();
    forget_past();
    for (const bool swept : {false, true}) {
        if (swept && sweep() == 0)
            break;
        for (Slot &slot : layout(segment_).slots) {
            Identity nobody = 0;
            // acquire: what the holder before has written is over.
            if (slot.holder.load(std::memory_order_relaxed) != 0 ||
                !slot.holder.compare_exchange_strong(nobody, own, std::memory_order_acquire,
                                                     std::memory_order_relaxed))
                continue;
            slot.image = own_image();
            slot.member = member;
            raise_to(layout(segment_).slots_end, number_of(slot) + 1);
            slot.job.store(job, std::memory_order_release); // pairs with each()
            return &slot;
        }
    }
    return nullptr;
}

void Board::leave(Slot &slot) {
    clear(slot);
}

// Whoever's identity the slot has now is the only one to do this. It may die at any step: then the
// next one finds the slot, and does all of it again, for `counts` and `holder` come last.
void Board::clear(Slot &slot) {
    slot.job.store(0, std::memory_order_relaxed);
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

int Board::sweep() {
    int freed = 0;
    const Identity own = own_identity();
    for (Slot &slot : layout(segment_).slots) {
        Identity holder = slot.holder.load(std::memory_order_relaxed);
        if (holder == 0 || holder == own || is_alive(holder))
            continue;
        // Ours, so that one sweeper clears it, and another can if we die before it is done.
        if (!slot.holder.compare_exchange_strong(holder, own, std::memory_order_acquire,
                                                 std::memory_order_relaxed))
            continue;
        clear(slot);
        ++freed;
    }
    return freed;
}

} // namespace sennit::node

// SPDX-License-Identifier: Apache-2.0
// Who gets which core of a node. Pure functions of what the board shows: no threads, no clocks, no
// shared memory. So the simulator drives the same code (sim/).
//
// A view may be out of date when it is judged. So a verdict is a hint: what it leads to is done by
// compare-and-swap on the core's word (node/core_table.h), and judged again when that fails.
//
// A core that somebody wants and may use is never refused to all. But who was refused a free core
// is not told when those before it want less: it looks again when it is rung, and now and then.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sennit::node {

constexpr int kNobody = -1;
constexpr int kMostPrograms = 32; // for which targets are sought; others get their share
constexpr std::int64_t kRethinkNs = 100'000'000;

// A process that takes part.
struct Claimant {
    int program = 0;          // ranks of one program have the same
    double share = 1;         // of the program, relative to the other programs'
    int priority = 0;         // of the program: greater is served first
    bool leftover = false;    // it gets only what others leave
    int owns = 0;             // cores
    int uses = 0;             // cores, its own or lent ones
    int wants = 0;            // threads of it that wait for a core, with the one that asks
    std::int64_t used_ns = 0; // time on cores, summed over them, since the board looked at it first
    double progress = 0;      // work done in this time, in a unit of the program's own
    int limit = 0;            // of the program, from Memory
};

struct Core {
    int owner = kNobody; // of the claimants
    int user = kNobody;
    int domain = 0; // of memory (NUMA)
};

// May the claimant's threads run on the core? All may if there is no function.
struct Allowed {
    bool (*function)(void *argument, int core, int claimant) = nullptr;
    void *argument = nullptr;
    bool operator()(int core, int claimant) const {
        return !function || function(argument, core, claimant);
    }
};

struct View {
    std::span<const Claimant> claimants;
    std::span<const Core> cores;
    Allowed allowed = {};
};

// What is known of the programs, as the board keeps it between two calls of rethink(). All zero:
// nothing yet. Plain data in shared memory, which one process at a time works on. The policy writes
// it; others read `target` and `limit`.
struct Memory {
    // Progress per second, as measured with so many cores.
    struct Speed {
        std::int32_t cores = 0;
        std::uint32_t when = 0; // of the measurements
        double speed = 0;
    };
    static constexpr int kMostSpeeds = 16;
    struct Program {
        std::int32_t program = 0;
        std::int32_t taken = 0;  // 0: the row is free
        std::int32_t target = 0; // cores that it is to own; 0: by its share
        // It gets no faster with more cores than that: it borrows none beyond. 0: not known.
        std::int32_t limit = 0;
        std::int64_t used_ns = 0;   // its claimants', when the measurement began
        double progress = 0;        // as well
        double behind = 0;          // seconds of core time that it has missed
        std::int64_t short_ns = 0;  // when it last wanted more than it had
        std::int32_t surprises = 0; // in a row: above what was expected, or (negative) below
        std::int32_t speed_count = 0;
        Speed speeds[kMostSpeeds]; // by cores
    };
    std::int64_t began_ns = 0;  // of the measurement; 0: none
    std::int32_t looks = 0;     // in it
    std::int32_t window = 0;    // looks that it takes; 0: the least
    std::int32_t agreed = 0;    // measurements in a row that were as those before
    std::int32_t quiet = 0;     // measurements since the targets changed
    std::uint32_t measured = 0; // measurements
    std::uint32_t probes = 0;
    std::int32_t probing = 0; // the targets are for a measurement only
    Program programs[kMostPrograms];
};

class Policy {
  public:
    // May `claimant`, a thread of which has no core, take this core, which nobody uses?
    virtual bool may_take(const View &view, int core, int claimant) const = 0;
    // Which of those who want one is to be told of a core that has become free; kNobody: none.
    virtual int receiver(const View &view, int core) const = 0;
    // A thread of `claimant` has found no free core. From which core is its user to go at its next
    // scheduling point? kNobody: from none. Nobody is asked twice: not from a core that
    // `is_recalled` already.
    virtual int recalls(const View &view, int claimant,
                        std::span<const bool> is_recalled) const = 0;
    // Every kRethinkNs: new targets, from what was measured. True: divide() again.
    virtual bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const = 0;

  protected:
    ~Policy() = default; // all policies are constants
};

// The free core that the claimant should take, of those it may: its own, else one of its domains,
// else any. kNobody: none.
int best_free(const Policy &policy, const View &view, int claimant);

// After rethink(): a core whose user is to go at its next scheduling point, for its program uses
// more than its limit, and owns none of these. One at a time; kNobody: no more.
int surplus(const View &view, std::span<const bool> is_recalled);

// The owner of each core: owners[core] is a claimant or kNobody. Programs get cores by their
// targets, else by their shares, and ranks of one program alike; who gets only what others leave
// owns none. As many cores as possible keep their owner, and a claimant gets cores of one domain as
// far as there are. If there are more claimants than cores, who wants one and has none gets its
// turn. At most kMostDivided claimants; others own none.
void divide(const View &view, const Memory &memory, std::span<int> owners);
constexpr int kMostDivided = 1024;

// What rethink() has found for this program; null: nothing.
const Memory::Program *find_program(const Memory &memory, int program);

// "static", "lend", "fair", "moldable"; null: no such policy. (SENNIT_POOL_POLICY, `sennit pool`.)
const Policy *policy_of(std::string_view name);
std::span<const std::string_view> policy_names();

} // namespace sennit::node

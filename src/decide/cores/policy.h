// SPDX-License-Identifier: Apache-2.0
// Policies: which process gets which core of a node. They are pure functions of what the board
// shows: no threads, no clocks, no shared memory. So the simulator runs the same code (sim/).
//
// A view may be out of date when a policy judges it. So a verdict is a hint. A compare-and-swap on
// the core's word (node/core_table.h) carries it out. If that fails, the policy judges again.
//
// If somebody wants a core and may use it, the core is not refused to everybody. But a claimant
// that was refused a free core is not told when those before it want less. It looks again when it
// is rung, and now and then.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sennit::node {

constexpr int kNobody = -1;
constexpr int kMostPrograms = 32; // so many can have targets; others get their share
constexpr std::int64_t kRethinkNs = 100'000'000;

// A process that takes part.
struct Claimant {
    int program = 0;          // the same number for all ranks of a program
    double share = 1;         // of the program, relative to the other programs'
    int priority = 0;         // of the program: greater is served first
    bool leftover = false;    // it gets only what others leave
    int owns = 0;             // cores
    int uses = 0;             // cores, its own or lent ones
    int wants = 0;            // its threads that wait for a core, with the one that asks
    std::int64_t used_ns = 0; // time on cores, summed over them, since the board's first look at it
    double progress = 0;      // work done in this time, in a unit of the program's own
    int limit = 0;            // the program's, from Memory
};

struct Core {
    int owner = kNobody; // of the claimants
    int user = kNobody;
    int domain = 0; // of memory (NUMA)
};

// May the claimant's threads run on the core? Without a function, all may.
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

// What is known of the programs. The board keeps it between two calls of rethink(). If all is zero,
// nothing is known yet. It is plain data in shared memory, on which one process at a time works.
// The policy writes it; others read `target` and `limit`.
struct Memory {
    // A measured speed: progress per second with so many cores.
    struct Speed {
        std::int32_t cores = 0;
        std::uint32_t when = 0; // the number of the measurement
        double speed = 0;
    };
    static constexpr int kMostSpeeds = 16;
    struct Program {
        std::int32_t program = 0;
        std::int32_t taken = 0;  // 0: the row is free
        std::int32_t target = 0; // cores that it is to own; 0: by its share
        // With more cores than this it gets no faster, so it borrows none beyond. 0: not known.
        std::int32_t limit = 0;
        std::int64_t used_ns = 0;   // of its claimants, when the measurement began
        double progress = 0;        // likewise
        double behind = 0;          // seconds of core time that it has missed
        std::int64_t short_ns = 0;  // when it last wanted more than it had
        std::int32_t surprises = 0; // in a row: faster than expected, or (negative) slower
        std::int32_t speed_count = 0;
        Speed speeds[kMostSpeeds]; // by cores
    };
    std::int64_t began_ns = 0;  // when the measurement began; 0: there is none
    std::int32_t looks = 0;     // looks in this measurement
    std::int32_t window = 0;    // looks that a measurement takes; 0: the least number
    std::int32_t agreed = 0;    // measurements in a row that were as the ones before
    std::int32_t quiet = 0;     // measurements since the targets changed
    std::uint32_t measured = 0; // number of measurements
    std::uint32_t probes = 0;
    std::int32_t probing = 0; // the targets are for a measurement only
    Program programs[kMostPrograms];
};

class CorePolicy {
  public:
    // May `claimant` take this core? Nobody uses the core, and a thread of the claimant has none.
    virtual bool may_take(const View &view, int core, int claimant) const = 0;
    // A core has become free. Which claimant that wants one is to be told? kNobody: none.
    virtual int receiver(const View &view, int core) const = 0;
    // A thread of `claimant` has found no free core. Which core's user is to leave it at its next
    // scheduling point? kNobody: none. A core that `is_recalled` already is not chosen again.
    virtual int recalls(const View &view, int claimant,
                        std::span<const bool> is_recalled) const = 0;
    // Called every kRethinkNs: set new targets, by what was measured. True: divide() again.
    virtual bool rethink(const View &view, std::int64_t now_ns, Memory &memory) const = 0;

  protected:
    ~CorePolicy() = default; // all policies are constants
};

// The free core that the claimant should take, among those that it may take: its own one, else one
// in its domains, else any. kNobody: there is none.
int best_free(const CorePolicy &policy, const View &view, int claimant);

// Called after rethink(): find a core whose user is to leave it at its next scheduling point,
// because the program uses more cores than its limit. Only borrowed cores are chosen. It finds one
// at a time. kNobody: there are no more.
int surplus(const View &view, std::span<const bool> is_recalled);

// Decide the owner of each core: owners[core] is a claimant or kNobody. Programs get cores by their
// targets, else by their shares; the ranks of a program get equal numbers. A `leftover` claimant
// owns none. As many cores as possible keep their owner, and a claimant gets cores of one domain as
// far as there are any. If there are more claimants than cores, a claimant that wants a core and
// has none gets its turn. At most kMostDivided claimants own cores.
void divide(const View &view, const Memory &memory, std::span<int> owners);
constexpr int kMostDivided = 1024;

// What rethink() has found for this program. Null: nothing.
const Memory::Program *find_program(const Memory &memory, int program);

// "static", "lend", "fair", "moldable"; null: no such policy. (SENNIT_POOL_POLICY, `sennit pool`.)
const CorePolicy *policy_of(std::string_view name);
std::span<const std::string_view> policy_names();

// The programs of a view, each with its row of the memory. rethink() works on them.

struct ProgramNow {
    Memory::Program *row = nullptr;
    double share = 1;
    int ranks = 0;
    int wants = 0;
    std::int64_t used_ns = 0;
    double progress = 0;
};

struct ProgramsNow {
    ProgramNow programs[kMostPrograms];
    int count = 0;
    bool changed = false; // a program has come, or gone
    double shares = 0;

    std::span<ProgramNow> all() { return {programs, static_cast<std::size_t>(count)}; }
};

// The programs that are to own cores. A new program gets a row. The row is freed when the program
// has gone.
ProgramsNow programs_now(const View &view, Memory &memory);

// Measure from now on.
void begin_measurement(ProgramsNow &now, std::int64_t now_ns, Memory &memory);

// Find whole numbers near the wishes that add up to `cores`. Each is at least 1 if there are
// enough.
void round_to_sum(std::span<const double> wishes, int cores, std::span<int> targets);

} // namespace sennit::node

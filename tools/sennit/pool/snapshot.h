// SPDX-License-Identifier: Apache-2.0
// Who takes part in a board and who owns and uses its cores, at one moment. Others change the board
// meanwhile, so what is said of two cores may not be of the same instant. Processes that have died
// are left out.
#pragma once

#include "node/board.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sennit::tool {

struct MemberNow {
    int slot = 0;
    int job = 0; // stands for its job: the first slot of it
    int pid = 0;
    node::Identity identity = 0;
    int rank = -1;
    std::string program;
    double share = 1;
    int priority = 0;
    bool leftover = false;
    bool shares_cores = false; // else it is there for the doorbells only
    bool waits = false;        // asleep in MPI
    bool counts = false;       // it tells how its threads spend their time:
    SpentNow spent;
    int owns = 0, uses = 0;
    int lent = 0;     // of those it owns: others use them
    int borrowed = 0; // of those it uses: others own them
    int wants = 0, without = 0;
    std::int64_t used_ns = 0;
    std::int64_t borrowed_ns = 0;
    std::uint64_t moves = 0; // cores that it has borrowed, or left for their owner
    std::uint64_t slept = 0; // how often others took a core from a thread of it that slept
    std::uint64_t kept = 0;  // how often it has not left a core in time for who wanted it back
    std::uint64_t late = 0;
    std::uint64_t progress = 0;
    // Of its program, as the policy has measured it; none: not yet.
    std::vector<node::Memory::Speed> speeds;
    double speed_up = 0; // on the cores that the program owns, against one; 0: not known
};

struct CoreNow {
    int core = 0;
    int owner = node::kNobody, user = node::kNobody; // slots
    bool recalled = false;
    bool rests = false;
    int thread = 0;               // the kernel's number of the one that uses it; 0: not told
    std::int64_t recalled_ns = 0; // for so long already
};

struct Snapshot {
    std::int64_t now_ns = 0;
    std::vector<MemberNow> members; // by slot
    std::vector<CoreNow> cores;     // those that anybody may use

    const MemberNow *find(int slot) const;
    // Jobs that share cores.
    std::vector<int> jobs() const;
    int owned_by(int job) const;
};

Snapshot look_at(node::Board &board);

} // namespace sennit::tool

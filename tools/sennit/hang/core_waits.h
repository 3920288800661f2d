// SPDX-License-Identifier: Apache-2.0
// Which of a node's cores the ranks of a job wait for, for hang reports. Pure: of what the board
// shows at one moment.
//
// A rank *waits for a core* if a thread of it wants one, and a core that it owns has been wanted
// back for long from a process that does not leave it. Such a rank may be slow, for the two divide
// the core; it is no part of a deadlock.
#pragma once

#include "pool/snapshot.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace sennit::tool {

// What the thread that uses a core does, as far as the kernel says.
enum class Doing { computes, sleeps, stopped, rests };
using DoingOf = std::function<Doing(const MemberNow &user, const CoreNow &core)>;
// Asks the kernel.
Doing doing_of(const MemberNow &user, const CoreNow &core);

using RankProcesses = std::map<int, std::set<int>>; // of a job

struct CoreWaits {
    std::set<int> ranks; // that wait for a core
    // A line for each core between the job and somebody else, then what can be done. Empty: the job
    // shares no cores.
    std::string text;
};
// `least_ns`: how long a core has to be wanted back.
CoreWaits core_waits(const Snapshot &now, const RankProcesses &job, std::uint64_t least_ns,
                     const DoingOf &doing = doing_of);

} // namespace sennit::tool

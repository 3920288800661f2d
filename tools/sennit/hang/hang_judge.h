// SPDX-License-Identifier: Apache-2.0
// Does a job hang? Every rank that stands still says so again and again, with the time since when
// and the time of its latest look, both of the machine's one monotonic clock
// (src/tasks/watch/watch.h). When the latest begin of all ranks is a grace time before the earliest
// look, they all stood still at the same time for that long, so nothing is under way between them:
// no rank can have been woken by another that fell silent afterwards.
//
// A rank whose process is stopped says nothing. If all others stand still for a grace time, and it
// is stopped all the while, that is told: it may be what they wait for.
//
// A rank that computes says nothing, either, and nothing is told of it, however long that takes.
// But if all who say nothing wait for a core that another process keeps (core_waits.h), that is
// told: it is no deadlock, and who waits for them is served sooner if somebody does something about
// it.
//
// A job of several nodes is not judged: the ranks of other nodes are not heard, may be at work, and
// have other clocks. But if somebody wants to know, and all ranks of this node stand still for a
// grace time, that is told, as what it is.
//
// A message is
//   hang <rank> <process> <since> <now> <grace> <abort> <outside>      times in ns; flags 0 or 1
//   <call> <direction> <peer> <tag> <communicator> <role> [<fact>=<value> ...]       a line each
//   (an empty line)
//   lines for people
// or
//   move <rank>      one that stood still
//   end <rank> <now> [...]      rank_ends.h
//   here <rank> <process>      one of its processes, said at its begin
//   watch <rank> <ranks>       its watcher, at its begin. Ranks: so many of the job are on this
//                              node, and are told of alone; 0: not alone
// with tabs between the words. The role is
//   call        that it is in
//   operation   that this call waits for: MPI_Irecv for MPI_Wait
//   perhaps     the same, but it may be complete: MPI_Waitall waits for one or more of them
//   posted      not complete, and no call waits for it
//   noted       was posted, and may be over
//   made        no call: the collective calls that it has begun on a communicator
//   more        stands for calls and operations that have no line
// and the facts are
//   group       who the communicator's ranks are, a hexadecimal number, and how many
//   number      of a collective call on its communicator; of those that were made: how many
//   to          peer and tag of what an exchange sends
//   withheld    how many parts of a partitioned send its rank has not called ready; else not known
//   latest      of the collective calls that were made: name:root, ..., the last one first
#pragma once

#include "hang/core_waits.h"
#include "hang/hang_state.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sennit::tool {

class HangJudge {
  public:
    using IsStopped = std::function<bool(int process)>; // by a signal or a debugger
    // What the board shows now; `least_ns`: of core_waits().
    using LookAtCores =
        std::function<CoreWaits(const RankProcesses &processes, std::uint64_t least_ns)>;
    explicit HangJudge(int ranks, IsStopped is_stopped = {}, LookAtCores look_at_cores = {})
        : size_(ranks), is_stopped_(std::move(is_stopped)),
          look_at_cores_(std::move(look_at_cores)) {}

    // `sender`: the process that says so, as the kernel tells, whatever the message says; 0: it is
    // not known.
    void hear(std::string_view message, int sender = 0);

    struct Verdict {
        std::string text;
        std::vector<int> processes; // to be ended: SENNIT_HANG=abort, and nobody could help them
    };
    // What to say now, if anything; a hang is told once, and so is its end.
    std::optional<Verdict> verdict();

  private:
    struct Rank {
        int process = 0;
        std::uint64_t since = 0;
        std::uint64_t now = 0;
        std::uint64_t grace = 0;
        bool abort = false;
        bool outside = false; // something in it waits for an event that is no message
        RankState state;
        std::string text;
    };

    // What was heard of those that stand still, and not for good.
    struct Stillness {
        std::map<int, std::uint64_t> begins; // since when each rank does
        std::uint64_t latest_begin = 0;
        std::uint64_t earliest_look = 0;
        std::uint64_t grace = 0;

        bool lasts() const { return !begins.empty() && earliest_look >= latest_begin + grace; }
        std::uint64_t seconds() const { return (earliest_look - latest_begin) / 1'000'000'000; }
    };

    Stillness stillness() const; // but for those that are stopped
    void look_for_stopped();
    std::optional<Verdict> verdict_of_stopped();
    std::optional<Verdict> verdict_of_cores();
    bool has_whole_node() const;
    std::optional<Verdict> verdict_of_node();
    CoreWaits look_at_cores(std::uint64_t least_ns) const;
    void tell_of(const Stillness &still, std::string &text) const;
    static std::optional<std::pair<int, Rank>> parse(std::string_view message);
    static bool parse_call(std::string_view line, RankState &state);
    Verdict describe(const Stillness &still, const HangState &state, bool certain) const;

    int size_;
    IsStopped is_stopped_;
    LookAtCores look_at_cores_;
    RankProcesses processes_; // of each rank
    std::set<int> of_node_;   // ranks
    int told_alone_ = 0;      // so many are to be in of_node_
    struct Stop {
        int process;
        std::uint64_t since; // the latest look of any rank when it was first seen
    };
    std::map<int, Stop> stopped_; // ranks
    bool told_certain_ = false;
    bool ended_ = false; // a verdict ended ranks
    std::map<int, Rank> ranks_;
    std::map<int, std::uint64_t>
        told_; // since when each rank stood still, of the hang that was told
};

} // namespace sennit::tool

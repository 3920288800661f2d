// SPDX-License-Identifier: Apache-2.0
// Does a job hang? Every rank that stands still says so again and again, with the time since when
// and the time of its latest look, both of the machine's one monotonic clock (src/watch/link.h).
// When the latest begin of all ranks is a grace time before the earliest look, they all stood still
// at the same time for that long, so nothing is under way between them: no rank can have been woken
// by another that fell silent afterwards.
//
// A message is
//   hang <rank> <process> <since> <now> <grace> <abort> <outside>      times in ns; flags 0 or 1
//   <call> <direction> <peer> <tag> <communicator> <role> [<fact>=<value> ...]       a line each
//   (an empty line)
//   lines for people
// or
//   move <rank>      one that stood still
//   end <rank> <now>
// with tabs between the words. The role is
//   call        that it is in
//   operation   that this call waits for: MPI_Irecv for MPI_Wait
//   perhaps     the same, but it may be complete: MPI_Waitall waits for one or more of them
//   made        no call: the collective calls that it has begun on a communicator
//   more        stands for calls and operations that have no line
// and the facts are
//   group       who the communicator's ranks are, a hexadecimal number, and how many
//   number      of a collective call on its communicator; of those that were made: how many
//   to          peer and tag of what an exchange sends
//   latest      of the collective calls that were made: name:root, ..., the last one first
#pragma once

#include "hang_state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

class HangJudge {
  public:
    explicit HangJudge(int ranks) : size_(ranks) {}

    void hear(std::string_view message);

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

    static std::optional<std::pair<int, Rank>> parse(std::string_view message);
    static bool parse_call(std::string_view line, RankState &state);
    Verdict describe(std::uint64_t seconds, const HangState &state, bool certain) const;

    int size_;
    bool told_certain_ = false;
    std::map<int, Rank> ranks_;
    std::map<int, std::uint64_t>
        told_; // since when each rank stood still, of the hang that was told
};

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Does a job hang? Every rank that stands still says so again and again, with the time since when
// and the time of its latest look, both of the machine's one monotonic clock (src/watch/link.h).
// When the latest begin of all ranks is a grace time before the earliest look, they all stood still
// at the same time for that long, so nothing is under way between them: no rank can have been woken
// by another that fell silent afterwards.
//
// A message is
//   hang <rank> <process> <since> <now> <grace> <abort> <outside>      times in ns; flags 0 or 1
//   <call> <direction> <peer> <tag> <communicator> <role>              a line each
//   (an empty line)
//   lines for people
// or
//   move <rank>      one that stood still
//   end <rank> <now>
// with tabs between the words. The role is
//   call        that it is in
//   operation   that this call waits for: MPI_Irecv for MPI_Wait
//   perhaps     the same, but it may be complete: MPI_Waitall waits for one or more of them
//   more        stands for calls and operations that have no line
#pragma once

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
    enum class Role { call, operation, perhaps, more };
    struct Call {
        std::string name;
        int direction; // as in sennit_wait
        int peer;
        int tag;
        std::string communicator;
        Role role;

        bool operator==(const Call &) const = default;
    };
    struct Rank {
        int process = 0;
        std::uint64_t since = 0;
        std::uint64_t now = 0;
        std::uint64_t grace = 0;
        bool abort = false;
        bool outside = false; // something in it waits for an event that is no message
        bool ended = false;
        std::vector<Call> calls;
        bool more = false; // than these
        std::string text;
    };

    static std::optional<std::pair<int, Rank>> parse(std::string_view message);
    Verdict describe(std::uint64_t seconds) const;
    std::string missing_partners() const;
    std::string missing_participants(const Call &call) const;
    std::string missing_partner(int rank, const Call &call) const;
    bool has_partner(int rank, const Call &call) const;
    static bool is_certain(const Call &call);
    static bool matches(int rank, const Call &call, const Call &other);
    static bool may_share_communicator(const Call &one, const Call &other);
    std::string cycle(bool certain) const;
    bool is_outside(int rank) const;
    std::string whereabouts(int rank) const;

    int size_;
    std::map<int, Rank> ranks_;
    std::map<int, std::uint64_t>
        told_; // since when each rank stood still, of the hang that was told
};

} // namespace sennit::tool

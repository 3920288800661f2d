// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job wait for while none of them moves, and whether that can ever end.
//
// No rank moves, so nothing new will be sent: only what is under way can end a wait. Each of these
// is under way:
// - a send and a receive that match, both begun and not complete, of which a call waits for one.
//   MPI completes one of them at least (MPI 4.0, section 3.5, progress), however long the data
//   take;
// - a collective call that all ranks of its communicator have come to.
// As long as there is one, the job does not hang. If there is none, it does. Where a rank does not
// say all that it waits for, or an operation may be complete, there may be one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sennit::tool {

constexpr int send = 1; // directions, as in sennit_wait
constexpr int receive = 2;
constexpr int exchange = send | receive; // peer and tag are those of what it receives

// A communicator, as one rank describes it.
struct Communicator {
    std::string name;          // may differ from rank to rank; "": unknown
    std::uint64_t members = 0; // the same number in all its ranks, 0: unknown
    int size = 0;              // if they are known
};

struct HangCall {
    enum class Role { call, operation, perhaps, posted, noted }; // hang_judge.h
    std::string name;
    int direction = 0;
    int peer = -1;
    int tag = -1;
    Communicator communicator;
    Role role = Role::call;
    int number = -1;                          // of a collective call on its communicator
    int withheld = -1;                        // parts of what it sends, -1: not known
    std::optional<std::pair<int, int>> sends; // peer and tag of what an exchange sends
};

// The collective calls that a rank has begun on a communicator.
struct CollectiveCalls {
    struct Begun {
        std::string name;
        int root;
    };
    Communicator communicator;
    int number = 0;
    std::vector<Begun> latest; // that first
};

struct RankState {
    bool ended = false;
    bool more = false;            // it waits for more than its calls
    std::vector<HangCall> calls;  // each followed by its operations
    std::vector<HangCall> posted; // operations that no call waits for
    std::vector<CollectiveCalls> collectives;
};

class HangState {
  public:
    HangState(std::map<int, RankState> ranks, int size) : ranks_(std::move(ranks)), size_(size) {}

    enum class UnderWay { none, perhaps, certain };
    // Is anything under way?
    UnderWay under_way() const;
    // Lines for people about why nothing is.
    std::string causes() const;

  private:
    enum class Answer { no, unknown, yes };
    struct End; // of a message: what one rank sends or receives

    static Answer same(const Communicator &one, const Communicator &other);
    static std::vector<End> ends_of(int rank, const HangCall &call);
    static bool is_certain(const HangCall &call);
    static UnderWay parts_of(const HangCall &send);
    UnderWay wait_under_way(int rank, const std::vector<HangCall> &calls, std::size_t &at) const;
    UnderWay operation_under_way(int rank, const HangCall &call) const;
    UnderWay end_under_way(const End &end) const;
    UnderWay collective_under_way(const HangCall &call) const;
    UnderWay partner_in(int rank, const End &end) const;
    UnderWay meeting(int rank, const End &end) const;
    template <class Visit>
    static void each_partner(int number, const RankState &rank, const End &end, Visit visit);
    Answer has_begun(int rank, const HangCall &call) const;
    std::optional<CollectiveCalls::Begun> begun(int rank, const HangCall &call) const;
    std::vector<int> absent_from(const HangCall &call) const;
    std::vector<int> waits_for(int rank, const HangCall &call) const;

    std::string mismatch(const HangCall &call) const;
    std::string missing_participants(const HangCall &call) const;
    std::string missing_partner(int rank, const HangCall &call) const;
    std::string missing_end(const End &end, bool certain) const;
    std::string missing_partners() const;
    std::string cycle(bool certain) const;
    bool is_outside(int rank) const;
    std::string whereabouts(int rank) const;
    std::string whereabouts_of_others(int rank) const;

    std::map<int, RankState> ranks_;
    int size_;
};

} // namespace sennit::tool

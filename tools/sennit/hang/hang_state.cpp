// SPDX-License-Identifier: Apache-2.0
#include "hang/hang_state.h"

#include "base/agreements.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace sennit::tool {
namespace {

constexpr std::size_t most_lines = 12; // about calls
constexpr const char *world = "MPI_COMM_WORLD";

bool is_partitioned(const std::string &call) {
    return call.starts_with("MPI_Psend_") || call.starts_with("MPI_Precv_");
}

// It waits for what its own rank says elsewhere, or for nothing that another rank does.
bool is_its_own_end(const std::string &call) {
    return call == "MPI_Finalize" || call == "MPI_Session_finalize" || call == "MPIX_Continue_init";
}

// One of the operations is enough, and none is complete.
bool waits_for_any(const std::string &call) {
    return call == "MPI_Waitany" || call == "MPI_Waitsome";
}

// It needs others than the ranks of its communicator.
bool meets_others(const std::string &call) {
    return call.starts_with("MPI_Comm_spawn") || call == "MPI_Comm_accept" ||
           call == "MPI_Comm_connect" || call == "MPI_Intercomm_create";
}

// The message is one that a probe has found: nobody says which.
bool receives_matched(const std::string &call) {
    return call == "MPI_Mrecv" || call == "MPI_Imrecv" || call == "TAMPI_Imrecv";
}

constexpr std::string_view in_task = SENNIT_IN_A_TASK;

// As the program calls it: MPI_Bcast_c is the same to others as MPI_Bcast.
std::string plain_name(std::string name) {
    for (const std::string_view ending : {in_task, std::string_view("_c")})
        if (name.ends_with(ending))
            name.resize(name.size() - ending.size());
    return name;
}

// As MPI matches it: in a task, MPI_Bcast is MPI_Ibcast.
std::string matched_name(const std::string &name) {
    constexpr std::size_t prefix = 4; // "MPI_"
    std::string matched = plain_name(name);
    if (name.ends_with(in_task) && matched.size() > prefix) {
        matched[prefix] = static_cast<char>(std::tolower(matched[prefix]));
        matched.insert(prefix, 1, 'I');
    }
    return matched;
}

std::string ordinal(int number) {
    const int last = number % 100 / 10 == 1 ? 0 : number % 10;
    return fmt::format("{}{}", number,
                       last == 1   ? "st"
                       : last == 2 ? "nd"
                       : last == 3 ? "rd"
                                   : "th");
}

std::string cycle_line(std::vector<int>::const_iterator first,
                       std::vector<int>::const_iterator last, bool certain) {
    std::string line = certain ? "sennit: a deadlock:" : "sennit: perhaps a deadlock:";
    for (auto member = first; member != last; ++member)
        line += fmt::format("{} rank {} waits for rank {}", member == first ? "" : ",", *member,
                            member + 1 == last ? *first : *(member + 1));
    return line + "\n";
}

} // namespace

struct HangState::End {
    int rank;
    bool sends;
    int peer; // -1: any
    int tag;  // -1: any
    const HangCall *call;

    bool fits(const End &other) const {
        const bool tags_fit = tag == other.tag || tag < 0 || other.tag < 0;
        const bool is_for_me = other.peer == rank || other.peer < 0;
        const bool alike = is_partitioned(call->name) == is_partitioned(other.call->name);
        return sends != other.sends && tags_fit && is_for_me && alike;
    }
};

// Does the call wait for what its rank said of it? It may be complete; what an exchange receives
// may be, and not what it sends; and a partitioned send may wait for MPI_Pready of its own rank.
bool HangState::is_certain(const HangCall &call) {
    const bool may_be_its_own =
        call.direction == send && is_partitioned(call.name) && call.withheld != 0;
    const bool may_be_over =
        call.role == HangCall::Role::perhaps || call.role == HangCall::Role::noted;
    return !may_be_over && call.direction != exchange && !may_be_its_own;
}

// A partitioned send: are its data under way?
HangState::UnderWay HangState::parts_of(const HangCall &send) {
    return send.withheld == 0  ? UnderWay::certain
           : send.withheld < 0 ? UnderWay::perhaps
                               : UnderWay::none;
}

std::vector<HangState::End> HangState::ends_of(int rank, const HangCall &call) {
    std::vector<End> ends;
    if ((call.direction & receive) != 0)
        ends.push_back({rank, false, call.peer, call.tag, &call});
    if (call.direction == send)
        ends.push_back({rank, true, call.peer, call.tag, &call});
    else if (call.direction == exchange && call.sends)
        ends.push_back({rank, true, call.sends->first, call.sends->second, &call});
    return ends;
}

// Ranks may give a communicator different names, and several the same one.
HangState::Answer HangState::same(const Communicator &one, const Communicator &other) {
    if (one.name == world || other.name == world)
        return one.name == other.name                   ? Answer::yes
               : one.name.empty() || other.name.empty() ? Answer::unknown
                                                        : Answer::no;
    if (one.members == 0 || other.members == 0)
        return Answer::unknown;
    if (one.members != other.members || one.size != other.size)
        return Answer::no;
    return one.name == other.name ? Answer::yes : Answer::unknown;
}

// What that rank does at the other end of the message: visit(call, how certain it is that the two
// meet).
template <class Visit>
void HangState::each_partner(int number, const RankState &rank, const End &end, Visit visit) {
    const auto look = [&](const std::vector<HangCall> &calls, UnderWay most) {
        for (const HangCall &call : calls)
            for (const End &other : ends_of(number, call)) {
                const Answer shared = same(end.call->communicator, call.communicator);
                if (!end.fits(other) || shared == Answer::no)
                    continue;
                // What may be complete is looked at as a whole (wait_under_way), and tells nothing
                // certain of what is not complete: it may have met another message before.
                const bool alike = is_certain(*end.call) == is_certain(call);
                const bool certain = shared == Answer::yes && alike;
                visit(call, certain ? most : UnderWay::perhaps);
            }
    };
    look(rank.calls, UnderWay::certain);
    // A rank that is outside of MPI does not work for what it has posted.
    for (const HangCall &call : rank.posted) {
        const bool works = !rank.calls.empty() && call.role == HangCall::Role::posted;
        look({call}, works ? UnderWay::certain : UnderWay::perhaps);
    }
}

// Is the other end of the message there, in that rank?
HangState::UnderWay HangState::partner_in(int number, const End &end) const {
    const auto found = ranks_.find(number);
    if (found == ranks_.end())
        return UnderWay::perhaps;
    UnderWay best = found->second.more ? UnderWay::perhaps : UnderWay::none;
    each_partner(number, found->second, end,
                 [&](const HangCall &, UnderWay meets) { best = std::max(best, meets); });
    return best;
}

// And will the message come?
HangState::UnderWay HangState::meeting(int number, const End &end) const {
    if (!is_partitioned(end.call->name))
        return partner_in(number, end);
    const auto found = ranks_.find(number);
    if (found == ranks_.end())
        return UnderWay::perhaps;
    UnderWay best = found->second.more ? UnderWay::perhaps : UnderWay::none;
    each_partner(number, found->second, end, [&](const HangCall &other, UnderWay meets) {
        best = std::max(best, std::min(meets, parts_of(end.sends ? *end.call : other)));
    });
    return best;
}

HangState::UnderWay HangState::end_under_way(const End &end) const {
    if (receives_matched(end.call->name))
        return UnderWay::perhaps;
    if (end.peer >= 0)
        return meeting(end.peer, end);
    UnderWay best = UnderWay::none;
    for (const auto &[number, unused] : ranks_)
        best = std::max(best, meeting(number, end));
    return best;
}

// Has that rank begun the collective call, or a later one?
HangState::Answer HangState::has_begun(int number, const HangCall &call) const {
    const RankState &rank = ranks_.at(number);
    Answer answer = rank.more ? Answer::unknown : Answer::no;
    const auto look = [&](const Communicator &there, int reached) {
        if (reached >= call.number)
            answer = std::max(answer, same(call.communicator, there));
    };
    for (const HangCall &other : rank.calls)
        look(other.communicator, other.number);
    for (const CollectiveCalls &other : rank.collectives)
        look(other.communicator, other.number);
    return answer;
}

// What that rank's call of the same number is, if it says.
std::optional<CollectiveCalls::Begun> HangState::begun(int number, const HangCall &call) const {
    for (const CollectiveCalls &other : ranks_.at(number).collectives) {
        const int back = other.number - call.number;
        if (same(call.communicator, other.communicator) == Answer::yes && back >= 0 &&
            back < static_cast<int>(other.latest.size()))
            return other.latest[static_cast<std::size_t>(back)];
    }
    return std::nullopt;
}

std::string HangState::mismatch(const HangCall &call) const {
    std::map<std::string, std::vector<int>> names;
    std::map<std::string, std::vector<int>> matched;
    std::map<std::string, std::vector<int>> places;
    std::map<int, std::vector<int>> roots;
    for (const auto &[number, rank] : ranks_)
        if (const auto there = begun(number, call)) {
            names[plain_name(there->name)].push_back(number);
            matched[matched_name(there->name)].push_back(number);
            places[there->name.ends_with(in_task) ? "in a task" : "outside of tasks"].push_back(
                number);
            roots[there->root].push_back(number);
        }
    const auto in_ranks = [](const auto &what, const std::vector<int> &ranks) {
        return fmt::format("{} in rank{} {}", what, ranks.size() == 1 ? "" : "s",
                           fmt::join(ranks, ", "));
    };
    const auto list = [&](const auto &groups) {
        std::vector<std::string> parts;
        parts.reserve(groups.size());
        for (const auto &[what, ranks] : groups)
            parts.push_back(in_ranks(what, ranks));
        return fmt::format("{}", fmt::join(parts, ", "));
    };
    if (matched.size() > 1 && names.size() > 1)
        return fmt::format("sennit: collective calls on {} do not match: its {} one is {}; all its "
                           "ranks must make the same ones in the same order\n",
                           call.communicator.name, ordinal(call.number), list(names));
    if (matched.size() > 1)
        return fmt::format("sennit: {} on {}, its {} collective call, is made {}: these do not "
                           "meet; make it in a task on all ranks or on none, or set "
                           "SENNIT_COLLECTIVES=nonblocking for the whole job\n",
                           names.begin()->first, call.communicator.name, ordinal(call.number),
                           list(places));
    if (roots.size() > 1)
        return fmt::format("sennit: {} on {}, its {} collective call: the root is {}; all its "
                           "ranks must name the same one\n",
                           names.begin()->first, call.communicator.name, ordinal(call.number),
                           list(roots));
    return "";
}

HangState::UnderWay HangState::collective_under_way(const HangCall &call) const {
    const int size = call.communicator.name == world ? size_ : call.communicator.size;
    if (size == 0 || meets_others(call.name))
        return UnderWay::perhaps;
    if (!mismatch(call).empty())
        return UnderWay::none;
    int there = 0;
    int unknown = size_ - static_cast<int>(ranks_.size());
    for (const auto &[number, rank] : ranks_) {
        const Answer answer = has_begun(number, call);
        there += answer == Answer::yes;
        unknown += answer == Answer::unknown;
    }
    if (there >= size)
        return call.role == HangCall::Role::perhaps ? UnderWay::perhaps : UnderWay::certain;
    return there + unknown >= size ? UnderWay::perhaps : UnderWay::none;
}

HangState::UnderWay HangState::operation_under_way(int rank, const HangCall &call) const {
    if (is_its_own_end(call.name))
        return UnderWay::none;
    if (call.direction == 0)
        return call.number >= 0 ? collective_under_way(call) : UnderWay::perhaps;
    // One of the two ends of an exchange is not complete. Nobody says which, but if both have their
    // partner, it has.
    const std::vector<End> ends = ends_of(rank, call);
    const std::size_t all = call.direction == exchange ? 2 : 1;
    UnderWay least = UnderWay::certain;
    UnderWay most = ends.size() < all ? UnderWay::perhaps : UnderWay::none;
    for (const End &end : ends) {
        least = std::min(least, end_under_way(end));
        most = std::max(most, end_under_way(end));
    }
    return ends.size() == all && least == most ? most : std::min(most, UnderWay::perhaps);
}

// Of the call at calls[at] and its operations, which follow it; `at` moves behind them.
HangState::UnderWay HangState::wait_under_way(int rank, const std::vector<HangCall> &calls,
                                              std::size_t &at) const {
    const HangCall &call = calls[at++];
    UnderWay least = UnderWay::certain;
    UnderWay most = UnderWay::none;
    bool may_be_complete = false;
    const std::size_t first = at;
    for (; at < calls.size() && calls[at].role != HangCall::Role::call; ++at) {
        const UnderWay under_way = operation_under_way(rank, calls[at]);
        least = std::min(least, under_way);
        most = std::max(most, under_way);
        may_be_complete |= calls[at].role == HangCall::Role::perhaps;
    }
    if (at == first)
        return operation_under_way(rank, call);
    // One of those that may be complete is not.
    const bool all_alike = least == most || !may_be_complete || waits_for_any(call.name);
    return all_alike ? most : std::min(most, UnderWay::perhaps);
}

HangState::UnderWay HangState::under_way() const {
    UnderWay best = UnderWay::none;
    for (const auto &[number, rank] : ranks_) {
        if (rank.more)
            best = std::max(best, UnderWay::perhaps);
        for (std::size_t at = 0; at < rank.calls.size();)
            best = std::max(best, wait_under_way(number, rank.calls, at));
    }
    return best;
}

// Is it in no MPI call?
bool HangState::is_outside(int number) const {
    const auto found = ranks_.find(number);
    return found != ranks_.end() && !found->second.ended && found->second.calls.empty() &&
           !found->second.more;
}

std::string HangState::whereabouts(int number) const {
    const auto found = ranks_.find(number);
    if (found == ranks_.end() || found->second.ended)
        return "has ended";
    if (is_outside(number))
        return "is in no MPI call";
    std::set<std::string> names;
    for (const HangCall &call : found->second.calls)
        if (call.role == HangCall::Role::call)
            names.insert(call.name);
    return fmt::format("is in {}", fmt::join(names, ", "));
}

// "rank 1 is in MPI_Barrier, ranks 2, 3 are in MPI_Finalize"
std::string HangState::whereabouts_of_others(int self) const {
    std::map<std::string, std::vector<int>> places;
    for (const auto &[number, rank] : ranks_)
        if (number != self)
            places[whereabouts(number)].push_back(number);
    std::vector<std::string> parts;
    for (const auto &[place, ranks] : places) {
        const std::string verb = place.substr(0, place.find(' '));
        const char *const plural = verb == "is" ? "are" : "have";
        parts.push_back(ranks.size() == 1 ? fmt::format("rank {} {}", ranks.front(), place)
                                          : fmt::format("ranks {} {}{}", fmt::join(ranks, ", "),
                                                        plural, place.substr(verb.size())));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<int> HangState::absent_from(const HangCall &call) const {
    std::vector<int> absent;
    if (call.communicator.name != world) // who its ranks are is not known
        return absent;
    for (const auto &[number, rank] : ranks_)
        if (has_begun(number, call) == Answer::no)
            absent.push_back(number);
    return absent;
}

// A collective call that not all ranks have come to.
std::string HangState::missing_participants(const HangCall &call) const {
    if (call.number < 0 || collective_under_way(call) != UnderWay::none)
        return "";
    if (std::string line = mismatch(call); !line.empty())
        return line;
    const std::vector<int> absent = absent_from(call);
    if (!absent.empty())
        return fmt::format("sennit: {} on {}: not called by rank {}\n", call.name,
                           call.communicator.name, fmt::join(absent, ", "));
    const auto called = std::count_if(ranks_.begin(), ranks_.end(), [&](const auto &entry) {
        return has_begun(entry.first, call) == Answer::yes;
    });
    return fmt::format("sennit: {} on {}: called by {} of its {} ranks only\n", call.name,
                       call.communicator.name, called, call.communicator.size);
}

std::string HangState::missing_end(const End &end, bool certain) const {
    const auto knows = [&](int number) {
        const auto rank = ranks_.find(number);
        return rank != ranks_.end() && !rank->second.more;
    };
    const std::string tag = end.tag < 0 ? "any" : std::to_string(end.tag);
    const char *const does = end.sends ? "receive" : "send";
    const char *const perhaps = certain ? "" : "perhaps ";
    if (receives_matched(end.call->name))
        return "";
    if (end.peer < 0) {
        const bool known = std::all_of(ranks_.begin(), ranks_.end(), [&](const auto &entry) {
            return knows(entry.first) && partner_in(entry.first, end) == UnderWay::none;
        });
        return known
                   ? fmt::format("sennit: rank {} {}waits for any rank to send a message with tag "
                                 "{}: no other rank can send it, {}; there are more receives than "
                                 "sends, or tag or communicator differ\n",
                                 end.rank, perhaps, tag, whereabouts_of_others(end.rank))
                   : "";
    }
    if (!knows(end.peer) || partner_in(end.peer, end) != UnderWay::none)
        return "";
    const std::vector<HangCall> &theirs = ranks_.at(end.peer).calls;
    const bool elsewhere = std::any_of(theirs.begin(), theirs.end(), [&](const HangCall &other) {
        const std::vector<End> ends = ends_of(end.peer, other);
        return std::any_of(ends.begin(), ends.end(), [&](const End &its) { return end.fits(its); });
    });
    const std::string waits =
        fmt::format("sennit: rank {} {}waits for rank {} to {} a message with tag {}", end.rank,
                    perhaps, end.peer, does, tag);
    // Outside of MPI a rank may have posted what it does not wait for, and nobody works for it.
    if (is_outside(end.peer))
        return fmt::format("{}, which {}\n", waits, whereabouts(end.peer));
    return fmt::format("{}: nothing like it is under way in rank {}, which {}{}\n", waits, end.peer,
                       whereabouts(end.peer),
                       elsewhere ? "; something like it is on another communicator" : "");
}

// Of an exchange, what it receives: the rest is mostly complete.
std::string HangState::missing_partner(int rank, const HangCall &call) const {
    return missing_end(ends_of(rank, call).front(), is_certain(call));
}

// Calls whose partner is not there.
std::string HangState::missing_partners() const {
    std::set<std::string> lines;
    const auto collect = [&](auto wanted) {
        for (const auto &[number, rank] : ranks_)
            for (const HangCall &call : rank.calls)
                if (wanted(call))
                    lines.insert(call.direction == 0 ? missing_participants(call)
                                                     : missing_partner(number, call));
        lines.erase("");
    };
    collect(is_certain);
    // Most sends do not wait for their receive.
    for (const int direction : {receive, send})
        if (lines.empty())
            collect([=](const HangCall &call) { return (call.direction & direction) != 0; });
    std::string text;
    std::size_t told = 0;
    for (const std::string &line : lines)
        if (told++ < most_lines)
            text += line;
    if (told > most_lines)
        text += fmt::format("sennit: ... and {} more like these\n", told - most_lines);
    return text;
}

// The ranks that have to do something first.
std::vector<int> HangState::waits_for(int rank, const HangCall &call) const {
    if (call.direction == 0)
        return call.number >= 0 && collective_under_way(call) == UnderWay::none &&
                       mismatch(call).empty()
                   ? absent_from(call)
                   : std::vector<int>{};
    const End end = ends_of(rank, call).front();
    const auto there = ranks_.find(end.peer);
    const bool known = there != ranks_.end() && !there->second.more;
    return end.peer >= 0 &&
                   (!known || partner_in(end.peer, end) == UnderWay::none ||
                    (call.direction == receive && is_certain(call) && is_partitioned(call.name)))
               ? std::vector<int>{end.peer}
               : std::vector<int>{};
}

// A cycle of ranks that wait for each other.
std::string HangState::cycle(bool certain) const {
    std::set<int> done;
    for (const auto &[root, unused] : ranks_) {
        std::vector<int> path = {root};
        while (!path.empty()) {
            const int at = path.back();
            std::optional<int> next;
            const auto found = ranks_.find(at);
            if (found != ranks_.end() && done.count(at) == 0)
                for (const HangCall &call : found->second.calls) {
                    if (certain && !is_certain(call))
                        continue;
                    for (const int peer : waits_for(at, call)) {
                        if (done.count(peer) != 0)
                            continue;
                        const auto first = std::find(path.begin(), path.end(), peer);
                        if (first != path.end())
                            return cycle_line(first, path.end(), certain);
                        next = peer;
                    }
                }
            if (next) {
                path.push_back(*next);
            } else {
                done.insert(at);
                path.pop_back();
            }
        }
    }
    return "";
}

std::string HangState::causes() const {
    const std::string deadlock = cycle(true);
    return missing_partners() + (deadlock.empty() ? cycle(false) : deadlock);
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "hang_judge.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace sennit::tool {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::size_t most_partners = 12; // lines about calls that have no partner
constexpr const char *world = "MPI_COMM_WORLD";
constexpr int send = 1;
constexpr int receive = 2;
constexpr int exchange = send | receive; // peer and tag are those of what it receives

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

template <class Number>
bool read(std::string_view text, Number &number) {
    const char *const begin = text.begin();
    const char *const end = text.end();
    const auto [at, error] = std::from_chars(begin, end, number);
    return error == std::errc{} && at == end;
}

bool is_partitioned(std::string_view call) {
    return call.starts_with("MPI_Psend_") || call.starts_with("MPI_Precv_");
}

} // namespace

std::optional<std::pair<int, HangJudge::Rank>> HangJudge::parse(std::string_view message) {
    const std::size_t line_end = message.find('\n');
    const auto head = split(message.substr(0, line_end), '\t');
    int number = -1;
    Rank rank;
    if (head.size() == 3 && head[0] == "end" && read(head[1], number) &&
        read(head[2], rank.since)) {
        rank.ended = true;
        return std::pair(number, rank);
    }
    int abort = 0;
    int outside = 0;
    if (head.size() != 8 || head[0] != "hang" || !read(head[1], number) ||
        !read(head[2], rank.process) || !read(head[3], rank.since) || !read(head[4], rank.now) ||
        !read(head[5], rank.grace) || !read(head[6], abort) || !read(head[7], outside))
        return std::nullopt;
    rank.abort = abort != 0;
    rank.outside = outside != 0;
    std::string_view rest = line_end == std::string_view::npos ? "" : message.substr(line_end + 1);
    while (!rest.empty() && rest.front() != '\n') {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto words = split(line, '\t');
        Call call{};
        if (words.size() != 6 || !read(words[1], call.direction) || !read(words[2], call.peer) ||
            !read(words[3], call.tag))
            return std::nullopt;
        call.role = words[5] == "call"        ? Role::call
                    : words[5] == "operation" ? Role::operation
                    : words[5] == "perhaps"   ? Role::perhaps
                                              : Role::more;
        if (call.role == Role::more) {
            rank.more = true;
            continue;
        }
        call.name = words[0];
        call.communicator = words[4];
        rank.calls.push_back(call);
    }
    rank.text = rest.substr(std::min<std::size_t>(rest.size(), 1));
    return std::pair(number, rank);
}

void HangJudge::hear(std::string_view message) {
    constexpr std::string_view move = "move\t";
    if (int number = -1; message.starts_with(move) && read(message.substr(move.size()), number)) {
        ranks_.erase(number);
        return;
    }
    if (auto heard = parse(message); heard && heard->first >= 0)
        ranks_[heard->first] = std::move(heard->second);
}

std::optional<HangJudge::Verdict> HangJudge::verdict() {
    std::map<int, std::uint64_t> begins;
    std::uint64_t latest_begin = 0;
    std::uint64_t earliest_look = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t grace = 0;
    for (const auto &[number, rank] : ranks_) {
        latest_begin = std::max(latest_begin, rank.since);
        if (rank.ended)
            continue; // for good
        begins[number] = rank.since;
        earliest_look = std::min(earliest_look, rank.now);
        grace = std::max(grace, rank.grace);
    }
    if (!told_.empty()) {
        // A rank that ends may be ended because of the hang.
        const bool moved = std::any_of(told_.begin(), told_.end(), [&](const auto &before) {
            const auto rank = ranks_.find(before.first);
            return rank == ranks_.end() ||
                   (!rank->second.ended && rank->second.since != before.second);
        });
        if (!moved)
            return std::nullopt;
        told_.clear();
        return Verdict{"sennit: the job goes on\n", {}};
    }
    if (static_cast<int>(ranks_.size()) < size_ || begins.empty() || earliest_look < latest_begin ||
        earliest_look - latest_begin < grace)
        return std::nullopt;
    told_ = begins;
    return describe((earliest_look - latest_begin) / second);
}

HangJudge::Verdict HangJudge::describe(std::uint64_t seconds) const {
    const bool outside = std::any_of(ranks_.begin(), ranks_.end(),
                                     [](const auto &entry) { return entry.second.outside; });
    Verdict verdict;
    verdict.text =
        fmt::format("sennit: the job hangs: none of its {} rank{} has moved for {} s{}\n", size_,
                    size_ == 1 ? "" : "s", seconds,
                    outside ? "; something waits for an event from outside" : "");
    for (const auto &[number, rank] : ranks_) {
        if (rank.ended) {
            verdict.text += fmt::format("sennit: rank {} has ended\n", number);
            continue;
        }
        verdict.text +=
            fmt::format("sennit: rank {} (process {}):\n{}", number, rank.process, rank.text);
        if (rank.abort && !outside)
            verdict.processes.push_back(rank.process);
    }
    const std::string deadlock = cycle(true);
    verdict.text += missing_partners() + (deadlock.empty() ? cycle(false) : deadlock);
    if (!verdict.processes.empty())
        verdict.text += "sennit: its ranks are ended because of SENNIT_HANG=abort\n";
    return verdict;
}

// Is it in no MPI call?
bool HangJudge::is_outside(int number) const {
    const auto found = ranks_.find(number);
    return found != ranks_.end() && !found->second.ended && found->second.calls.empty() &&
           !found->second.more;
}

std::string HangJudge::whereabouts(int number) const {
    const auto found = ranks_.find(number);
    if (found == ranks_.end() || found->second.ended)
        return "which has ended";
    if (is_outside(number))
        return "which is in no MPI call";
    std::set<std::string> names;
    for (const Call &call : found->second.calls)
        if (call.role == Role::call)
            names.insert(call.name);
    return fmt::format("which is in {}", fmt::join(names, ", "));
}

// A collective call that not all ranks are in.
std::string HangJudge::missing_participants(const Call &call) const {
    // A rank may have started the non-blocking form and not be waiting for it yet; and not every
    // rank need be of another communicator.
    if (call.role != Role::call || call.communicator != world || call.name == "MPI_Finalize")
        return "";
    std::vector<int> absent;
    for (const auto &[other, there] : ranks_)
        if (!there.more &&
            std::find(there.calls.begin(), there.calls.end(), call) == there.calls.end())
            absent.push_back(other);
    if (absent.empty())
        return "";
    return fmt::format("sennit: {} on {}: not called by rank {}\n", call.name, call.communicator,
                       fmt::join(absent, ", "));
}

// Do the two, a send and a receive, use the same communicator? Names need not be the same on all
// ranks, and several communicators may have the same.
bool HangJudge::may_share_communicator(const Call &one, const Call &other) {
    return (one.communicator == world) == (other.communicator == world);
}

// Does the call wait for what its rank said of it? It may be complete; what it receives may be, and
// not what it sends; and a partitioned send may wait for MPI_Pready of its own rank.
bool HangJudge::is_certain(const Call &call) {
    const bool may_be_its_own = call.direction == send && is_partitioned(call.name);
    return call.role != Role::perhaps && call.direction != exchange && !may_be_its_own;
}

// Is there what the call of that rank waits for, also perhaps?
bool HangJudge::has_partner(int rank, const Call &call) const {
    const auto partner = ranks_.find(call.peer);
    if (partner == ranks_.end() || partner->second.more)
        return true; // nobody knows
    return std::any_of(partner->second.calls.begin(), partner->second.calls.end(),
                       [&](const Call &other) {
                           return matches(rank, call, other) && may_share_communicator(call, other);
                       });
}

bool HangJudge::matches(int rank, const Call &call, const Call &other) {
    const bool opposite =
        call.direction == send ? (other.direction & receive) != 0 : other.direction == send;
    return opposite && is_partitioned(call.name) == is_partitioned(other.name) &&
           (other.peer == rank || other.peer < 0) &&
           (other.tag == call.tag || other.tag < 0 || call.tag < 0);
}

std::string HangJudge::missing_partner(int rank, const Call &call) const {
    if (has_partner(rank, call))
        return "";
    const std::vector<Call> &theirs = ranks_.at(call.peer).calls;
    const bool elsewhere = std::any_of(theirs.begin(), theirs.end(), [&](const Call &other) {
        return matches(rank, call, other);
    });
    const std::string waits = fmt::format(
        "sennit: rank {} {}waits for rank {} to {} a message with tag {}", rank,
        is_certain(call) ? "" : "perhaps ", call.peer, call.direction == send ? "receive" : "send",
        call.tag < 0 ? "any" : std::to_string(call.tag));
    // Outside of MPI a rank may have posted what it does not wait for, and nobody works for it.
    if (is_outside(call.peer))
        return fmt::format("{}, {}\n", waits, whereabouts(call.peer));
    return fmt::format("{}: nothing like it is under way in rank {}, {}{}\n", waits, call.peer,
                       whereabouts(call.peer),
                       elsewhere ? "; something like it is on another communicator" : "");
}

// Calls whose partner is not there.
std::string HangJudge::missing_partners() const {
    std::set<std::string> lines;
    const auto collect = [&](auto wanted) {
        for (const auto &[number, rank] : ranks_)
            for (const Call &call : rank.calls)
                if (wanted(call))
                    lines.insert(call.direction == 0 ? missing_participants(call)
                                                     : missing_partner(number, call));
        lines.erase("");
    };
    collect(is_certain);
    // Most sends do not wait for their receive.
    for (const int direction : {receive, send})
        if (lines.empty())
            collect([=](const Call &call) { return (call.direction & direction) != 0; });
    std::string text;
    std::size_t told = 0;
    for (const std::string &line : lines)
        if (told++ < most_partners)
            text += line;
    if (told > most_partners)
        text += fmt::format("sennit: ... and {} more like these\n", told - most_partners);
    return text;
}

// A cycle of ranks that wait for each other's messages.
std::string HangJudge::cycle(bool certain) const {
    std::set<int> done;
    for (const auto &[root, unused] : ranks_) {
        std::vector<int> path = {root};
        while (!path.empty()) {
            const int at = path.back();
            std::optional<int> next;
            const auto found = ranks_.find(at);
            if (found != ranks_.end() && done.count(at) == 0)
                for (const Call &call : found->second.calls) {
                    if (call.direction == 0 || call.peer < 0 || done.count(call.peer) != 0 ||
                        (!is_certain(call) && (certain || has_partner(at, call))))
                        continue;
                    const auto first = std::find(path.begin(), path.end(), call.peer);
                    if (first != path.end()) {
                        std::string line =
                            certain ? "sennit: a deadlock:" : "sennit: perhaps a deadlock:";
                        for (auto member = first; member != path.end(); ++member) {
                            const int after = member + 1 == path.end() ? *first : *(member + 1);
                            line += fmt::format("{} rank {} waits for rank {}",
                                                member == first ? "" : ",", *member, after);
                        }
                        return line + "\n";
                    }
                    next = call.peer;
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

} // namespace sennit::tool

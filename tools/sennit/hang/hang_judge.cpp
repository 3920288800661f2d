// SPDX-License-Identifier: Apache-2.0
#include "hang/hang_judge.h"

#include "common/host_name.h"
#include "common/message_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace sennit::tool {
namespace {

// The value of a fact, "" when there is none.
std::string_view fact(const std::vector<std::string_view> &words, std::string_view name) {
    for (const std::string_view word : words)
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
            return word.substr(name.size() + 1);
    return "";
}

Communicator read_communicator(std::string_view name, std::string_view group) {
    Communicator communicator{.name = std::string(name)};
    const auto words = split(group, ',');
    std::uint64_t members = 0;
    int size = 0;
    if (words.size() == 2 && read(words[0], members, 16) && read(words[1], size)) {
        communicator.members = members;
        communicator.size = size;
    }
    return communicator;
}

bool read_role(std::string_view text, HangCall::Role &role) {
    using enum HangCall::Role;
    static constexpr std::pair<std::string_view, HangCall::Role> roles[] = {
        {"call", call},     {"operation", operation}, {"perhaps", perhaps},
        {"posted", posted}, {"noted", noted},
    };
    for (const auto &[word, meant] : roles)
        if (text == word) {
            role = meant;
            return true;
        }
    return false;
}

std::vector<CollectiveCalls::Begun> read_latest(std::string_view text) {
    std::vector<CollectiveCalls::Begun> latest;
    for (const std::string_view call : split(text, ',')) {
        const std::size_t colon = call.find(':');
        int root = -1;
        if (colon == std::string_view::npos || !read(call.substr(colon + 1), root))
            break; // those before it are lost, too
        latest.push_back({std::string(call.substr(0, colon)), root});
    }
    return latest;
}

} // namespace

bool HangJudge::parse_call(std::string_view line, RankState &state) {
    const auto words = split(line, '\t');
    HangCall call;
    if (words.size() < 6 || !read(words[1], call.direction) || !read(words[2], call.peer) ||
        !read(words[3], call.tag))
        return false;
    call.name = words[0];
    call.communicator = read_communicator(words[4], fact(words, "group"));
    if (!read(fact(words, "number"), call.number))
        call.number = -1;
    const std::string_view role = words[5];
    if (role == "made") {
        state.collectives.push_back(
            {call.communicator, call.number, read_latest(fact(words, "latest"))});
        return true;
    }
    if (!read_role(role, call.role)) {
        state.more = true;
        return true;
    }
    if (!read(fact(words, "withheld"), call.withheld))
        call.withheld = -1;
    const auto sends = split(fact(words, "to"), ',');
    int peer = -1;
    int tag = -1;
    if (sends.size() == 2 && read(sends[0], peer) && read(sends[1], tag))
        call.sends = std::pair(peer, tag);
    const bool waits = call.role != HangCall::Role::posted && call.role != HangCall::Role::noted;
    (waits ? state.calls : state.posted).push_back(std::move(call));
    return true;
}

std::optional<std::pair<int, HangJudge::Rank>> HangJudge::parse(std::string_view message) {
    const std::size_t line_end = message.find('\n');
    const auto head = split(message.substr(0, line_end), '\t');
    int number = -1;
    Rank rank;
    if (head.size() >= 3 && head[0] == "end" && read(head[1], number) &&
        read(head[2], rank.since)) {
        rank.state.ended = true;
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
        if (!parse_call(line, rank.state))
            return std::nullopt;
    }
    rank.text = rest.substr(std::min<std::size_t>(rest.size(), 1));
    return std::pair(number, rank);
}

void HangJudge::hear(std::string_view message, int sender) {
    const auto is_rank = [this](int number) { return number >= 0 && number < size_; };
    constexpr std::string_view move = "move\t";
    if (int number = -1; message.starts_with(move) && read(message.substr(move.size()), number)) {
        ranks_.erase(number);
        return;
    }
    if (const auto words = split(message, '\t'); words.size() == 3 && words[0] == "here") {
        int number = -1;
        int process = 0;
        constexpr std::size_t most = 16; // the program comes before what it starts
        if (read(words[1], number) && read(words[2], process) && is_rank(number) &&
            processes_[number].size() < most)
            processes_[number].insert(sender != 0 ? sender : process);
        return;
    }
    if (const auto words = split(message, '\t'); words.size() == 3 && words[0] == "watch") {
        int number = -1;
        if (read(words[1], number) && is_rank(number) && read(words[2], told_alone_))
            of_node_.insert(number);
        return;
    }
    if (auto heard = parse(message); heard && is_rank(heard->first)) {
        if (sender != 0)
            heard->second.process = sender;
        ranks_[heard->first] = std::move(heard->second);
    }
}

HangJudge::Stillness HangJudge::stillness() const {
    Stillness found;
    found.earliest_look = std::numeric_limits<std::uint64_t>::max();
    for (const auto &[number, rank] : ranks_) {
        if (stopped_.contains(number))
            continue;
        found.latest_begin = std::max(found.latest_begin, rank.since);
        if (rank.state.ended)
            continue; // for good
        found.begins[number] = rank.since;
        found.earliest_look = std::min(found.earliest_look, rank.now);
        found.grace = std::max(found.grace, rank.grace);
    }
    return found;
}

// Those that were stopped at every look since.
void HangJudge::look_for_stopped() {
    std::uint64_t now = 0;
    for (const auto &[number, rank] : ranks_)
        now = std::max(now, rank.now);
    for (const auto &[number, processes] : processes_) {
        const auto heard = ranks_.find(number);
        const bool ended = heard != ranks_.end() && heard->second.state.ended;
        const auto found = is_stopped_ && !ended
                               ? std::find_if(processes.begin(), processes.end(), is_stopped_)
                               : processes.end();
        if (found == processes.end())
            stopped_.erase(number);
        else
            stopped_.try_emplace(number, Stop{*found, now});
    }
}

// All that are not stopped stand still, and may do so because of those that are.
std::optional<HangJudge::Verdict> HangJudge::verdict_of_stopped() {
    if (stopped_.empty() || !told_.empty())
        return std::nullopt;
    Stillness still = stillness();
    for (int rank = 0; rank < size_; ++rank) {
        const auto stop = stopped_.find(rank);
        if (stop != stopped_.end())
            still.latest_begin = std::max(still.latest_begin, stop->second.since);
        else if (!ranks_.contains(rank))
            return std::nullopt;
    }
    if (!still.lasts())
        return std::nullopt;
    told_ = still.begins;
    told_certain_ = false;
    Verdict verdict;
    for (const auto &[number, stop] : stopped_)
        verdict.text +=
            fmt::format("sennit: rank {} (process {}) is stopped, by a signal or a debugger\n",
                        number, stop.process);
    verdict.text +=
        fmt::format("sennit: perhaps others wait for {}: no other rank has moved for {} s\n",
                    stopped_.size() == 1 ? "it" : "them", still.seconds());
    tell_of(still, verdict.text);
    verdict.text += look_at_cores(still.grace).text;
    return verdict;
}

CoreWaits HangJudge::look_at_cores(std::uint64_t least_ns) const {
    return look_at_cores_ ? look_at_cores_(processes_, least_ns) : CoreWaits();
}

void HangJudge::tell_of(const Stillness &still, std::string &text) const {
    for (const auto &[number, since] : still.begins) {
        const Rank &rank = ranks_.at(number);
        text += fmt::format("sennit: rank {} (process {}):\n{}", number, rank.process, rank.text);
    }
}

// Some ranks stand still, and all others wait for a core.
std::optional<HangJudge::Verdict> HangJudge::verdict_of_cores() {
    const Stillness still = stillness();
    if (!told_.empty() || !still.lasts())
        return std::nullopt;
    const CoreWaits waits = look_at_cores(still.grace);
    for (int rank = 0; rank < size_; ++rank)
        if (!ranks_.contains(rank) && !waits.ranks.contains(rank))
            return std::nullopt;
    told_ = still.begins;
    told_certain_ = false;
    Verdict verdict;
    verdict.text = fmt::format(
        "sennit: no deadlock: all ranks that have moved in the last {} s wait for a core\n{}",
        still.seconds(), waits.text);
    tell_of(still, verdict.text);
    return verdict;
}

// Where several nodes are one machine, more are heard, and perhaps all.
bool HangJudge::has_whole_node() const {
    return told_alone_ > 0 && static_cast<int>(of_node_.size()) == told_alone_;
}

std::optional<HangJudge::Verdict> HangJudge::verdict_of_node() {
    const Stillness still = stillness();
    if (!told_.empty() || !still.lasts() ||
        !std::all_of(of_node_.begin(), of_node_.end(),
                     [this](int rank) { return ranks_.contains(rank); }))
        return std::nullopt;
    told_ = still.begins;
    told_certain_ = false;
    std::vector<int> waiting; // not those that have ended
    for (const auto &[number, since] : still.begins)
        waiting.push_back(number);
    Verdict verdict;
    verdict.text = fmt::format(
        "sennit: node {}: {} for {} s; ranks on other nodes may be at work\n", host_name(),
        waiting.size() == 1 ? fmt::format("rank {} has not moved", waiting[0])
                            : fmt::format("none of ranks {} has moved", fmt::join(waiting, ", ")),
        still.seconds());
    tell_of(still, verdict.text);
    verdict.text += look_at_cores(still.grace).text;
    return verdict;
}

std::optional<HangJudge::Verdict> HangJudge::verdict() {
    if (ended_) // on their way to the end ranks may move
        return std::nullopt;
    look_for_stopped();
    if (!told_.empty()) {
        // A rank that ends may be ended because of the hang.
        const bool moved = std::any_of(told_.begin(), told_.end(), [&](const auto &before) {
            const auto rank = ranks_.find(before.first);
            return rank == ranks_.end() ||
                   (!rank->second.state.ended && rank->second.since != before.second);
        });
        if (moved) {
            told_.clear();
            return Verdict{"sennit: the job goes on\n", {}};
        }
        if (told_certain_)
            return std::nullopt;
    }
    if (!stopped_.empty())
        return verdict_of_stopped();
    if (static_cast<int>(ranks_.size()) < size_)
        return has_whole_node() ? verdict_of_node() : verdict_of_cores();
    const Stillness still = stillness();
    if (!still.lasts())
        return std::nullopt;
    std::map<int, RankState> states;
    for (const auto &[number, rank] : ranks_)
        states.emplace(number, rank.state);
    const HangState state(std::move(states), size_);
    const HangState::UnderWay under_way = state.under_way();
    // What is not certain may become so when the ranks look again.
    if (under_way == HangState::UnderWay::certain ||
        (under_way == HangState::UnderWay::perhaps && !told_.empty()))
        return std::nullopt;
    told_ = still.begins;
    told_certain_ = under_way == HangState::UnderWay::none;
    Verdict verdict = describe(still, state, told_certain_);
    ended_ = !verdict.processes.empty();
    return verdict;
}

HangJudge::Verdict HangJudge::describe(const Stillness &still, const HangState &state,
                                       bool certain) const {
    const bool outside = std::any_of(ranks_.begin(), ranks_.end(),
                                     [](const auto &entry) { return entry.second.outside; });
    Verdict verdict;
    verdict.text =
        fmt::format("sennit: {}the job hangs: none of its {} rank{} has moved for {} s{}{}\n",
                    certain ? "" : "perhaps ", size_, size_ == 1 ? "" : "s", still.seconds(),
                    outside ? "; something waits for an event from outside" : "",
                    certain ? "" : "; messages may be under way that Sennit does not know of");
    for (const auto &[number, rank] : ranks_) {
        if (rank.state.ended) {
            verdict.text += fmt::format("sennit: rank {} has ended\n", number);
            continue;
        }
        verdict.text +=
            fmt::format("sennit: rank {} (process {}):\n{}", number, rank.process, rank.text);
        if (rank.abort && certain && !outside)
            verdict.processes.push_back(rank.process);
    }
    verdict.text += state.causes() + look_at_cores(still.grace).text;
    if (!verdict.processes.empty())
        verdict.text += "sennit: its ranks are ended because of SENNIT_HANG=abort\n";
    return verdict;
}

} // namespace sennit::tool

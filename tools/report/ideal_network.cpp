// SPDX-License-Identifier: Apache-2.0
// The same ranks on a network that takes no time: each computes as long as it did between its calls
// of MPI, and waits for messages only until they are sent. A collective call is over when the last
// of its ranks has come. This is sound where a rank is a sequence: one thread calls MPI, outside of
// tasks, and no other one computes meanwhile. When a task runs is the scheduler's decision, which a
// trace of one run does not tell for another one.
// A call may reach over an end of the window. Nobody waits for what is outside of it: what came
// before the window is there, and a rank that waits for what comes behind it has done its part.
#include "efficiency.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace sennit::report {

using namespace trace;

namespace {

constexpr const char *kCollectives[] = {
    "MPI_Allgather", "MPI_Allgatherv",     "MPI_Allreduce",
    "MPI_Alltoall",  "MPI_Alltoallv",      "MPI_Alltoallw",
    "MPI_Barrier",   "MPI_Bcast",          "MPI_Exscan",
    "MPI_Gather",    "MPI_Gatherv",        "MPI_Reduce",
    "MPI_Scan",      "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
    "MPI_Scatter",   "MPI_Scatterv",
};
bool is_collective(const std::string &name) {
    return std::ranges::find(kCollectives, name) != std::end(kCollectives);
}

using Members = std::vector<int>; // of a communicator: ranks of the job

struct Meeting {
    std::uint32_t in_trace = 0, in_window = 0; // calls of it
    std::uint32_t came = 0;                    // of those in the window, on the ideal network
    Ns last = 0;
};

// The collective calls of the same ranks are numbered, on each rank, from the trace's begin. Lists
// of ranks may be long, and there are few of them.
class Meetings {
  public:
    struct Ordinal {
        std::uint32_t list = kNone, number = 0;
    };

    std::uint32_t list_of(Members members) {
        const auto next = static_cast<std::uint32_t>(lists_.size());
        const auto [at, fresh] = numbers_.try_emplace(std::move(members), next);
        if (fresh)
            lists_.push_back({at->first.size(), {}});
        return at->second;
    }
    Meeting &at(const Ordinal &place) {
        std::vector<Meeting> &all = lists_[place.list].meetings;
        if (all.size() <= place.number)
            all.resize(place.number + 1);
        return all[place.number];
    }
    bool is_whole(const Ordinal &place) { return at(place).in_trace >= lists_[place.list].members; }

  private:
    struct List {
        std::size_t members;
        std::vector<Meeting> meetings;
    };
    std::map<Members, std::uint32_t> numbers_;
    std::vector<List> lists_;
};

// What a rank does after it has computed for `before`.
struct Step {
    Ns before = 0;
    std::uint32_t sends = kNone;         // a message
    std::vector<std::uint32_t> receives; // waits for these
    Meetings::Ordinal meets{};           // the others of a communicator
};

// A rank's steps in the window, or the reason why it is no sequence of such.
class Sequence {
  public:
    Sequence(const Process &process, const Window &window, Meetings &meetings)
        : process_(process), meetings_(meetings), window_(window), clock_(window.begin) {
        collect_waits();
        for (std::uint32_t c = 0; c < process.calls.size() && why_.empty(); ++c) {
            const Call &call = process.calls[c];
            const std::string what = name(call);
            if (!is_mpi_call(what))
                continue;
            const Meetings::Ordinal place =
                is_collective(what) && !call.post ? place_of(call) : Meetings::Ordinal{};
            if (call.end >= window.begin && call.begin <= window.end)
                take(c, place);
        }
        tail_ = std::max<Ns>(0, std::min(window.end, process.end) - clock_);
    }
    const std::vector<Step> &steps() const { return steps_; }
    const std::string &why() const { return why_; }
    Ns tail() const { return tail_; }     // behind the last call
    Ns in_mpi() const { return in_mpi_; } // recorded

  private:
    void refuse(const std::string &why) {
        if (why_.empty())
            why_ = why;
    }
    std::string name(const Call &call) const { return process_.file.name_of(call.name); }

    void collect_waits() {
        for (std::uint32_t c = 0; c < process_.calls.size(); ++c)
            if (process_.calls[c].post && process_.calls[c].wait != kNone)
                posts_[process_.calls[c].wait].push_back(c);
    }

    // Each collective call of the trace takes the next one, in the window or not.
    Meetings::Ordinal place_of(const Call &call) {
        auto known = lists_.find(call.group);
        if (known == lists_.end()) {
            const auto group = process_.file.groups.find(call.group);
            if (group == process_.file.groups.end())
                return {};
            Members members = group->second.ranks;
            for (int i = 0; group->second.ranks.empty() && i < group->second.size; ++i)
                members.push_back(i);
            known = lists_.emplace(call.group, meetings_.list_of(std::move(members))).first;
        }
        const Meetings::Ordinal place{known->second, met_[known->second]++};
        ++meetings_.at(place).in_trace;
        return place;
    }

    void take(std::uint32_t number, const Meetings::Ordinal &place) {
        const Call &call = process_.calls[number];
        if (call.task != 0 && process_.tasks[call.task].ran())
            return refuse("MPI is called in tasks, and when those run is the scheduler's decision");
        if (thread_ == kNone)
            thread_ = call.thread;
        if (call.thread != thread_)
            return refuse(fmt::format("several threads of rank {} call MPI", process_.rank));
        if (call.open)
            return refuse(fmt::format("the trace ends within a {}", name(call)));
        Step step;
        step.meets = place;
        step.before = std::max<Ns>(0, call.begin - clock_);
        if (call.post && !add_post(call, step))
            return;
        if (!call.post && !add_call(number, step))
            return;
        const Ns end = std::min(call.end, window_.end);
        in_mpi_ += std::max<Ns>(0, end - std::max(call.begin, clock_));
        clock_ = std::max(clock_, end);
        steps_.push_back(std::move(step));
    }

    // False: nothing happens there, or it is refused.
    bool add_post(const Call &call, Step &step) {
        if (call.direction == kNeither)
            refuse(fmt::format("{} is not replayed", name(call)));
        step.sends = call.message;
        return call.direction == kSend;
    }

    bool add_call(std::uint32_t number, Step &step) {
        const Call &call = process_.calls[number];
        const std::string what = name(call);
        for (const std::uint32_t post : posts_[number])
            if (process_.calls[post].direction == kReceive)
                receive(process_.calls[post], step);
        if (call.probe || what.starts_with("MPI_Test") || what == "MPI_Waitany" ||
            what == "MPI_Waitsome")
            refuse(fmt::format("what {} finds depends on the network", what));
        else if (call.direction == kSend)
            step.sends = call.message;
        else if (call.direction == kReceive)
            receive(call, step);
        else if (is_collective(what))
            meet(call, step.meets);
        else if (!what.starts_with("MPI_Wait"))
            refuse(fmt::format("{} is not replayed", what));
        return why_.empty();
    }

    void receive(const Call &call, Step &step) {
        if (call.message != kNone)
            step.receives.push_back(call.message);
        else if (call.peer != -1) // of MPI_PROC_NULL there is none
            refuse(fmt::format("the message of a {} is not known", name(call)));
    }

    void meet(const Call &call, const Meetings::Ordinal &place) {
        if (place.list == kNone)
            return refuse(fmt::format("the ranks of a {} are not known", name(call)));
        ++meetings_.at(place).in_window;
    }

    const Process &process_;
    Meetings &meetings_;
    const Window window_;
    Ns clock_;
    Ns tail_ = 0, in_mpi_ = 0;
    std::uint32_t thread_ = kNone;
    std::map<std::uint32_t, std::vector<std::uint32_t>> posts_; // by the call that waits for them
    std::map<std::uint64_t, std::uint32_t> lists_;              // by communicator
    std::map<std::uint32_t, std::uint32_t> met_;                // by list: how often
    std::vector<Step> steps_;
    std::string why_;
};

class IdealNetwork {
  public:
    IdealNetwork(const Job &job, const std::vector<Sequence> &sequences, Meetings &meetings)
        : sequences_(sequences), meetings_(meetings), ranks_(sequences.size()),
          sent_(job.messages.size(), kNever) {
        // A message from outside of the window is there.
        std::vector<char> within(sent_.size());
        for (const Sequence &sequence : sequences)
            for (const Step &step : sequence.steps())
                if (step.sends != kNone)
                    within[step.sends] = 1;
        for (std::size_t m = 0; m < sent_.size(); ++m)
            sent_[m] = within[m] ? kNever : 0;
    }

    // Negative: the ranks wait for what is not in the trace.
    Ns run() {
        for (bool moves = true; moves;) {
            moves = false;
            for (std::size_t r = 0; r < ranks_.size(); ++r)
                while (go_on(r))
                    moves = true;
        }
        Ns end = 0;
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            if (ranks_[r].next < sequences_[r].steps().size())
                return -1;
            end = std::max(end, ranks_[r].now + sequences_[r].tail());
        }
        return end;
    }

  private:
    struct Rank {
        std::size_t next = 0;
        Ns now = 0;
        bool begun = false; // the next step: it has computed, and may have come to a meeting
    };

    bool go_on(std::size_t r) {
        Rank &rank = ranks_[r];
        if (rank.next >= sequences_[r].steps().size())
            return false;
        const Step &step = sequences_[r].steps()[rank.next];
        if (!rank.begun) {
            rank.begun = true;
            rank.now += step.before;
            if (step.sends != kNone)
                sent_[step.sends] = rank.now;
            if (step.meets.list != kNone) {
                Meeting &meeting = meetings_.at(step.meets);
                ++meeting.came;
                meeting.last = std::max(meeting.last, rank.now);
            }
        }
        Ns now = rank.now;
        for (const std::uint32_t message : step.receives) {
            if (sent_[message] == kNever)
                return false;
            now = std::max(now, sent_[message]);
        }
        if (step.meets.list != kNone) {
            const Meeting &meeting = meetings_.at(step.meets);
            if (meeting.came < meeting.in_window || !meetings_.is_whole(step.meets))
                return false;
            now = std::max(now, meeting.last);
        }
        rank.now = now;
        rank.begun = false;
        ++rank.next;
        return true;
    }

    const std::vector<Sequence> &sequences_;
    Meetings &meetings_;
    std::vector<Rank> ranks_;
    std::vector<Ns> sent_; // by message
};

} // namespace

IdealTime ideal_time(const Job &job, const Window &window, const std::vector<double> &outside_mpi) {
    // A hundredth of the time is what an efficiency may be wrong by.
    const double tolerance = 0.01 * static_cast<double>(window.length());
    std::vector<Sequence> sequences;
    Meetings meetings;
    double longest = 0;
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const Sequence &one = sequences.emplace_back(job.processes[p], window, meetings);
        if (!one.why().empty())
            return {-1, one.why()};
        const auto alone = static_cast<double>(window.length() - one.in_mpi());
        if (std::abs(alone - outside_mpi[p]) > tolerance)
            return {-1, fmt::format("threads of rank {} compute while another one is in MPI",
                                    job.processes[p].rank)};
        longest = std::max(longest, outside_mpi[p]);
    }
    const Ns length = IdealNetwork(job, sequences, meetings).run();
    if (length < 0)
        return {-1, "messages or ranks are missing in the trace"};
    // Where a call was over before its last rank had come, a network could not have made it longer.
    return {std::clamp(length, static_cast<Ns>(longest), window.length()), ""};
}

} // namespace sennit::report

// SPDX-License-Identifier: Apache-2.0
// The same ranks on a network that takes no time: each computes as long as it did between its calls
// of MPI, and waits for messages only until they are sent. A collective call is over when the last
// of its ranks has come. This is sound where a rank is a sequence: one thread calls MPI, outside of
// tasks, and no other one computes meanwhile. When a task runs is the scheduler's decision, which a
// trace of one run does not tell for another one.
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

// What a rank does after it has computed for `before`.
struct Step {
    Ns before = 0;
    std::uint32_t sends = kNone;         // a message
    std::vector<std::uint32_t> receives; // waits for these
    bool meets = false;                  // the others of a communicator
    Members members;
};

// A rank's steps in the window, or the reason why it is no sequence of such.
class Sequence {
  public:
    Sequence(const Process &process, const Window &window)
        : process_(process), clock_(window.begin) {
        collect_waits();
        for (std::uint32_t c = 0; c < process.calls.size() && why_.empty(); ++c) {
            const Call &call = process.calls[c];
            if (is_mpi_call(process.file.name_of(call.name)) && call.end >= window.begin &&
                call.begin <= window.end)
                take(c);
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

    void take(std::uint32_t number) {
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
        step.before = std::max<Ns>(0, call.begin - clock_);
        if (call.post && !add_post(call, step))
            return;
        if (!call.post && !add_call(number, step))
            return;
        in_mpi_ += call.end - std::max(call.begin, clock_);
        clock_ = std::max(clock_, call.end);
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
            meet(call, step);
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

    void meet(const Call &call, Step &step) {
        const auto group = process_.file.groups.find(call.group);
        if (group == process_.file.groups.end())
            return refuse(fmt::format("the ranks of a {} are not known", name(call)));
        step.meets = true;
        step.members = group->second.ranks;
        for (int i = 0; group->second.ranks.empty() && i < group->second.size; ++i)
            step.members.push_back(i);
    }

    const Process &process_;
    Ns clock_;
    Ns tail_ = 0, in_mpi_ = 0;
    std::uint32_t thread_ = kNone;
    std::map<std::uint32_t, std::vector<std::uint32_t>> posts_; // by the call that waits for them
    std::vector<Step> steps_;
    std::string why_;
};

class IdealNetwork {
  public:
    IdealNetwork(const Job &job, const std::vector<Sequence> &sequences)
        : sequences_(sequences), ranks_(sequences.size()), sent_(job.messages.size(), kNever) {
        // A message from before the window is there.
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
        std::map<Members, std::size_t> met; // how often
    };
    struct Meeting {
        std::size_t came = 0;
        Ns last = 0;
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
            if (step.meets) {
                Meeting &meeting = meetings_[{step.members, rank.met[step.members]}];
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
        if (step.meets) {
            const Meeting &meeting = meetings_[{step.members, rank.met[step.members]}];
            if (meeting.came < step.members.size())
                return false;
            ++rank.met[step.members];
            now = std::max(now, meeting.last);
        }
        rank.now = now;
        rank.begun = false;
        ++rank.next;
        return true;
    }

    const std::vector<Sequence> &sequences_;
    std::vector<Rank> ranks_;
    std::vector<Ns> sent_; // by message
    std::map<std::pair<Members, std::size_t>, Meeting> meetings_;
};

} // namespace

IdealTime ideal_time(const Job &job, const Window &window, const std::vector<double> &outside_mpi) {
    // A hundredth of the time is what an efficiency may be wrong by.
    const double tolerance = 0.01 * static_cast<double>(window.length());
    std::vector<Sequence> sequences;
    double longest = 0;
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const Sequence &one = sequences.emplace_back(job.processes[p], window);
        if (!one.why().empty())
            return {-1, one.why()};
        const auto alone = static_cast<double>(window.length() - one.in_mpi());
        if (std::abs(alone - outside_mpi[p]) > tolerance)
            return {-1, fmt::format("threads of rank {} compute while another one is in MPI",
                                    job.processes[p].rank)};
        longest = std::max(longest, outside_mpi[p]);
    }
    const Ns length = IdealNetwork(job, sequences).run();
    if (length < 0)
        return {-1, "messages or ranks are missing in the trace"};
    // Where a call was over before its last rank had come, a network could not have made it longer.
    return {std::clamp(length, static_cast<Ns>(longest), window.length()), ""};
}

} // namespace sennit::report

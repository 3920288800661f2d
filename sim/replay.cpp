// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include "base/printable.h"
#include "trace/replay.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sennit::sim {
namespace {

// Shorter work before or after a call is a part of the call.
constexpr Time kWorthAPiece = 1000;
// Messages that tell of the network: bytes of those that show its latency, and its bandwidth.
constexpr std::uint64_t kShort = 4096, kLong = 65536;
constexpr std::size_t kEnoughMessages = 8;

// What a task does for a message.
struct Stop {
    Time at; // in the task's own time
    Time length;
    trace::Ns when; // recorded
    Part part;
    const trace::Call *call; // the send or the receive, also where it is waited for

    // Of what happens in one call the waits are last: MPI_Sendrecv waits for its send when it has
    // begun to receive.
    bool operator<(const Stop &other) const {
        return std::tuple(at, when, part == Part::wait) <
               std::tuple(other.at, other.when, other.part == Part::wait);
    }
};

// By a task that is replayed; what is outside of such ones may have the number of an implicit task.
bool in_task(const trace::Process &process, std::uint32_t task) {
    return task != 0 && process.tasks[task].ran() && process.tasks[task].ended != trace::kNever;
}

// What becomes of a call.
enum class Role {
    message, // between two tasks, both ends known
    wait,    // for what was begun: that is looked at; or a probe: the receive waits
    other,   // a collective call, one of files or windows
    outside, // of tasks, or the other end is
    alone,   // the other end is not in the trace
};

// Their names tell them from others that neither send nor receive.
bool is_wait(const std::string &call) {
    return call.starts_with("MPI_Wait") || call.starts_with("MPI_Test");
}

Role role_of(const trace::Job &job, const trace::Process &process, const trace::Call &call) {
    if (call.direction == trace::kNeither)
        return is_wait(process.file.name_of(call.name)) ? Role::wait : Role::other;
    if (call.probe || call.peer == -1)
        return Role::wait; // MPI_PROC_NULL: nothing to wait for
    if (call.message == trace::kNone)
        return in_task(process, call.task) ? Role::alone : Role::outside;
    const trace::Message &message = job.messages[call.message];
    const trace::Process &from = job.processes[message.from], &to = job.processes[message.to];
    const bool both =
        in_task(from, from.calls[message.send].task) && in_task(to, to.calls[message.receive].task);
    return both ? Role::message : Role::outside;
}

// Can the completion of its task have waited until the operation was over? Not before the other end
// had begun. So whatever is replayed agrees with the recorded order of times, and adds no cycle.
bool may_have_waited(const trace::Job &job, const trace::Process &process,
                     const trace::Call &call) {
    const trace::Message &message = job.messages[call.message];
    const trace::Call &other = call.direction == trace::kSend
                                   ? job.processes[message.to].calls[message.receive]
                                   : job.processes[message.from].calls[message.send];
    const trace::Task &task = process.tasks[call.task];
    return other.begin <= (task.completed == trace::kNever ? task.ended : task.completed);
}

[[noreturn]] void refuse(const trace::Process &process, std::uint64_t task, std::uint64_t before,
                         const char *why) {
    const bool known = task < process.tasks.size();
    throw trace::TraceError(fmt::format(
        "{}: task {}{} depends on task {}, {}", printable(process.file.path.string()), task,
        known ? fmt::format(" ({})", process.name(static_cast<std::uint32_t>(task))) : "", before,
        why));
}

bool is_whole(const trace::Process &process) {
    return process.file.finished() && process.file.notes.empty();
}

// Of a dependence on a task that does not come before: is that missing because the trace has gaps
// or no end? A whole one that says so says nonsense.
bool is_lost(const trace::Process &process, const trace::Edge &edge) {
    const trace::Task &before = process.tasks[edge.predecessor];
    if (before.ran() && before.ended != trace::kNever)
        refuse(process, edge.successor, edge.predecessor, "which was created after it: a cycle");
    if (before.seen())
        return false; // it is left out itself
    if (is_whole(process))
        refuse(process, edge.successor, edge.predecessor, "which is not in the trace");
    return true;
}

// Which it is, for a note: rank 0's MPI_Send to rank 1, tag 7.
std::string text_of(const trace::Process &process, const trace::Call &call) {
    const bool sends = call.direction == trace::kSend;
    return fmt::format("rank {}'s {} {} {}, tag {}", process.rank, process.file.name_of(call.name),
                       sends ? "to" : "from",
                       call.peer == trace::kAny ? "any rank" : fmt::format("rank {}", call.peer),
                       call.tag);
}

} // namespace

// Fills a replay from a trace, a process at a time; what is left out is counted for the notes.
class Replay::Reader {
  public:
    Reader(Replay &replay, const trace::Job &job) : to_(replay), job_(job) {}

    void read() {
        to_.notes_ = job_.notes;
        for (const trace::Process &process : job_.processes)
            read(process);
        if (!job_.processes.empty())
            to_.policy_ = job_.processes.front().file.header.policy;
        read_network();
        if (end_ > begin_)
            to_.recorded_ = static_cast<double>(end_ - begin_) * 1e-9;
        write_notes();
    }

  private:
    using Stops = std::vector<std::vector<Stop>>; // of each task

    // The creating thread, up to its latest task.
    struct Creator {
        std::vector<trace::Ns> waits; // for all its tasks so far
        trace::Ns made = 0, ran = 0;
        bool first = true;
    };

    // From the send's begin to the receive's end, if the receive had begun before.
    void read_network() {
        RecordedNetwork &network = to_.network_;
        network.one_machine = std::ranges::all_of(job_.processes, [&](const auto &process) {
            return process.file.shares_clock(job_.processes.front().file);
        });
        std::vector<double> latencies, rates;
        const auto note = [&](const trace::Message &message, bool is_short) {
            const trace::Process &from = job_.processes[message.from],
                                 &to = job_.processes[message.to];
            const trace::Call &send = from.calls[message.send],
                              &receive = to.calls[message.receive];
            const double took = static_cast<double>(to.over(receive) - send.begin);
            if (receive.begin > send.begin || took <= 0)
                return;
            if (is_short && send.bytes <= kShort)
                latencies.push_back(took);
            if (!is_short && send.bytes >= kLong && took > network.latency)
                rates.push_back(static_cast<double>(send.bytes) / (took - network.latency));
        };
        // Of those that took longer, somebody came late to look.
        const auto quartile = [](std::vector<double> &of, double part) {
            if (of.size() < kEnoughMessages)
                return 0.0;
            const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(of.size() - 1));
            std::nth_element(of.begin(), of.begin() + at, of.end());
            return of[static_cast<std::size_t>(at)];
        };
        for (const trace::Message &message : job_.messages)
            note(message, true);
        network.latency = quartile(latencies, 0.25);
        for (const trace::Message &message : job_.messages)
            note(message, false);
        network.bandwidth = quartile(rates, 0.75);
    }

    void read(const trace::Process &process) {
        Rank &rank = to_.ranks_.emplace_back();
        rank.data = static_cast<std::uint32_t>(process.tasks.size());
        refuse_loose_edges(process);
        const auto workers = std::count_if(process.threads.begin(), process.threads.end(),
                                           [](const auto &thread) { return thread.row >= 0; });
        to_.threads_ = std::max(to_.threads_, static_cast<int>(workers));
        Stops stops = find_stops(process);
        const std::vector<std::uint32_t> order = find_order(process);
        Creator creator{find_waits(process)};
        std::vector<char> known(process.tasks.size());
        for (const std::uint32_t t : order) {
            const trace::Task &task = process.tasks[t];
            begin_ = std::min({begin_, task.created, task.started});
            end_ = std::max(end_, task.ended);
            TaskSpec spec;
            spec.function = number_of(process.name(t));
            set_creation(spec, task, creator);
            const Piece whole = connect(process, t, rank, known);
            known[t] = 1;
            cut(rank, whole, spec, task.running, stops[t]);
        }
        to_.count_ += rank.pieces.size();
        to_.tasks_ += order.size();
    }

    void refuse_loose_edges(const trace::Process &process) {
        lost_ += process.loose_edges.size();
        if (process.loose_edges.empty() || !is_whole(process))
            return;
        const auto [before, after] = process.loose_edges.front();
        refuse(process, after, before, before == after ? "itself" : "which is not in the trace");
    }

    // Where tasks call MPI.
    Stops find_stops(const trace::Process &process) {
        Stops stops(process.tasks.size());
        for (const trace::Call &call : process.calls) {
            const Role role = role_of(job_, process, call);
            count(process, call, role);
            if (role != Role::message)
                continue;
            to_.messages_ += call.direction == trace::kSend;
            const Part part = call.post ? add_wait(process, call, stops) : Part::whole;
            stops[call.task].push_back({call.ran_before, call.ran_within, call.begin, part, &call});
        }
        return stops;
    }

    // Where a task waits for what was begun; how it was begun.
    Part add_wait(const trace::Process &process, const trace::Call &call, Stops &stops) {
        const auto bind = [&](std::uint32_t task) {
            const trace::Ns end = process.tasks[task].running;
            stops[task].push_back({end, 0, process.tasks[task].ended, Part::bound, &call});
            return Part::begin;
        };
        if (call.bound)
            return in_task(process, call.bound) ? bind(call.bound) : Part::let_go;
        if (call.wait != trace::kNone) {
            const trace::Call &wait = process.calls[call.wait];
            if (!in_task(process, wait.task)) {
                ++waited_outside_;
                return Part::let_go;
            }
            stops[wait.task].push_back(
                {wait.ran_before, wait.ran_within, wait.begin, Part::wait, &call});
            return Part::begin;
        }
        if (call.request == 0) // MPI_Bsend
            return Part::let_go;
        ++unwaited_;
        return may_have_waited(job_, process, call) ? bind(call.task) : Part::let_go;
    }

    void count(const trace::Process &process, const trace::Call &call, Role role) {
        ++calls_;
        if (role == Role::other) {
            ++others_;
            in_tasks_ += in_task(process, call.task);
            other_names_.insert(process.file.name_of(call.name));
        }
        outside_ += role == Role::outside;
        if (role == Role::alone && alone_++ == 0)
            first_alone_ = text_of(process, call);
    }

    // Of the tasks that are replayed: that of their creation.
    std::vector<std::uint32_t> find_order(const trace::Process &process) {
        std::vector<std::uint32_t> order;
        for (std::uint32_t t = 1; t < process.tasks.size(); ++t) {
            const trace::Task &task = process.tasks[t];
            if (!task.seen())
                continue;
            if (task.ran() && task.ended != trace::kNever)
                order.push_back(t);
            else
                ++unfinished_;
            nested_ += task.parent != 0 && process.tasks[task.parent].ran();
        }
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return process.tasks[a].order < process.tasks[b].order;
        });
        return order;
    }

    static std::vector<trace::Ns> find_waits(const trace::Process &process) {
        std::vector<trace::Ns> waits;
        for (const trace::WaitSpan &wait : process.waits)
            if (wait.task == 0 && (wait.reason == trace::WaitReason::children ||
                                   wait.reason == trace::WaitReason::taskgroup ||
                                   wait.reason == trace::WaitReason::barrier))
                waits.push_back(wait.begin);
        std::sort(waits.begin(), waits.end());
        return waits;
    }

    std::uint8_t number_of(const std::string &name) {
        auto &functions = to_.functions_;
        auto [at, fresh] = numbers_.emplace(name, static_cast<std::uint8_t>(functions.size()));
        if (fresh) {
            if (functions.size() < 255)
                functions.push_back(name);
            else
                at->second = 254;
        }
        return at->second;
    }

    static void set_creation(TaskSpec &spec, const trace::Task &task, Creator &creator) {
        if (task.created == trace::kNever)
            return;
        const auto wait =
            std::upper_bound(creator.waits.begin(), creator.waits.end(), creator.made);
        spec.after_all = !creator.first && wait != creator.waits.end() && *wait < task.created;
        if (!creator.first && !spec.after_all && task.parent_ran > creator.ran)
            spec.before = task.parent_ran - creator.ran;
        creator.made = task.created;
        creator.ran = task.parent_ran;
        creator.first = false;
    }

    // Task t with its dependences, as one piece.
    Piece connect(const trace::Process &process, std::uint32_t t, Rank &rank,
                  const std::vector<char> &known) {
        const auto first = static_cast<std::uint32_t>(rank.edges.size());
        auto edge = std::lower_bound(process.edges.begin(), process.edges.end(), t,
                                     [](const trace::Edge &one, std::uint32_t successor) {
                                         return one.successor < successor;
                                     });
        for (; edge != process.edges.end() && edge->successor == t; ++edge) {
            if (known[edge->predecessor])
                rank.edges.push_back(edge->predecessor);
            else
                lost_ += is_lost(process, *edge);
        }
        return {{}, t, first, static_cast<std::uint32_t>(rank.edges.size()) - first};
    }

    // Into pieces: up to a stop, the stop, what follows.
    void cut(Rank &rank, const Piece &whole, TaskSpec spec, trace::Ns running,
             std::vector<Stop> &stops) const {
        const std::size_t begin = rank.pieces.size();
        const auto add = [&](const TaskSpec &what) {
            Piece piece = whole;
            piece.task = what;
            if (rank.pieces.size() > begin)
                piece.wait_for_none();
            rank.pieces.push_back(piece);
        };
        std::stable_sort(stops.begin(), stops.end());
        Time done = 0;
        for (const Stop &stop : stops) {
            if (stop.at - done >= kWorthAPiece) {
                spec.kind = Kind::compute;
                spec.duration = stop.at - done;
                add(spec);
            }
            done = std::max(done, stop.at + stop.length);
            add(call_at(stop, spec));
        }
        const Time rest = running - done;
        if (rest >= kWorthAPiece || rank.pieces.size() == begin) {
            spec.kind = Kind::compute;
            spec.duration = std::max<Time>(rest, 0);
            add(spec);
        }
    }

    TaskSpec call_at(const Stop &stop, TaskSpec spec) const {
        const trace::Message &message = job_.messages[stop.call->message];
        spec.kind = stop.call->direction == trace::kSend ? Kind::send : Kind::receive;
        spec.duration = 0;
        spec.part = stop.part;
        spec.message = stop.call->message;
        spec.bytes = job_.processes[message.from].calls[message.send].bytes;
        spec.peer = spec.kind == Kind::send ? message.to : message.from;
        return spec;
    }

    void write_notes() const {
        auto &notes = to_.notes_;
        const auto note = [&](std::uint64_t count, const char *what) {
            if (count > 0)
                notes.push_back(fmt::format("{} {}", count, what));
        };
        if (to_.tasks_ == 0)
            notes.emplace_back("no task was recorded: there is nothing to simulate");
        else if (calls_ == 0)
            notes.emplace_back("no call of MPI was recorded: every rank runs on its own");
        note(unfinished_, "tasks did not end before the trace did: left out");
        if (others_ > 0)
            notes.push_back(fmt::format(
                "{} calls ({} of them in tasks) are not modelled: {}: they wait for nobody",
                others_, in_tasks_, fmt::join(other_names_, ", ")));
        note(outside_,
             "sends and receives outside of tasks, or to or from there, are not modelled: they "
             "wait for nobody");
        if (alone_ > 0)
            notes.push_back(fmt::format("{} sends and receives have no other end in the trace, "
                                        "the first is {}: they wait for nobody",
                                        alone_, first_alone_));
        note(waited_outside_,
             "sends and receives that tasks began are waited for outside of tasks: "
             "here nobody waits");
        note(unwaited_,
             "sends and receives that tasks began are waited for by no call in the trace "
             "(MPI_Test, MPIX_Detach): the completion of the task waits, where that "
             "can have been so");
        note(lost_, "dependences on tasks that are not in the trace: left out");
        note(nested_, "tasks of tasks are created where their parents are");
    }

    Replay &to_;
    const trace::Job &job_;
    std::map<std::string, std::uint8_t> numbers_; // of functions
    trace::Ns begin_ = trace::kNever, end_ = 0;
    std::uint64_t calls_ = 0, others_ = 0, in_tasks_ = 0, outside_ = 0, alone_ = 0;
    std::uint64_t waited_outside_ = 0, unwaited_ = 0, unfinished_ = 0, lost_ = 0, nested_ = 0;
    std::set<std::string> other_names_;
    std::string first_alone_;
};

Replay::Replay(const std::filesystem::path &folder) : Replay(trace::read_job(folder)) {}

Replay::Replay(const trace::Job &job) {
    Reader(*this, job).read();
}

Tasks Replay::tasks_of(int number, Marks marks) const {
    const Rank &rank = ranks_[static_cast<std::size_t>(number)];
    std::vector<Access> accesses;
    TaskSpec task;
    std::size_t end = 0; // of the pieces of one task
    bool sends = false;
    for (std::size_t i = 0; i < rank.pieces.size(); ++i) {
        const Piece &piece = rank.pieces[i];
        const bool goes_on = i < end;
        if (!goes_on)
            for (sends = false; end < rank.pieces.size() && rank.pieces[end].datum == piece.datum;)
                sends |= rank.pieces[end++].task.begins(Kind::send);
        task = piece.task;
        task.goes_on = goes_on;
        task.sends = sends;
        task.clause = marks != Marks::none && sends ? 1 : 0;
        task.add(piece.datum, Access::Mode::inout);
        task.more = nullptr;
        if (piece.edges > 0) {
            accesses.clear();
            for (std::uint32_t edge = 0; edge < piece.edges; ++edge)
                accesses.push_back({rank.edges[piece.first_edge + edge], Access::Mode::last_in});
            task.more = &accesses;
        }
        co_yield task;
    }
}

} // namespace sennit::sim

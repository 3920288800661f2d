// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include "trace/read/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace sennit::sim {
namespace {

// Shorter work before or after a call is a part of the call.
constexpr Time kWorthAPiece = 1000;

struct Stop {
    Time at; // in the task's own time
    Time length;
    const trace::Call *call;
};

// By a task that is replayed; what is outside of such ones may have the number of an implicit task.
bool in_task(const trace::Process &process, std::uint32_t task) {
    return task != 0 && process.tasks[task].ran() && process.tasks[task].ended != trace::kNever;
}

// What becomes of a call.
enum class Role {
    message, // between two tasks, both ends known
    wait,    // for what was posted: that is looked at
    other,   // a collective call, one of files or windows
    outside, // of tasks, or the other end is
    alone,   // the other end is not in the trace
};

// Their names tell them from others that neither send nor receive.
bool is_wait(const std::string &call) {
    constexpr const char *kWaits[] = {"MPI_Wait",   "MPI_Test",   "MPI_Probe",
                                      "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe"};
    return std::any_of(std::begin(kWaits), std::end(kWaits),
                       [&](const char *wait) { return call.starts_with(wait); });
}

Role role_of(const trace::Job &job, const trace::Process &process, const trace::Call &call) {
    if (call.direction == trace::kNeither)
        return is_wait(process.file.name_of(call.name)) ? Role::wait : Role::other;
    if (call.peer == -1)
        return Role::wait; // MPI_PROC_NULL: nothing to wait for
    if (call.message == trace::kNone)
        return in_task(process, call.task) ? Role::alone : Role::outside;
    const trace::Message &message = job.messages[call.message];
    const trace::Process &to = job.processes[message.to];
    const trace::Call &send = job.processes[message.from].calls[message.send];
    const trace::Call &receive = to.calls[message.receive];
    const auto task_of = [&](const trace::Call &end) {
        return end.post && end.wait != trace::kNone ? to.calls[end.wait].task : end.task;
    };
    const bool both = in_task(job.processes[message.from], send.task) &&
                      in_task(to, receive.task) && in_task(to, task_of(receive));
    return both ? Role::message : Role::outside;
}

[[noreturn]] void refuse(const trace::Process &process, std::uint64_t task, std::uint64_t before,
                         const char *why) {
    const bool known = task < process.tasks.size();
    throw trace::TraceError(fmt::format(
        "{}: task {}{} depends on task {}, {}", process.file.path.string(), task,
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

Replay::Replay(const std::filesystem::path &folder) {
    const trace::Job job = trace::read_job(folder);
    notes_ = job.notes;
    trace::Ns begin = trace::kNever, end = 0;
    std::map<std::string, std::uint8_t> numbers;
    std::set<std::string> other_names;
    std::uint64_t others = 0, in_tasks = 0, outside = 0, alone = 0, nested = 0, unfinished = 0,
                  calls = 0, lost = 0;
    std::string first_alone;
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const trace::Process &process = job.processes[p];
        Rank &rank = ranks_.emplace_back();
        const std::size_t tasks = process.tasks.size();
        rank.data = static_cast<std::uint32_t>(tasks);
        lost += process.loose_edges.size();
        if (!process.loose_edges.empty() && is_whole(process)) {
            const auto [before, after] = process.loose_edges.front();
            refuse(process, after, before,
                   before == after ? "itself" : "which is not in the trace");
        }
        const auto workers = std::count_if(process.threads.begin(), process.threads.end(),
                                           [](const auto &thread) { return thread.row >= 0; });
        threads_ = std::max(threads_, static_cast<int>(workers));

        std::vector<std::vector<Stop>> stops(tasks);
        for (const trace::Call &call : process.calls) {
            ++calls;
            const Role role = role_of(job, process, call);
            if (role == Role::other) {
                ++others;
                in_tasks += in_task(process, call.task);
                other_names.insert(process.file.name_of(call.name));
            }
            outside += role == Role::outside;
            if (role == Role::alone && alone++ == 0)
                first_alone = text_of(process, call);
            if (role != Role::message)
                continue;
            messages_ += call.direction == trace::kSend;
            const bool late =
                call.post && call.direction == trace::kReceive && call.wait != trace::kNone;
            const trace::Call &stop = late ? process.calls[call.wait] : call;
            stops[stop.task].push_back({stop.ran_before, stop.ran_within, &call});
        }
        std::vector<std::uint32_t> order;
        for (std::uint32_t t = 1; t < tasks; ++t) {
            if (!process.tasks[t].seen())
                continue;
            if (process.tasks[t].ran() && process.tasks[t].ended != trace::kNever)
                order.push_back(t);
            else
                ++unfinished;
            nested += process.tasks[t].parent != 0 && process.tasks[process.tasks[t].parent].ran();
        }
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return process.tasks[a].order < process.tasks[b].order;
        });
        std::vector<trace::Ns> waits; // the creating thread's, for all tasks so far
        for (const trace::WaitSpan &wait : process.waits)
            if (wait.task == 0 && (wait.reason == trace::WaitReason::children ||
                                   wait.reason == trace::WaitReason::taskgroup ||
                                   wait.reason == trace::WaitReason::barrier))
                waits.push_back(wait.begin);
        std::sort(waits.begin(), waits.end());

        trace::Ns made = 0, ran = 0;
        bool first = true;
        std::vector<char> known(tasks);
        for (const std::uint32_t t : order) {
            const trace::Task &task = process.tasks[t];
            begin = std::min({begin, task.created, task.started});
            end = std::max(end, task.ended);
            const std::string name = process.name(t);
            auto [at, fresh] = numbers.emplace(name, static_cast<std::uint8_t>(functions_.size()));
            if (fresh) {
                if (functions_.size() < 255)
                    functions_.push_back(name);
                else
                    at->second = 254;
            }
            TaskSpec spec;
            spec.function = at->second;
            if (task.created != trace::kNever) {
                const auto wait = std::upper_bound(waits.begin(), waits.end(), made);
                spec.after_all = !first && wait != waits.end() && *wait < task.created;
                if (!first && !spec.after_all && task.parent_ran > ran)
                    spec.before = task.parent_ran - ran;
                made = task.created;
                ran = task.parent_ran;
                first = false;
            }
            const auto edges = static_cast<std::uint32_t>(rank.edges.size());
            auto edge = std::lower_bound(process.edges.begin(), process.edges.end(), t,
                                         [](const trace::Edge &one, std::uint32_t successor) {
                                             return one.successor < successor;
                                         });
            for (; edge != process.edges.end() && edge->successor == t; ++edge) {
                if (known[edge->predecessor])
                    rank.edges.push_back(edge->predecessor);
                else
                    lost += is_lost(process, *edge);
            }
            known[t] = 1;
            const auto edge_count = static_cast<std::uint32_t>(rank.edges.size()) - edges;
            const std::size_t begin = rank.pieces.size();
            const auto piece = [&](TaskSpec what) {
                Piece next{what, t, edges, edge_count};
                if (rank.pieces.size() > begin) { // only the first waits for others
                    next.edges = 0;
                    next.task.before = 0;
                    next.task.after_all = false;
                }
                rank.pieces.push_back(next);
            };
            auto &calls = stops[t];
            std::stable_sort(calls.begin(), calls.end(),
                             [](const Stop &a, const Stop &b) { return a.at < b.at; });
            Time done = 0;
            for (const Stop &stop : calls) {
                if (stop.at - done >= kWorthAPiece) {
                    spec.kind = Kind::compute;
                    spec.duration = stop.at - done;
                    piece(spec);
                }
                done = std::max(done, stop.at + stop.length);
                const trace::Message &message = job.messages[stop.call->message];
                TaskSpec call = spec;
                call.kind = stop.call->direction == trace::kSend ? Kind::send : Kind::receive;
                call.message = stop.call->message;
                call.bytes = job.processes[message.from].calls[message.send].bytes;
                call.peer = call.kind == Kind::send ? message.to : message.from;
                piece(call);
            }
            const Time rest = task.running - done;
            if (rest >= kWorthAPiece || rank.pieces.size() == begin) {
                spec.kind = Kind::compute;
                spec.duration = std::max<Time>(rest, 0);
                piece(spec);
            }
        }
        count_ += rank.pieces.size();
        tasks_ += order.size();
    }
    if (end > begin)
        recorded_ = static_cast<double>(end - begin) * 1e-9;
    const auto note = [&](std::uint64_t count, const char *what) {
        if (count > 0)
            notes_.push_back(fmt::format("{} {}", count, what));
    };
    if (tasks_ == 0)
        notes_.emplace_back("no task was recorded: there is nothing to simulate");
    else if (calls == 0)
        notes_.emplace_back("no call of MPI was recorded: every rank runs on its own");
    note(unfinished, "tasks did not end before the trace did: left out");
    if (others > 0)
        notes_.push_back(
            fmt::format("{} calls ({} of them in tasks) are not modelled: {}: they wait for nobody",
                        others, in_tasks, fmt::join(other_names, ", ")));
    note(outside,
         "sends and receives outside of tasks, or to or from there, are not modelled: they wait "
         "for nobody");
    if (alone > 0)
        notes_.push_back(fmt::format("{} sends and receives have no other end in the trace, the "
                                     "first is {}: they wait for nobody",
                                     alone, first_alone));
    note(lost, "dependences on tasks that are not in the trace: left out");
    note(nested, "tasks of tasks are created where their parents are");
}

Tasks Replay::tasks_of(int number, Marks marks) const {
    const Rank &rank = ranks_[static_cast<std::size_t>(number)];
    std::vector<Access> accesses;
    TaskSpec task;
    for (const Piece &piece : rank.pieces) {
        task = piece.task;
        task.clause = marks != Marks::none && task.kind == Kind::send ? 1 : 0;
        task.add(piece.datum, Access::Mode::inout);
        task.more = nullptr;
        if (piece.edges > 0) {
            accesses.clear();
            for (std::uint32_t i = 0; i < piece.edges; ++i)
                accesses.push_back({rank.edges[piece.first_edge + i], Access::Mode::last_in});
            task.more = &accesses;
        }
        co_yield task;
    }
}

} // namespace sennit::sim

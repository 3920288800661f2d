// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

namespace sennit::report {

using namespace trace;

Window window_of_tasks(const Job &job) {
    Window window{kNever, 0};
    for (const Process &process : job.processes)
        for (const Task &task : process.tasks) {
            if (!task.seen())
                continue;
            window.begin = std::min({window.begin, task.created, task.started});
            if (task.ran())
                window.end = std::max(window.end, task.ended == kNever ? process.end : task.ended);
        }
    if (window.begin == kNever || window.end <= window.begin)
        return {job.begin, std::max(job.begin, job.end)};
    return window;
}

std::vector<int> lanes_of(const std::vector<Window> &spans) {
    std::priority_queue<std::pair<Ns, int>, std::vector<std::pair<Ns, int>>, std::greater<>> busy;
    std::priority_queue<int, std::vector<int>, std::greater<>> free;
    int lanes = 0;
    std::vector<int> result;
    result.reserve(spans.size());
    for (const Window &span : spans) {
        while (!busy.empty() && busy.top().first <= span.begin) {
            free.push(busy.top().second);
            busy.pop();
        }
        result.push_back(free.empty() ? lanes++ : free.top());
        if (!free.empty())
            free.pop();
        busy.emplace(span.end, result.back());
    }
    return result;
}

Shares &Shares::operator+=(const Shares &other) {
    task += other.task;
    program += other.program;
    program_mpi += other.program_mpi;
    idle += other.idle;
    overhead += other.overhead;
    progress_idle += other.progress_idle;
    progress_overhead += other.progress_overhead;
    return *this;
}

namespace {

// When something was ready in a process.
class ReadyTime {
  public:
    explicit ReadyTime(const Process &process) {
        std::int64_t ready = 0;
        Ns total = 0;
        Ns since = 0;
        for (const ReadyChange &change : process.ready) {
            if (ready > 0)
                total += change.at - since;
            since = change.at;
            ready += change.change;
            points_.push_back({since, total, ready > 0});
        }
    }
    // How much of the time up to `at` something was.
    Ns until(Ns at) const {
        auto point = std::upper_bound(points_.begin(), points_.end(), at,
                                      [](Ns t, const Point &p) { return t < p.at; });
        if (point == points_.begin())
            return 0;
        --point;
        return point->total + (point->ready ? at - point->at : 0);
    }

  private:
    struct Point {
        Ns at, total;
        bool ready; // from then on
    };
    std::vector<Point> points_;
};

// What a thread did in [begin, end): visit(interval, from, to) for the parts in there.
template <class Visit>
void each_part(const ThreadModel &thread, Ns begin, Ns end, Visit visit) {
    auto at = std::upper_bound(thread.intervals.begin(), thread.intervals.end(), begin,
                               [](Ns t, const Interval &i) { return t < i.end; });
    for (; at != thread.intervals.end() && at->begin < end; ++at)
        visit(*at, std::max(begin, at->begin), std::min(end, at->end));
}

} // namespace

std::vector<Shares> divide_time(const Process &process, const Window &window) {
    const ReadyTime ready(process);
    std::vector<Shares> all(process.threads.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const ThreadModel &thread = process.threads[i];
        Shares &shares = all[i];
        if (thread.row < 0)
            continue;
        each_part(thread, window.begin, window.end, [&](const Interval &part, Ns from, Ns to) {
            if (part.state == State::task) {
                shares.task += to - from;
            } else if (part.state == State::program) {
                shares.program += to - from;
            } else {
                const Ns busy = ready.until(to) - ready.until(from);
                shares.overhead += busy;
                shares.idle += to - from - busy;
            }
        });
    }
    for (const Polled &polled : process.polls) {
        Shares &shares = all[polled.thread];
        const ThreadModel &thread = process.threads[polled.thread];
        const Ns begin = std::max(polled.begin, window.begin);
        const Ns end = std::min(polled.end, window.end);
        if (thread.row < 0 || end <= begin)
            continue;
        Ns outside = 0;
        Ns busy = 0;
        each_part(thread, begin, end, [&](const Interval &part, Ns from, Ns to) {
            if (part.state != State::outside)
                return;
            outside += to - from;
            busy += ready.until(to) - ready.until(from);
        });
        const Ns spent = std::min(polled.spent, outside);
        if (spent <= 0)
            continue;
        const Ns with_ready =
            std::min(shares.overhead,
                     static_cast<Ns>(static_cast<double>(spent) * static_cast<double>(busy) /
                                     static_cast<double>(outside)));
        const Ns without = std::min(shares.idle, spent - with_ready);
        shares.progress_overhead += with_ready;
        shares.overhead -= with_ready;
        shares.progress_idle += without;
        shares.idle -= without;
    }
    for (const Call &call : process.calls) {
        Shares &shares = all[call.thread];
        if (call.post || (call.task != 0 && process.tasks[call.task].ran()) ||
            !is_mpi_call(process.file.name_of(call.name)))
            continue;
        const Ns begin = std::max(call.begin, window.begin);
        const Ns end = std::min(call.end, window.end);
        if (end <= begin)
            continue;
        Ns here = 0;
        each_part(process.threads[call.thread], begin, end,
                  [&](const Interval &part, Ns from, Ns to) {
                      here += part.state == State::program ? to - from : 0;
                  });
        here = std::min(here, shares.program);
        shares.program -= here;
        shares.program_mpi += here;
    }
    return all;
}

// ---- critical path --------------------------------------------------------------------------

namespace {

class PathFinder {
  public:
    explicit PathFinder(const Job &job) : job_(job), sent_(job.messages.size()) {}

    CriticalPath find() {
        collect();
        for (const Step &step : steps_)
            take(step);
        CriticalPath path;
        path.length = best_.length;
        Ns end = best_.length; // what each contributes is the path to the next one's begin
        for (std::uint32_t at = best_.node; at != kNone; at = nodes_[at].before) {
            const Node &node = nodes_[at];
            path.pieces.push_back({node.process, node.task, end - node.length, node.via_message});
            path.messages += node.via_message;
            end = node.length;
        }
        std::reverse(path.pieces.begin(), path.pieces.end());
        return path;
    }

  private:
    // A point on the longest path: how long that is up to there, and the last node on it.
    struct PathPoint {
        Ns length = 0;
        std::uint32_t node = kNone;
    };
    struct Node { // part of a task
        std::uint32_t process, task, before;
        Ns length; // of the path to its begin
        bool via_message;
    };
    struct Reached { // by a task
        PathPoint path;
        Ns ran = 0;
        PathPoint children;
        bool begun = false;
    };
    enum class What : std::uint8_t { create, start, send, received, waited, end };
    struct Step {
        Ns at;
        What what;
        std::uint32_t process, task, item;
    };

    void collect() {
        reached_.resize(job_.processes.size());
        created_.resize(job_.processes.size());
        edges_.resize(job_.processes.size());
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p) {
            const Process &process = job_.processes[p];
            reached_[p].resize(process.tasks.size());
            created_[p].resize(process.tasks.size());
            auto &first = edges_[p];
            first.assign(process.tasks.size() + 1, 0);
            for (const Edge &edge : process.edges)
                ++first[edge.successor + 1];
            for (std::size_t i = 1; i < first.size(); ++i)
                first[i] += first[i - 1];
            for (std::uint32_t t = 1; t < process.tasks.size(); ++t) {
                const Task &task = process.tasks[t];
                if (!task.ran())
                    continue;
                if (task.parent && task.created != kNever)
                    steps_.push_back({task.created, What::create, p, t, 0});
                steps_.push_back({task.started, What::start, p, t, 0});
                if (task.ended != kNever)
                    steps_.push_back({task.ended, What::end, p, t, 0});
            }
            for (std::uint32_t c = 0; c < process.calls.size(); ++c) {
                const Call &call = process.calls[c];
                if (call.message == kNone || call.open || !process.tasks[call.task].ran())
                    continue;
                const std::uint32_t waiter = process.waiter_of(call);
                if (call.direction == kSend)
                    steps_.push_back({call.begin, What::send, p, call.task, c});
                else if (process.tasks[waiter].ran())
                    steps_.push_back({process.over(call), What::received, p, waiter, c});
            }
            for (std::uint32_t w = 0; w < process.waits.size(); ++w) {
                const WaitSpan &wait = process.waits[w];
                if ((wait.reason == WaitReason::children || wait.reason == WaitReason::taskgroup) &&
                    wait.task < process.tasks.size() && process.tasks[wait.task].ran())
                    steps_.push_back({wait.end, What::waited, p, wait.task, w});
            }
        }
        std::stable_sort(steps_.begin(), steps_.end(), [](const Step &a, const Step &b) {
            return a.at != b.at ? a.at < b.at : a.what < b.what;
        });
    }

    // The path to where `task` has run for `ran`.
    PathPoint path_at(std::uint32_t p, std::uint32_t t, Ns ran) const {
        const Reached &reached = reached_[p][t];
        return {reached.path.length + std::max<Ns>(0, ran - reached.ran), reached.path.node};
    }

    // From here on `task`'s path is another one's.
    void turn(std::uint32_t p, std::uint32_t t, Ns ran, const PathPoint &onto, bool via_message) {
        nodes_.push_back({p, t, onto.node, onto.length, via_message});
        Reached &reached = reached_[p][t];
        reached.path = {onto.length, static_cast<std::uint32_t>(nodes_.size() - 1)};
        reached.ran = ran;
        reached.begun = true;
    }

    void take(const Step &step) {
        const Process &process = job_.processes[step.process];
        const auto [p, t] = std::pair(step.process, step.task);
        switch (step.what) {
        case What::create: {
            const Task &task = process.tasks[t];
            if (reached_[p][task.parent].begun)
                created_[p][t] = path_at(p, task.parent, task.parent_ran);
            break;
        }
        case What::start: {
            PathPoint longest = created_[p][t];
            for (std::size_t e = edges_[p][t]; e < edges_[p][t + 1]; ++e) {
                const std::uint32_t before = process.edges[e].predecessor;
                if (!reached_[p][before].begun)
                    continue;
                const PathPoint path = path_at(p, before, process.tasks[before].running);
                if (path.length >= longest.length)
                    longest = path;
            }
            turn(p, t, 0, longest, false);
            break;
        }
        case What::send:
            if (reached_[p][t].begun)
                sent_[process.calls[step.item].message] =
                    path_at(p, t, process.calls[step.item].ran_before);
            break;
        case What::received: {
            const Call &call = process.calls[step.item];
            const Call &waiter = call.wait == kNone ? call : process.calls[call.wait];
            const Ns ran =
                call.bound ? process.tasks[t].running : waiter.ran_before + waiter.ran_within;
            const PathPoint &from = sent_[call.message];
            if (reached_[p][t].begun && from.node != kNone &&
                from.length > path_at(p, t, ran).length)
                turn(p, t, ran, from, true);
            break;
        }
        case What::waited: {
            const WaitSpan &wait = process.waits[step.item];
            const PathPoint &children = reached_[p][t].children;
            if (reached_[p][t].begun && children.length > path_at(p, t, wait.ran_before).length)
                turn(p, t, wait.ran_before, children, false);
            break;
        }
        case What::end: {
            const PathPoint path = path_at(p, t, process.tasks[t].running);
            if (path.length > best_.length)
                best_ = path;
            const std::uint32_t parent = process.tasks[t].parent;
            if (parent && path.length > reached_[p][parent].children.length)
                reached_[p][parent].children = path;
            break;
        }
        }
    }

    const Job &job_;
    std::vector<Step> steps_;
    std::vector<std::vector<Reached>> reached_;
    std::vector<std::vector<PathPoint>> created_;
    std::vector<std::vector<std::size_t>> edges_; // first edge to each task
    std::vector<Node> nodes_;
    std::vector<PathPoint> sent_; // by message
    PathPoint best_;
};

} // namespace

CriticalPath critical_path(const Job &job) {
    return PathFinder(job).find();
}

// ---- sums -----------------------------------------------------------------------------------

std::vector<Waited> who_waited(const Job &job, const Window &window) {
    std::map<std::tuple<int, std::string, std::string, int>, Waited> sums;
    for (const Process &process : job.processes)
        for (const Call &call : process.calls) {
            if (call.post || call.begin < window.begin || call.begin >= window.end)
                continue;
            const std::string task =
                call.task && process.tasks[call.task].ran() ? process.name(call.task) : "";
            const std::string name = process.file.name_of(call.name);
            const int peer = call.peer >= 0 && call.peer != process.rank ? call.peer : -1;
            Waited &sum = sums[{process.rank, name, task, peer}];
            sum.rank = process.rank;
            sum.call = name;
            sum.task = task;
            sum.peer = peer;
            ++sum.calls;
            sum.bytes += call.bytes;
            // Outside of tasks the thread itself waits, in the call.
            const Ns waited = call.end - call.begin - (task.empty() ? 0 : call.ran_within);
            sum.total += std::max<Ns>(0, waited);
            if (waited > sum.longest) {
                sum.longest = waited;
                sum.longest_tag = call.tag;
            }
        }
    std::vector<Waited> result;
    result.reserve(sums.size());
    for (auto &[key, sum] : sums)
        result.push_back(std::move(sum));
    std::stable_sort(result.begin(), result.end(),
                     [](const Waited &a, const Waited &b) { return a.total > b.total; });
    return result;
}

namespace {

// For each task: what its thread spent before it while tasks were ready.
std::vector<Ns> overhead_before(const Process &process) {
    const ReadyTime ready(process);
    std::vector<Ns> before(process.tasks.size());
    for (const ThreadModel &thread : process.threads)
        for (std::size_t i = 1; i < thread.intervals.size(); ++i) {
            const Interval &gap = thread.intervals[i - 1];
            const Interval &next = thread.intervals[i];
            if (gap.state == State::outside && next.state == State::task &&
                next.begin == process.tasks[next.task].started)
                before[next.task] = ready.until(gap.end) - ready.until(gap.begin);
        }
    return before;
}

} // namespace

std::vector<TaskKind> task_kinds(const Job &job) {
    std::map<std::string, TaskKind> sums;
    for (const Process &process : job.processes) {
        const std::vector<Ns> overhead = overhead_before(process);
        for (std::uint32_t t = 1; t < process.tasks.size(); ++t) {
            const Task &task = process.tasks[t];
            if (!task.ran())
                continue;
            TaskKind &sum = sums[process.name(t)];
            if (sum.count++ == 0)
                sum.lowest_priority = sum.highest_priority = task.priority;
            sum.lowest_priority = std::min(sum.lowest_priority, task.priority);
            sum.highest_priority = std::max(sum.highest_priority, task.priority);
            sum.running += task.running;
            sum.sends |= task.sends;
            sum.receives |= task.receives;
            sum.waited_ready += task.started - task.ready;
            sum.overhead += overhead[t];
            sum.at_once += task.at_once;
        }
    }
    std::vector<TaskKind> result;
    for (auto &[name, sum] : sums) {
        sum.name = name;
        result.push_back(std::move(sum));
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const TaskKind &a, const TaskKind &b) { return a.running > b.running; });
    return result;
}

std::vector<Ns> message_times(const Job &job) {
    std::vector<Ns> times;
    for (const Message &message : job.messages) {
        const Process &from = job.processes[message.from];
        const Process &to = job.processes[message.to];
        times.push_back(to.over(to.calls[message.receive]) - from.calls[message.send].begin);
    }
    std::sort(times.begin(), times.end());
    return times;
}

PolicyWork policy_work(const Job &job) {
    PolicyWork work;
    for (const Process &process : job.processes) {
        work.passes += process.policy_passes;
        work.spent += process.policy_ns;
    }
    return work;
}

Shortages shortages_of(const Job &job) {
    Shortages all;
    for (const Process &process : job.processes) {
        all.created += static_cast<std::uint64_t>(std::ranges::count_if(
            process.tasks, [](const Task &task) { return task.created != kNever; }));
        all.windows += process.windows.size();
        if (all.refusals == 0 && !process.refusals.empty()) {
            all.refused_bytes = process.refusals.front().bytes;
            all.stacks_in_use = process.refusals.front().stacks_in_use;
        }
        all.refusals += process.refusals.size();
        for (const Polled &polled : process.polls) {
            all.polls += polled.runs;
            all.completions += polled.completions;
        }
    }
    return all;
}

std::vector<MovedKind> moved_calls(const Job &job) {
    std::map<std::tuple<std::string, std::string, MovedHow>, MovedKind> sums;
    for (const Process &process : job.processes)
        for (const MovedCall &one : process.moved) {
            const std::string call = process.file.name_of(one.name);
            const std::string place = process.file.name_of(one.place);
            MovedKind &sum = sums[{place, call, one.how}];
            sum.call = call;
            sum.place = place;
            sum.how = one.how;
            ++sum.times;
            sum.together = std::max(sum.together, one.together);
            sum.until_wait += one.waits - one.started;
            sum.under_way += one.over - one.started;
            sum.waited += (one.over - one.waits) / one.together;
        }
    std::vector<MovedKind> result;
    result.reserve(sums.size());
    for (auto &[key, sum] : sums)
        result.push_back(std::move(sum));
    std::stable_sort(result.begin(), result.end(), [](const MovedKind &a, const MovedKind &b) {
        return a.under_way - a.waited > b.under_way - b.waited;
    });
    return result;
}

std::vector<std::uint32_t> nodes_of(const Job &job) {
    std::map<std::string, std::uint32_t> numbers; // by host
    std::vector<std::uint32_t> nodes;
    nodes.reserve(job.processes.size());
    for (const Process &process : job.processes) {
        const auto fresh = static_cast<std::uint32_t>(numbers.size());
        nodes.push_back(numbers.try_emplace(process.file.header.host, fresh).first->second);
    }
    return nodes;
}

std::vector<CoreShares> core_shares(const Job &job) {
    std::vector<CoreShares> all(job.processes.size());
    const std::vector<std::uint32_t> nodes = nodes_of(job);
    bool any = false;
    for (std::size_t p = 0; p < all.size(); ++p)
        for (const CoreUse &use : job.processes[p].cores) {
            CoreShares &shares = all[p];
            const Ns used = use.end - use.begin;
            any = true;
            shares.waited += use.waited;
            shares.recalls += use.end_step == CoreStep::leaves && use.core >= 0 ? 1 : 0;
            if (use.step == CoreStep::own) {
                shares.own += used;
            } else if (use.step == CoreStep::without) {
                shares.without += used;
                ++shares.late;
            } else {
                shares.borrowed += used;
                ++shares.borrowings;
                for (std::size_t owner = 0; owner < all.size(); ++owner)
                    if (use.owner != 0 && nodes[owner] == nodes[p] &&
                        job.processes[owner].file.header.process ==
                            static_cast<std::uint32_t>(use.owner))
                        all[owner].lent += used;
            }
        }
    return any ? all : std::vector<CoreShares>();
}

Findings::Findings(const Job &job)
    : window(window_of_tasks(job)), efficiencies(efficiencies_of(job, window)),
      path(critical_path(job)), waits(who_waited(job, window)), kinds(task_kinds(job)),
      counters(counters_of(job, kinds)), policy(policy_work(job)), shortages(shortages_of(job)),
      cores(core_shares(job)), objects(objects_of(job)), moved(moved_calls(job)) {
    for (const Process &process : job.processes)
        shares.push_back(divide_time(process, window));
    balance = balance_of(job, shares);
}

Shares Findings::of(std::size_t process) const {
    Shares sum;
    for (const Shares &thread : shares[process])
        sum += thread;
    return sum;
}

Shares Findings::all() const {
    Shares sum;
    for (std::size_t process = 0; process < shares.size(); ++process)
        sum += of(process);
    return sum;
}

} // namespace sennit::report

// SPDX-License-Identifier: Apache-2.0
// The queues of what may run, and the threads: whom they take, what they release.
#include "engine.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace sennit::sim {

// ---- queues -------------------------------------------------------------------------------------

void Simulation::note_priorities(Time now) {
    for (const Vertex *vertex : changed_) {
        const std::uint32_t index = TaskStore::index_of(*vertex);
        Task &task = tasks_[index];
        task.priority = vertex->priority();
        tell_priority(index, now);
        if (!task.queued)
            continue;
        Rank &rank = rank_of(index);
        ReadyQueue &queue = rank.queues[task.node];
        queue.push(policy::key(rules_, task.priority, task.age), index);
        if (queue.size() > 1024 + 2 * std::size_t{rank.ready})
            queue.tidy(holds());
    }
    changed_.clear();
}

void Simulation::make_ready(Rank &rank, std::uint32_t index, std::uint32_t thread, Time now) {
    Task &task = tasks_[index];
    if (task.is(Part::bound))
        return call_bound(rank, index, thread, now);
    if (unlimited_)
        return start(rank, index, rank.first_thread, now);
    if (index == rank.undeferred) {
        rank.undeferred_ready = true;
        if (threads_[rank.first_thread].idle)
            wake(rank, rank.first_thread, now);
        return;
    }
    ++rank.ready;
    if (!rules_.ordered) {
        rank.own[thread - rank.first_thread].push_back(index);
        return;
    }
    if (!rules_.by_creation)
        task.age = rank.next_age++;
    task.node = threads_[thread].node & (kMostQueues - 1);
    task.queued = true;
    tasks_.prefetch_vertex(index);
    rank.queues[task.node].push(policy::key(rules_, task.priority, task.age), index);
}

// The tasks that a queue will give next are fetched: the other ranks' turns are time enough.
void Simulation::prefetch_taken_next(const ReadyQueue &queue) {
    queue.each_second([this](std::uint32_t soon) {
        tasks_.prefetch(soon);
        tasks_.prefetch_vertex(soon);
    });
}

// Newest of one's own first, else the oldest of the next who has one (auto); else the first in
// order of the nearest queue that has any.
std::uint32_t Simulation::take_ready(Rank &rank, std::uint32_t thread) {
    if (rank.ready == 0)
        return kNone;
    --rank.ready;
    if (!rules_.ordered) {
        const std::uint32_t member = thread - rank.first_thread;
        const auto team = static_cast<std::uint32_t>(machine_.thread_count());
        auto &mine = rank.own[member];
        if (!mine.empty()) {
            const std::uint32_t task = mine.back();
            mine.pop_back();
            return task;
        }
        for (std::uint32_t step = 1; step < team; ++step) {
            auto &other = rank.own[(member + step) % team];
            if (other.empty())
                continue;
            const std::uint32_t task = other.front();
            other.pop_front();
            return task;
        }
    }
    for (int near = 0; near < tree_.domains; ++near) {
        const int at = tree_.look_at(threads_[thread].node, near);
        ReadyQueue &queue = rank.queues[static_cast<std::size_t>(at)];
        const std::uint32_t index = queue.pop(holds(), kNone);
        if (index == kNone)
            continue;
        Task &task = tasks_[index];
        task.queued = false;
        if (!queue.empty())
            prefetch_taken_next(queue);
        if (near > 0 && task.kind == Kind::compute)
            task.duration +=
                static_cast<Time>(static_cast<double>(task.duration) * machine_.numa_penalty);
        return index;
    }
    return kNone; // not reached
}

// An idle thread looks for work, soon. Most often it is the one that became idle last.
void Simulation::wake(Rank &rank, std::uint32_t thread, Time now) {
    const auto place = std::find(rank.idle.rbegin(), rank.idle.rend(), thread);
    rank.idle.erase(std::next(place).base());
    threads_[thread].idle = false;
    threads_[thread].waking = true;
    ++rank.waking;
    events_.push(now + wake_, pack(What::free, thread));
}

void Simulation::wake_for_ready(Rank &rank, Time now) {
    while (rank.ready > rank.waking && !rank.idle.empty())
        wake(rank, rank.idle.back(), now);
}

// It idles, and its window has room again.
void Simulation::wake_creator(Rank &rank, Time now) {
    if (should_create(rank) && threads_[rank.first_thread].idle)
        wake(rank, rank.first_thread, now);
}

// ---- threads ------------------------------------------------------------------------------------

void Simulation::look_for_work(std::uint32_t index, Time now) {
    if (unlimited_)
        return;
    Thread &thread = threads_[index];
    Rank &rank = ranks_[thread.rank];
    if (rank.arrived != kNone)
        notice(rank, now);
    std::uint32_t task = pop(thread.inbox, thread.inbox_end);
    if (task == kNone)
        task = pop(rank.inbox, rank.inbox_end);
    if (task != kNone) { // it has only waited for its message
        tasks_[task].thread = static_cast<std::uint16_t>(index - rank.first_thread);
        prefetch_successors(tasks_[task]);
        occupy(rank, resume_, false);
        events_.push(now + resume_, pack(What::finish, task));
        return;
    }
    if (index == rank.first_thread) {
        if (rank.undeferred_ready) {
            rank.undeferred_ready = false;
            return start(rank, rank.undeferred, index, now);
        }
        if (should_create(rank))
            return go_on_creating(rank, now);
    }
    task = take_ready(rank, index);
    if (task != kNone)
        return start(rank, task, index, now);
    if (rank.outlook.outdated()) {
        const Time cost = reconsider(rank);
        occupy(rank, cost, false);
        events_.push(now + cost, pack(What::free, index));
        return;
    }
    thread.idle = true;
    rank.idle.push_back(index);
    if (setting_.recorder)
        setting_.recorder->idles(static_cast<int>(thread.rank),
                                 static_cast<int>(index - rank.first_thread), now);
}

void Simulation::start(Rank &rank, std::uint32_t index, std::uint32_t thread, Time now) {
    Task &task = tasks_[index];
    task.thread = static_cast<std::uint16_t>(thread - rank.first_thread);
    Time cost = task.goes_on ? 0 : schedule_ + match_;
    task.started = true;
    if (task.has_vertex) {
        cost += place_;
        start_vertex(rank, index);
        if (rank.outlook.overdue())
            cost += reconsider(rank);
    }
    occupy(rank, cost, false);
    if (task.kind != Kind::compute)
        return call(rank, index, thread, now + cost + (task.is(Part::wait) ? 0 : overhead_));
    occupy(rank, task.duration, true);
    const Time end = now + cost + task.duration;
    if (setting_.recorder)
        setting_.recorder->ran({static_cast<int>(threads_[thread].rank),
                                static_cast<int>(thread - rank.first_thread), key_of(index),
                                static_cast<int>(task.function), task.kind, Part::whole, now + cost,
                                end, 0, 0, 0, false});
    events_.push(end, pack(What::finish, index));
}

// A task's thread is done with it.
void Simulation::finish(std::uint32_t index, Time now) {
    Rank &rank = rank_of(index);
    const std::uint32_t thread = rank.first_thread + tasks_[index].thread;
    const std::uint32_t piece = complete(index, now);
    if (unlimited_)
        return;
    if (piece != kNone)
        start(rank, piece, thread, now);
    else
        look_for_work(thread, now);
    wake_for_ready(rank, now);
    wake_creator(rank, now);
}

// It ends, and its successors are told. Gives the next piece of the same task, if its thread goes
// on with that.
std::uint32_t Simulation::complete(std::uint32_t index, Time now) {
    Task &task = tasks_[index];
    Rank &rank = rank_of(index);
    const std::uint32_t thread = rank.first_thread + task.thread;
    if (task.profile && !task.begins(Kind::send))
        learn(rank, task, false);
    if (setting_.recorder)
        setting_.recorder->ended(static_cast<int>(threads_[thread].rank),
                                 static_cast<int>(thread - rank.first_thread), key_of(index), now);
    result_.checksum = mix(result_.checksum ^ static_cast<std::uint64_t>(now) ^
                           std::uint64_t{task.age} << 40 ^ thread);
    const std::uint32_t near_count = task.near_count;
    const std::array near = std::to_array(task.near);
    std::uint32_t others = task.far;
    ++task.serial; // it is gone
    task.alive = false;
    last_end_ = now;
    tasks_.ended(rank.places, index);
    if (index == rank.undeferred)
        rank.undeferred = kNone;
    --rank.unfinished;
    ++finished_;
    const int priority = task.priority;
    std::uint32_t piece = kNone;
    // As the runtime: the newest first. Without an order the oldest is then what the thread does
    // next.
    const auto release = [&](std::uint32_t successor) {
        if (setting_.recorder)
            setting_.recorder->ready(static_cast<int>(index_of(rank)),
                                     static_cast<int>(thread - rank.first_thread),
                                     key_of(successor), now);
        if (Task &after = tasks_[successor];
            after.goes_on && !after.is(Part::bound) && !unlimited_) {
            after.priority = priority;
            piece = successor;
        } else {
            make_ready(rank, successor, thread, now);
        }
    };
    while (others != kNone) {
        const Line<std::uint32_t> line = successors_[others];
        successors_.give_back(others);
        others = line.next;
        if (others != kNone)
            successors_.prefetch(others);
        for (std::uint32_t i = line.count; i-- > 0;)
            missing_.prefetch(line.items[i]);
        std::uint32_t ready[line.kRoom], count = 0;
        for (std::uint32_t i = line.count; i-- > 0;) {
            ready[count] = line.items[i];
            if (--missing_[ready[count]] == 0)
                tasks_.prefetch(ready[count++]);
        }
        for (std::uint32_t i = 0; i < count; ++i)
            release(ready[i]);
    }
    for (std::uint32_t i = near_count; i-- > 0;)
        if (--missing_[near[i]] == 0)
            release(near[i]);
    if (unlimited_ && rank.waits_for_all && rank.unfinished == 0)
        go_on_creating(rank, now);
    return piece;
}

void Simulation::start_vertex(Rank &rank, std::uint32_t index) {
    tasks_.prefetch_vertex(index);
    if (starting_end_ - starting_begin_ == kStarting)
        start_oldest_vertex();
    starting_[starting_end_++ % kStarting] = index;
    ++rank.starting;
    if (rank.outlook.outdated()) // it counts starts
        return tell_starts(rank);
    if (starting_end_ - starting_begin_ > kStarting / 2)
        tasks_.prefetch_predecessors(starting_[(starting_end_ - kStarting / 2) % kStarting]);
}

void Simulation::start_oldest_vertex() {
    const std::uint32_t index = starting_[starting_begin_++ % kStarting];
    Rank &rank = rank_of(index);
    --rank.starting;
    rank.outlook.start(tasks_.vertex(index));
}

// ---- learning -----------------------------------------------------------------------------------

void Simulation::learn(Rank &rank, Task &task, bool sent) {
    if (!policy::learn(*rank.known_profiles[task.profile], sent))
        return;
    tell_starts(rank);
    rank.outlook.verdict_changed(sent);
}

Time Simulation::reconsider(Rank &rank) {
    tell_starts(rank);
    rank.outlook.reconsider();
    note_priorities(horizon_);
    return static_cast<Time>(static_cast<double>(rank.unfinished) * machine_.reconsider);
}

} // namespace sennit::sim

// SPDX-License-Identifier: Apache-2.0
// Traces made by hand, of processes with two threads that live from 0 to 1000.
#pragma once

#include "analysis.h"

#include <algorithm>
#include <cstdint>

namespace sennit::made {

using namespace sennit::trace;

// Names and the communicator of calls.
inline constexpr std::uint64_t kReceives = 1001, kSends = 1002, kMeets = 1003, kWorld = 7;

inline Process make_process(int rank, std::uint32_t tasks) {
    Process process{};
    process.rank = rank;
    process.end = 1000;
    process.file.names = {{kReceives, "MPI_Recv"}, {kSends, "MPI_Send"}, {kMeets, "MPI_Barrier"}};
    process.file.groups[kWorld].size = 2;
    process.tasks.resize(tasks + 1);
    process.threads.push_back({0, {}, 0, 1000, {}});
    process.threads.push_back({1, {}, 0, 1000, {}});
    return process;
}

// A task that runs without a break.
inline void run(Process &process, std::uint32_t id, std::uint32_t thread, Ns created, Ns ready,
                Ns started, Ns ended) {
    Task &task = process.tasks[id];
    task.created = created;
    task.ready = ready;
    task.started = started;
    task.ended = task.completed = ended;
    task.running = ended - started;
    task.thread = thread;
    process.ready.push_back({ready, 1});
    process.ready.push_back({started, -1});
    process.threads[thread].intervals.push_back({started, ended, State::task, id});
}

inline void fill_gaps(Process &process) {
    std::sort(process.ready.begin(), process.ready.end(),
              [](const ReadyChange &a, const ReadyChange &b) { return a.at < b.at; });
    for (ThreadModel &thread : process.threads) {
        std::vector<Interval> all;
        Ns at = 0;
        for (const Interval &interval : thread.intervals) {
            if (interval.begin > at)
                all.push_back({at, interval.begin, State::outside, 0});
            all.push_back(interval);
            at = interval.end;
        }
        if (at < 1000)
            all.push_back({at, 1000, State::outside, 0});
        thread.intervals = all;
    }
}

inline Call call(std::uint32_t task, std::uint32_t direction, int peer, Ns begin, Ns end,
                 Ns ran_before) {
    Call made{};
    made.begin = begin;
    made.end = end;
    made.task = task;
    made.name = direction == kSend ? kSends : direction == kReceive ? kReceives : kMeets;
    made.group = kWorld;
    made.direction = direction;
    made.peer = peer;
    made.tag = 5;
    made.bytes = 100;
    made.ran_before = ran_before;
    made.wait = made.message = kNone;
    return made;
}

} // namespace sennit::made

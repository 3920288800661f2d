// SPDX-License-Identifier: Apache-2.0
// From events to a job. Each thread's events are replayed with the stacks of its fibers; then
// threads are put together, and then the processes.
#pragma once

#include "trace/trace_file.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sennit::trace {

Process build_process(TraceFile file);

// What the events of all threads say together: numbers of tasks, edges, requests and their waits.

// What the replay of the threads leaves, in no order.
struct Remains {
    struct Unblocked {
        Ns at;
        std::uint32_t task;
    };
    struct Request {
        Ns at;
        std::uint64_t request;
        std::uint32_t call; // kNone: the completion of `task` waits
        std::uint32_t task;
        bool post;
    };

    std::vector<Unblocked> unblocked;
    std::vector<ReadyChange> suspensions;
    std::vector<Request> requests;
};

void assemble(Process &process, Remains remains);

// All processes of a job together.

Job build_job(TraceFolder folder);
// The whole way; throws TraceError.
Job read_job(const std::filesystem::path &folder);

} // namespace sennit::trace

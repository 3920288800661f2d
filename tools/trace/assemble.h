// SPDX-License-Identifier: Apache-2.0
// What the events of all threads say together: numbers of tasks, edges, requests and their waits.
#pragma once

#include "trace/trace_file.h"

#include <cstdint>
#include <vector>

namespace sennit::trace {

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

} // namespace sennit::trace

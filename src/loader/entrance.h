// SPDX-License-Identifier: Apache-2.0
// The first steps of a rank, in its own process but still in the host's memory and with the host's
// thread pointer: it takes its descriptors, its folder, its signals and jumps into its program.
//
// So nothing here may touch a thread-local variable (errno is one) or the heap: bare system calls.
#pragma once

#include <cstdint>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace sennit::loader {

// Why a rank never came to run its program; null if it did. The host's own memory: the rest is
// overwritten as soon as the program runs.
struct EntranceFailure {
    const char *step = nullptr;
    int error = 0;
};

// Lies below the rank's first stack.
struct Entrance {
    struct Move {
        int from, to;
    };

    void *stack_pointer;
    void *entry;
    pid_t host;
    int working_directory;
    Move *descriptors;
    unsigned descriptor_count;
    int first_free;     // greater than any number that a descriptor gets
    int end_of_numbers; // no descriptor has this number or a greater one
    std::uint32_t file_mask;
    std::uint64_t blocked_signals;
    std::uint64_t ignored_signals;
    rlimit limits[RLIM_NLIMITS];
    const char *affinity;
    unsigned affinity_size;
    char name[16];
    EntranceFailure *failure;
};

// The function for clone(2).
int enter_rank(void *entrance);

} // namespace sennit::loader

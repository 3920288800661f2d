// SPDX-License-Identifier: Apache-2.0
// The first steps of a rank. They run in the rank's own process, but still in the host's memory and
// with the host's thread pointer. The rank takes its descriptors, its folder and its signals, and
// jumps into its program.
//
// So nothing here may touch the heap or a thread-local variable, such as errno. It makes bare
// system calls.
#pragma once

#include <cstdint>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

namespace sennit::loader {

// Why a rank never came to run its program; `step` is null if it did. It lies in the host's own
// memory, because the rank's memory is overwritten as soon as the program runs.
struct EntranceFailure {
    const char *step = nullptr;
    int error = 0;
};

// All that the first steps need. It lies below the rank's first stack.
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
    int first_free; // greater than any number that a descriptor of the rank gets
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

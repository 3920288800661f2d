// SPDX-License-Identifier: Apache-2.0
// What there is once in a program, whatever its threads and teams: what this room puts together and
// no room below has to reach. Constant-initialized, so it is there before any constructor runs.
#pragma once

#include "base/everlasting.h"
#include "node/board.h"
#include "watch/watch.h"

namespace sennit::runtime {

struct Process {
    watch::Watch watch;
    char *statistics_prefix = nullptr; // of the files that SENNIT_STATS asks for
    // The board on which the process shares cores: the MPI library's, or its own, with a slot.
    node::Board board;
    node::Slot *slot = nullptr;
    bool loading = false; // load() has been called
    bool loaded = false;  // load() has returned
};
// The ticker's thread looks at it until the process is gone.
inline constinit Everlasting<Process> g_everlasting_process;
inline constinit Process &g_process = g_everlasting_process.object;

} // namespace sennit::runtime

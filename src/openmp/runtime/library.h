// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/everlasting.h"
#include "node/board.h"
#include "tasks/program/senders.h"
#include "tasks/watch/survey.h"
#include "tasks/watch/watch.h"

namespace sennit::runtime {

// What the hang report asks of regions and locks.

extern const watch::Regions kHangRegions;

// What there is once in a program, whatever its threads and teams: what this room puts together and
// no room below has to reach. Constant-initialized, so it is there before any constructor runs.

struct Process {
    watch::Watch watch;
    char *statistics_prefix = nullptr; // of the files that SENNIT_STATS asks for
    // The board on which the process shares cores: the MPI library's, or its own, with a slot.
    node::Board board;
    node::BoardSlot *slot = nullptr;
    bool loading = false; // load() has been called
    bool loaded = false;  // load() has returned
};
// The ticker's thread looks at it until the process is gone.
inline constinit Everlasting<Process> g_everlasting_process;
inline constinit Process &g_process = g_everlasting_process.object;

// What the rooms below are told of names: symbols and files of MPI, of OpenMP, of the compilers'
// libraries and of our own.

extern const program::SymbolNames kNames;
extern const watch::CallNames kHangNames;

// Is this the name of a send, of C or Fortran?
bool is_send(const char *symbol);
// Is the file a part of MPICH, of Open MPI, or of what they stand on?
bool passes_messages(const char *path);

} // namespace sennit::runtime

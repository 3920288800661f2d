// SPDX-License-Identifier: Apache-2.0
// What the parts of this room know of each other: the state of the process, and what is to be done
// when the library is loaded.
#pragma once

#include "base/everlasting.h"
#include "node/board.h"
#include "openmp/runtime/polling_services.h"
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
    // Where others see how the threads spend their time, if they do not see it there.
    node::Board times_board;
    node::BoardSlot *times_slot = nullptr;
    PollingServices services;       // of nanos6.h
    bool loops_order_given = false; // KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE says it
    bool loading = false;           // load() has been called
    bool loaded = false;            // load() has returned
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

// The numbers of this process (sennit_get_statistics, SENNIT_STATS) and the marks that libraries
// set on the timeline (sennit_trace_begin, _end).

// Once, when the library is loaded: reads the configuration, registers the writer at exit.
void statistics_setup();

// OpenMP runtimes whose place Sennit takes, and which are mapped all the same: a library names one
// by its path, a wheel of Python's brings a copy, threadpoolctl opens one to set its number of
// threads. The program's own calls reach Sennit, for it comes first. A library that asks such a
// runtime for a function gets Sennit's, too: there is one runtime under all names.

// Of all that is loaded; once, when this library is.
void stand_in_for_replaced();
// The object that `code` is in has been loaded, and nobody has looked for its functions yet.
void stand_in_if_replaced(const void *code);

// Libraries that work only if each thread's iterations of a loop ascend, though the schedule does
// not say so. For them loops are as if it did. (loop_order.cpp)

// Of all that is loaded; once, when this library is. KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE decides
// if it is set.
void keep_order_of_loops();
// The object that `code` is in has been loaded later.
void keep_order_of_loops_in(const void *code);

// A program without MPI: in a pool of programs that share cores (SENNIT_POOL), and as a rank fiber
// (src/ranks/fibers).

// When the library is loaded, in this order. With MPI, MPI_Init does the same.
void let_flows_leave_home();
void join_pool();
void leave_pool_in_child();

// How the threads spend their time (sennit_get_time_spent): for those who look at the board.
void show_times();
void hide_times();
void hide_times_in_child();

} // namespace sennit::runtime

// SPDX-License-Identifier: Apache-2.0
// How the threads of this process spend their time, counted while the program runs (SENNIT_TALP).
//
// It is told the events that a trace would have (trace.h), and follows the same story as the
// trace's reader: tasks and waits nest on the stacks of fibers. What is to be counted needs no
// memory of the past, so it costs no file. Off, it costs nothing: the recorder's branch is the
// same.
//
// Spans outside of explicit tasks are the thread's, not the flow's. Where an implicit task is
// suspended in a call of MPI, what its thread runs meanwhile outside of explicit tasks counts as
// MPI, too.
//
// What the threads without work are counted as depends on what all others do. So all is under one
// lock, but threads do not wait for it (base/combining_lock.h): one that finds it taken notes the
// event, with its time, and the thread that has the lock counts it.
#pragma once

#include "base/spent_page.h"
#include "tasks/trace/format.h"

namespace sennit::trace {

extern bool g_counts; // set once, before other threads exist

// Begin. The calling thread is the initial one, in the program.
void count_time(int (*row)());
void count(Kind kind, Word a, Word b, Word c);
// The calling thread has encountered a region of several threads. Before its first part.
void count_region();
// The calling thread ends, or is no worker any more. Its place stays as that of a thread without
// work, until another thread comes: times are of as many threads as there were at most.
void count_out();
// From now on others see the numbers there, or with null no more.
void show_spent_time(SpentPage *page);
// False: nothing is counted.
bool read_spent_time(SpentNow &now);
// Counts anew, and shows nobody. Before the child's other handlers, which may tell of events: the
// page is the parent's, and the lock may be held for ever.
void spent_time_after_fork_in_child();

} // namespace sennit::trace

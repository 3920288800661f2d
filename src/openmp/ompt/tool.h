// SPDX-License-Identifier: Apache-2.0
// OMPT (OpenMP 5.2, chapter 19): this room finds tools, starts them and answers what they ask. What
// they are told comes from the rooms below (openmp/events/).
//
// A tool is looked for when the first thread uses OpenMP. By then the constructors of the libraries
// that the program was linked with have run. Without a tool observed::kTool is never set.
#pragma once

#include "openmp/events/events.h"

namespace sennit::ompt {

// When the library is loaded: might there be a tool?
void setup();

// Say goodbye to the tool: at exit, or when it asks for it (ompt_finalize_tool).
void finalize();

// omp_control_tool (18.14).
int control_tool(Site site, int command, int modifier, void *argument);

// ---- inside this room ---------------------------------------------------------------------------

AnyFunction lookup(const char *name); // the entry points, inquiry.cpp
void observe_tasks();                 // tasks.cpp
int flags_of(const Task &task);
// The implicit task in whose context the thread schedules others.
Task &base_task(sched::Worker &worker);

} // namespace sennit::ompt

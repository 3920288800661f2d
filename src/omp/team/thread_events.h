// SPDX-License-Identifier: Apache-2.0
// What a tool is told of threads. Called where a tool is attached.
#pragma once

#include "sched/worker.h"

namespace sennit::ompt {

void initial_thread_begin(sched::Worker &worker);
void worker_begin();
void worker_end();
// At the end of the program, for all threads that are at rest.
void end_threads();

} // namespace sennit::ompt

// SPDX-License-Identifier: Apache-2.0
// Tells a tool of threads. The functions are called only if a tool is attached.
#pragma once

#include "omp/team/team.h"

namespace sennit::ompt {

void initial_thread_begin(sched::Worker &worker);
void worker_begin();
void worker_end();
void initial_thread_end(omp::Member &initial);

} // namespace sennit::ompt

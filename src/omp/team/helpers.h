// SPDX-License-Identifier: Apache-2.0
// Helpers: kernel threads for a virtual team (virtual_team.h) in a process that may use more cores
// of its node than the team has workers (sched/cores.h). A helper takes such a core, runs threads
// of the team that have not begun, and goes back to the pool of threads.
//
// A worker calls for helpers when its part in a region begins, and between two of its threads. One
// helper at a time waits for a core. When it has one, it calls the next. A helper has its core
// before it enters a region. So no region's end waits for a thread that waits for a core. It leaves
// the region when there is nothing to begin any more, or when its core is to be left.
#pragma once

namespace sennit::omp {

// `threads` threads of a region that runs could begin on other cores. 0: none any more.
void call_helpers(int threads);
void helpers_after_fork_in_child();

} // namespace sennit::omp

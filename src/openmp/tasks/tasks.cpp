// SPDX-License-Identifier: Apache-2.0
// With a tool.
#include "openmp/tasks/tasks.h"

#include "openmp/team/region_events.h"
#include "openmp/team/team.h"

namespace sennit::omp {

using namespace ompt;

SENNIT_COLD void start_told(Site site, Task &task, task::TaskClauses clauses) {
    const InRoutine routine(site);
    task::start(routine.worker(), task, clauses);
}

SENNIT_COLD void undeferred_begin_told(Site site, Task &task) {
    InRoutine routine(site);
    task::begin_undeferred(routine.worker(), task);
    stay_in_application(*task.tool, site, *static_cast<void **>(__builtin_frame_address(0)));
    routine.stay();
}

SENNIT_COLD void undeferred_end_told(Site site, Task &task) {
    InRoutine routine(site);
    task.tool->frame.exit = nullptr;
    routine.stay(); // the task is not there any more when this returns
    task::end_undeferred(routine.worker(), task);
    routine.worker().task->tool->frame.enter = nullptr;
}

void tell_taskloop_piece(Task &task) {
    if (task.tool->iterations == 0)
        return;
    DispatchChunk chunk{task.tool->first_iteration, task.tool->iterations};
    Data instance;
    instance.ptr = &chunk;
    g_tool.dispatch(&member_of(here()).team->tool.data, data_of(*task.tool), kDispatchTaskloopChunk,
                    instance);
}

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
// What Sennit's MPI library asks Sennit's runtime, by name, and other libraries need not.
#pragma once

struct sennit_task;

extern "C" {
// The calling task if it is undeferred and has an event of OpenMP's `detach` that is not fulfilled;
// else null. Its creator does not wait for that event, but for those that are bound to the task by
// sennit_task_events_increase.
sennit_task *sennit_task_undeferred(void);
}

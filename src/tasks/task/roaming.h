// SPDX-License-Identifier: Apache-2.0
// Untied tasks that go on anywhere (SENNIT_UNTIED=anywhere): a task that was suspended goes to a
// queue when it is resumed, as a task that has become ready, and the worker that takes it goes on
// with it.
//
// An untied task from a queue runs on a roaming fiber (tasks/sched/roaming.h). It leaves its worker
// in suspend() alone, and there only if
// - it is the task whose body began on that fiber: frames of ours that know the worker (an
//   undeferred task's, a nested region's, a polling service's) are not between;
// - its private copies of task reductions are none: they are a thread's, and another task of that
//   thread may be at work on them;
// - no tool is attached: what it is told of a thread's tasks is a chain on that thread.
// Else the task waits as a tied one does. What a program has to keep is said in
// docs/user/openmp.md.
//
// Frames of ours that are on the stack across the wait: main_of, run_body, the front door's invoke,
// the caller's in sennit.h or src/mpi, and suspend() here. None of them uses a Worker, or anything
// else of the thread, that it found before. And none has the address of a thread-local word: such
// words are reached by the thread's register each time (test `exports.thread_addresses`).
#pragma once

#include "tasks/task/task.h"

namespace sennit::task::roaming {

// From the start, or never.
void setup();

// Does the task take part in task reductions? A private copy belongs to a thread of the team.
bool has_reductions(const Task &task);

// In place of the other run_item() (lifecycle.h): an untied task has a roaming fiber.
void run_item(sched::Worker &worker, sched::Slot &slot, sched::Item *item);

// The task that runs waits for resume(). False: it cannot leave its worker. True: it was resumed;
// the caller's worker may be another one.
bool suspend(sched::Worker &worker, Task &task, const sennit_wait *why);

// Of any task, where some may roam or a trace is recorded.
void resume(Task &task);

} // namespace sennit::task::roaming

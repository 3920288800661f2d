// SPDX-License-Identifier: Apache-2.0
// Whose work tasks are (sennit_work_for() in sennit.h): a task may work for an account. So do the
// tasks that it creates from then on, and the regions that it encounters, whoever runs them.
//
// Invariant: while observed::kAccounts is set, each worker's Attribution has the account of the
// task that it runs. While that task waits, and between two tasks, it has nobody's. A task's time
// is paid before anybody is told that the task has ended. So who has waited for it finds all of it.
//
// Nothing here is called before the first sennit_work_for() of the process.
#pragma once

#include "base/observed.h"
#include "decide/objects/attribution.h"
#include "tasks/task/task.h"

#include <cstdint>

namespace sennit::task {

using balance::Account;
using balance::kNobody;

// ---- accounts -------------------------------------------------------------------------------

// kNobody: there are as many as there can be, or no memory.
Account open_account();
// What is still worked for it is nobody's.
void close_account(Account account);
// Nanoseconds paid so far; 0 if it is not open.
std::uint64_t paid_ns(Account account);
void accounts_before_fork();
void accounts_after_fork();

// ---- tasks ----------------------------------------------------------------------------------

inline Account account_of(const Task &task) {
    return task.is(Task::kWorksFor) ? task.account : kNobody;
}

// The worker's current task works for `account` from now on. Returns for whom it did before.
Account work_for(sched::Worker &worker, Account account);
// What the worker has worked so far is paid.
void settle_account(sched::Worker &worker);

// ---- where tasks begin, wait and end; while observed::kAccounts is set ------------------------

// `task`, which nobody runs yet, will work for whom `creator` works for.
void inherit_account(Task &task, const Task &creator);
// A task from a queue begins on the worker.
void begin_work(sched::Worker &worker, const Task &task);
// The worker goes on with its current task; it waits, or ends.
void go_on_working(sched::Worker &worker);
void rest_from_work(sched::Worker &worker);
// An implicit task begins on the worker, with the encountering task's account; and ends.
void begin_implicit_work(sched::Worker &worker, Task &implicit, const Task &encountering);
void end_implicit_work(sched::Worker &worker, Task &implicit);

} // namespace sennit::task

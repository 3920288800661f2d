// SPDX-License-Identifier: Apache-2.0
// Kernel threads behind workers: those of ours, which begin with a function and go back to a pool
// when it returns, and the end of all of them. A thread of the program gets its worker by
// Worker::here().
//
// Invariant: a thread of ours is in the pool or runs what it was started with.
#pragma once

#include "tasks/sched/worker.h"

namespace sennit::sched {

// Where processes share cores, a thread's main begins with a core, or takes one itself.
enum class Begins : bool { without_core, with_core };

// Run main(arg) on a pooled or new worker thread. False: no thread can be made. When main returns
// the worker goes back to the pool. From any thread.
bool start_thread(void (*main)(void *arg), void *arg, Begins begins = Begins::with_core);

// Workers that have a thread, but do not begin yet. A thread that would begin at once may find that
// it has nothing to do so far, and sleep just before there is something. Belongs to one thread.
class Recruits {
  public:
    bool any() const { return first_ != nullptr; }
    // False: no thread can be made.
    bool add(void (*main)(void *arg), void *arg);
    void begin();

  private:
    Worker *first_ = nullptr; // linked by the pool, the last one first
};

// A main calls this when it is about to return, before it tells anybody. From now on the thread of
// `worker`, which calls, may be started again.
void join_pool(Worker &worker);

// The pool's threads end, and so does what they have in thread-local storage. Threads at work end
// when their work is done.
void retire_threads();

// need_executable() said so: the stacks of all fibers, whatever their state.
void make_stacks_executable();

// fork() waits for our locks, and only the calling thread lives on in the child.
void before_fork();
void after_fork();
void after_fork_in_child();

// function(worker) is called when a thread of the program that has used OpenMP ends, before another
// thread may take over its worker. It is called again if destructors of thread-specific data have
// used OpenMP since. Functions are called in the order in which they were first given. One that is
// given twice is called once.
void at_thread_end(void (*function)(Worker &worker));

// function(worker) is called when retire_threads() ends threads of ours, for each of them: when its
// work is done, and before another thread may take over its worker. It is also called for the
// thread that retires them. There is one such function.
void at_retirement(void (*function)(Worker &worker));

void setup(); // once, when the library is loaded

} // namespace sennit::sched

// SPDX-License-Identifier: Apache-2.0
// Workers whose threads are the explorer's. They stand in for tasks/sched/worker.cpp: nothing else
// runs on them, so a worker that waits for a condition sleeps until it is made ready.
#pragma once

#include "base/spin.h"
#include "tasks/sched/worker.h"

#include <functional>

namespace sennit::schedules {

// What is called for a task that is put into a queue. A test sets it.
extern std::function<void(sched::Item &)> g_on_ready;

// Stands for Worker::carry(). A test sets it.
extern std::function<bool(sched::Worker &, sched::RoamingFiber &)> g_carry;

class TestWorker : public sched::Worker {
  public:
    explicit TestWorker(int id) : Worker(id) {
        fibers.root.home = this;
        fibers.make_current(fibers.root, fibers.root);
    }
    // Once it has armed a condition it takes this back, as a worker without memory for a stack.
    bool withdraws = false;
    // While its fiber sleeps, it looks whether its group can go on, as an idle worker.
    bool looks_after_group = false;
    // Has its fiber been made ready, once more than it has slept?
    bool is_ready() const { return ready_.word().bits() != 0; }

    void wait_for(sched::Condition &condition);
    void make_ready() { ready_.fetch_add(1, std::memory_order_release); }

  private:
    void sleep();

    Atomic<int> ready_{0};
};

} // namespace sennit::schedules

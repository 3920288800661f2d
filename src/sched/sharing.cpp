// SPDX-License-Identifier: Apache-2.0
#include "sched/sharing.h"

#include "base/spin.h"
#include "poll/poll.h"
#include "sched/cores.h"
#include "sched/processors.h"
#include "sched/worker.h"
#include "trace/trace.h"

#include <sched.h>
#include <unistd.h>

namespace sennit::sched {

void begin_sharing(node::Board &board, node::Slot &slot) {
    share().begin(board, slot);
    set_sharing(true);
    poll::look_further(true);
    Worker::here().need_core();
}

void end_sharing() {
    if (!shares_cores())
        return;
    poll::look_further(false);
    set_sharing(false);
    share().end();
}

void forget_sharing() {
    if (!shares_cores())
        return;
    share().abandon();
    set_sharing(false);
    if (Worker *const worker = Worker::self())
        worker->forget_core();
}

namespace {

// Go to the core now, rather than when the system next spreads its threads: until then two of them
// may share one core, and another one stands idle. A push only: the thread's mask stays as it was.
void go_to(int core) {
    cpu_set_t mask;
    if (core == node::kNobody || core == sched_getcpu() || core >= CPU_SETSIZE ||
        sched_getaffinity(0, sizeof mask, &mask) != 0 || !CPU_ISSET(core, &mask))
        return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    if (sched_setaffinity(0, sizeof only, &only) == 0)
        sched_setaffinity(0, sizeof mask, &mask);
}

// For the trace: since `begin` it has waited for the core that it has taken.
void trace_core(int core, std::uint64_t begin) {
    if (!trace::on())
        return;
    const int owner = share().owner_process(core);
    trace::core(core == node::kNobody ? trace::CoreStep::without
                : owner == getpid()   ? trace::CoreStep::own
                                      : trace::CoreStep::borrowed,
                core, owner, ticks() - begin);
}

} // namespace

void Worker::need_core() {
    if (counted_ || !shares_cores())
        return;
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    core_ = share().take(sched_getcpu());
    counted_ = true;
    trace_core(core_, begin);
    go_to(core_);
    tell_progress(1);
}

// To the policy, which compares the program's speed with that on other numbers of cores: how often
// threads went on after a wait - for a region, a barrier, a message -, and tasks.
void Worker::tell_progress(std::uint64_t waits) {
    share().note_progress(waits + tasks() - tasks_told_);
    tasks_told_ = tasks();
}

void Worker::lend_core() {
    if (!counted_)
        return;
    counted_ = false;
    trace::core(trace::CoreStep::lends, core_, 0, 0);
    share().give(core_);
}

// At a scheduling point.
void Worker::look_at_core() {
    if (!counted_)
        return need_core();
    if (!share().is_to_leave(core_))
        return tell_progress(0);
    trace::core(trace::CoreStep::leaves, core_, 0, 0);
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    core_ = share().leave(core_);
    trace_core(core_, begin);
    go_to(core_);
}

void Worker::turn_busy() {
    idle_since_.store(0, std::memory_order_relaxed);
    if (SENNIT_UNLIKELY(shares_cores()))
        need_core();
}

} // namespace sennit::sched

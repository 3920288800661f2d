// SPDX-License-Identifier: Apache-2.0
#include "omp/team/helpers.h"

#include "omp/team/spare_threads.h"
#include "sched/sharing.h"
#include "sched/worker.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {
namespace {

class Helpers {
  public:
    void call(int threads) {
        if (wanted_.load(std::memory_order_relaxed) != threads)
            wanted_.store(threads, std::memory_order_relaxed);
        if (threads <= 0 || asks_.load(std::memory_order_relaxed) ||
            !sched::could_have_more_cores() || asks_.exchange(true, std::memory_order_relaxed))
            return;
        if (!sched::Worker::start(main, this, sched::Worker::Begins::without_core))
            asks_.store(false, std::memory_order_relaxed);
    }
    void after_fork_in_child() {
        wanted_.store(0, std::memory_order_relaxed);
        asks_.store(false, std::memory_order_relaxed);
    }

  private:
    static void main(void *self) { static_cast<Helpers *>(self)->help(*sched::Worker::self()); }

    void help(sched::Worker &worker) {
        const bool has_core = worker.take_spare_core(wanted_);
        asks_.store(false, std::memory_order_relaxed);
        if (!has_core)
            return;
        if (const int others = wanted_.load(std::memory_order_relaxed) - 1; others > 0)
            call(others);
        while (!worker.is_to_leave_core() && SpareThreads::help_any(worker)) {
        }
    }

    std::atomic<std::int32_t> wanted_{0}; // threads that could begin: a hint
    std::atomic<bool> asks_{false};       // a helper waits for a core, or is about to
};
constinit Helpers g_helpers;

} // namespace

void call_helpers(int threads) {
    g_helpers.call(threads);
}

void helpers_after_fork_in_child() {
    g_helpers.after_fork_in_child();
}

} // namespace sennit::omp

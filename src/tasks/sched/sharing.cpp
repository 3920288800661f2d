// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/sharing.h"

#include "base/config.h"
#include "base/rank.h"
#include "base/spin.h"
#include "base/time_slice.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"
#include "tasks/trace/trace.h"
#include "wait/rows.h"

#include <sched.h>
#include <unistd.h>
#include <utility>

namespace sennit::sched {

void begin_sharing(node::Board &board, node::BoardSlot &slot) {
    share().begin(board, slot);
    set_sharing(true);
    poll::look_further(true);
    Worker::here().seat.need();
}

void end_sharing() {
    if (!shares_cores())
        return;
    poll::look_further(false);
    set_sharing(false);
    share().end();
    // Pairs with that in ShortSlice::shorten().
    full_fence();
    for (Worker &worker : Worker::all())
        worker.seat.end_short_slice(worker.thread.id_word());
}

bool could_have_more_cores() {
    return shares_cores() && share().could_have_more();
}

void forget_sharing() {
    if (Worker *const worker = Worker::self())
        worker->seat.forget(worker->thread.id_word());
    if (!shares_cores())
        return;
    share().abandon();
    set_sharing(false);
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

// Rank fibers change their threads.
void Seat::shorten_slice() {
    if (is_rank_fiber())
        slice.leave();
    else
        slice.begin(shares_cores);
}

void Seat::forget(const std::atomic<int> &thread) {
    use_ = Use::none;
    end_short_slice(thread);
}

void Seat::need() {
    if (use_ == Use::computes || !shares_cores())
        return;
    shorten_slice();
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    const int near = sched_getcpu();
    hold_ = use_ == Use::rests ? share().go_on(hold_, near) : share().take(near);
    use_ = Use::computes;
    trace_core(hold_.core, begin);
    go_to(hold_.core);
    tell_progress(1);
}

bool Seat::take_spare(const Atomic<std::int32_t> &needed) {
    SENNIT_ASSERT(use_ == Use::none);
    if (!shares_cores())
        return false;
    shorten_slice();
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    const node::Hold hold = share().take_spare(needed, sched_getcpu());
    if (!hold)
        return false;
    hold_ = hold;
    use_ = Use::computes;
    trace_core(hold_.core, begin);
    go_to(hold_.core);
    return true;
}

bool Seat::is_to_leave() const {
    return use_ == Use::computes && share().is_to_leave(hold_);
}

// To the policy, which compares the program's speed with that on other numbers of cores: how often
// threads went on after a wait - for a region, a barrier, a message -, tasks, and chunks of loops.
void Seat::tell_progress(std::uint64_t waits) {
    const std::uint64_t tasks = tasks_.load(std::memory_order_relaxed);
    share().note_progress(waits + tasks - tasks_told_ + chunks_);
    tasks_told_ = tasks;
    chunks_ = 0;
}

void Seat::lend() {
    if (use_ == Use::computes) {
        trace::core(trace::CoreStep::lends, hold_.core, 0, 0);
        share().give(hold_);
    } else if (use_ == Use::rests) {
        share().sleep(hold_);
    }
    use_ = Use::none;
}

void Seat::rest() {
    if (use_ != Use::computes)
        return;
    use_ = Use::rests;
    trace::core(trace::CoreStep::lends, hold_.core, 0, 0);
    share().rest(hold_);
}

// A worker with a core to wait on waits awake, for a wake-up often takes longer than the wait. The
// wait is shorter if others want the core. A worker without a core would take one from those that
// compute.
std::uint64_t Seat::patience() {
    rest();
    if (use_ != Use::rests || !share().still_rests(hold_))
        return 0;
    constexpr std::uint64_t most_us = wait::whole_us(wait::kRests.yield_ns);
    constexpr std::uint64_t wanted_us = wait::whole_us(wait::kRestsOnWantedCore.yield_ns);
    return (share().others_want() ? wanted_us : most_us) * ticks_per_us();
}

bool Seat::fall_asleep() {
    if (use_ != Use::rests)
        return false;
    share().sleep(hold_);
    return true;
}

void Seat::wake_up(bool fell_asleep, bool woken) {
    const bool rests = use_ == Use::rests;
    const int counted = (rests && !fell_asleep ? 1 : 0) + (woken ? 1 : 0);
    share().count_awake((rests ? 1 : 0) - counted);
}

// At a scheduling point.
void Seat::look() {
    if (use_ != Use::computes)
        return need();
    if (!share().is_to_leave(hold_))
        return tell_progress(0);
    trace::core(trace::CoreStep::leaves, hold_.core, 0, 0);
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    hold_ = share().leave(hold_);
    trace_core(hold_.core, begin);
    go_to(hold_.core);
}

// Chunks may be as short as some nanoseconds.
void Seat::pass_chunk() {
    ++chunks_;
    const std::uint64_t now = ticks();
    if (now < next_chunk_look_ || use_ != Use::computes)
        return;
    look();
    next_chunk_look_ = ticks() + static_cast<std::uint64_t>(config().poll_us) * ticks_per_us();
}

} // namespace sennit::sched

namespace sennit::sched::detail {

constinit node::Share g_share;

} // namespace sennit::sched::detail

namespace sennit::sched {

void ShortSlice::shorten(bool (*still)()) {
    const std::uint64_t former = time_slice_ns();
    if (former <= kShortNs)
        return leave();
    // Release: who calls end() knows the thread.
    former_ns_.store(former, std::memory_order_release);
    set_time_slice(kShortNs);
    // Either we see that it is over, or end() sees what we have stored, and changes the slice after
    // us.
    full_fence(); // pairs with that before end()
    if (!still()) {
        forget();
        set_time_slice(former);
    }
}

void ShortSlice::end(const std::atomic<int> &thread) {
    const std::uint64_t former = former_ns_.exchange(kUntried, std::memory_order_acq_rel);
    if (former > kLeft)
        set_time_slice(former, thread.load(std::memory_order_relaxed));
}

void ShortSlice::put_right() {
    if (const std::uint64_t former = std::exchange(inherited_ns_, kUntried); former > kLeft)
        set_time_slice(former);
}

} // namespace sennit::sched

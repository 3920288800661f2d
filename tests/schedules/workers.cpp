// SPDX-License-Identifier: Apache-2.0
#include "workers.h"

#include "base/config.h"
#include "base/message.h"
#include "base/observed.h"
#include "openmp/env/icv.h"
#include "openmp/env/split.h"
#include "openmp/loops/exposed.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/team.h"
#include "openmp/team/virtual_team.h"
#include "tasks/task/accounts.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/observer.h"
#include "tasks/task/priorities.h"
#include "tasks/trace/trace.h"

#include <cstdlib>

namespace sennit::schedules {

std::function<void(sched::Item &)> g_on_ready;
std::function<bool(sched::Worker &, sched::RoamingFiber &)> g_carry;

void TestWorker::wait_for(sched::Condition &condition) {
    sched::Fiber *const fiber = current();
    if (is_ready())
        fail("a wake-up is left over");
    if (condition.done() || !condition.arm(fiber))
        return;
    if (withdraws && condition.disarm(fiber) && (condition.done() || !condition.arm(fiber)))
        return;
    sleep();
}

void TestWorker::sleep() {
    const std::uint64_t read = what_was_read();
    while (looks_after_group && ready_.load(std::memory_order_acquire) == 0) {
        if (slot->group->can_settle())
            slot->group->settle();
        else
            wait_for_change();
        forget_to(read);
    }
    wait_while(ready_.word(), 0);
    ready_.fetch_sub(1, std::memory_order_acquire);
}

} // namespace sennit::schedules

// What the code calls of the rooms around it: nobody looks on, there is no policy, no group that
// gathers wake-ups, no thread that has not begun.
namespace sennit::sched {

policy::Rules detail::g_rules;
policy::Machine detail::g_machine;
constinit Processors g_processors;
SENNIT_TLS Worker *Worker::t_self_ = nullptr; // as on a thread without a worker

void Worker::wait(Condition &condition) {
    static_cast<schedules::TestWorker &>(*this).wait_for(condition);
}

void Worker::make_ready(Fiber *fiber) {
    static_cast<schedules::TestWorker &>(*fiber->home).make_ready();
}

void Worker::push(Slot &, Item *item) {
    schedules::g_on_ready(*item);
}

void Worker::push_next(Slot &, Item *item) {
    schedules::g_on_ready(*item);
}

void push_last(Group &, Item *item) {
    schedules::g_on_ready(*item);
}

void push_foreign(Group &, Item *item) {
    schedules::g_on_ready(*item);
}

bool Worker::carry(RoamingFiber &fiber, Slot &) {
    return schedules::g_carry(*this, fiber);
}

// Of a test, whose fiber is there already.
RoamingFiber *RoamingFibers::take(void (*)(RoamingFiber &), Item *) {
    return static_cast<RoamingFiber *>(free_);
}
void RoamingFibers::give_back(RoamingFiber &fiber) {
    free_ = &fiber;
}

// No fiber leaves one that carries it here.
void Worker::leave_carrier(bool) {
    std::abort();
}
RoamingTasks &roaming_tasks() {
    std::abort();
}
constinit Client detail::g_client{};

void Worker::yield() {
    schedules::wait_for_change();
}

void Worker::adopt_thread(std::size_t, void **) {
    t_self_ = this;
}

void Worker::forget_thread() {
    t_self_ = nullptr;
}

void Processors::set_active(int workers) {
    crowded_.store(workers > usable_, std::memory_order_relaxed);
}

void Thread::yield() {
    schedules::wait_for_change();
}

int detail::worker_count() {
    return 0;
}

Worker *detail::worker_at(int) {
    return nullptr;
}

void wake_one(Group &) {}
void Worker::become_busy() {}
void Worker::become_idle() {}
void Worker::send(Fiber *fiber) {
    make_ready(fiber);
}

void Worker::fiber_main(fiber::Context &) {}
Worker &detail::adopt_thread() {
    std::abort();
}
constinit node::Share detail::g_share;
bool Seat::is_to_leave() const {
    return false;
}
void Seat::pass_chunk() {}
bool Seat::take_spare(const Atomic<std::int32_t> &) {
    return false;
}
bool could_have_more_cores() {
    return false;
}
void Activity::wake_gathered() {}
void Recruits::begin() {}
ReadyQueue::~ReadyQueue() = default;
Item *ReadyQueue::take_any(const Sought &) {
    return nullptr;
}
Item *OrderedQueue::take_any(const Sought &) {
    return nullptr;
}

} // namespace sennit::sched

namespace sennit {

bool trace::g_on = false;
task::Observer *task::detail::g_observer = nullptr;
void trace::record(Kind, Word, Word, Word, Word, Word, Word, Word) {}
void task::Linking::add(const DependNode &) {}
void task::Linking::finish() {}
bool task::may_foresee() {
    return true;
}
bool task::Linking::foresee(Repeats &, const Repeats::Step &) {
    return false;
}
task::Others *task::others() {
    return nullptr; // no free agents
}
void task::note_left_children(const void *) {}
void task::vertex_starts(Task &) {}
void task::task_ended(Task &) {}
void task::begin_work(sched::Worker &, const Task &) {}

bool poll::inside(const void *) {
    return false;
}
void poll::start_timer(Timer &) {}
void poll::stop_timer(Timer &) {}
bool omp::g_affinity_on = false;
void omp::enter_place_slow(Member &) {}
void omp::InnerHistory::record(const void *, int, int) {}
void trace::name_entry(std::uint64_t) {}
void *trace::name_label(const char *) {
    return nullptr;
}
bool omp::are_agents_called() {
    return false;
}
void omp::answer_calls() {}
void task::begin_implicit_work(sched::Worker &, Task &, const Task &) {}
void task::end_implicit_work(sched::Worker &, Task &) {}
void task::rest_from_work(sched::Worker &) {}
void task::go_on_working(sched::Worker &) {}
omp::detail::SplitSettings omp::detail::g_split;
void omp::end_split(const char *) {}
bool omp::begin_exposed(Loop &, LoopHistory &, std::uint64_t, const LoopSchedule &,
                        const Member &) {
    return false;
}

trace::Symbols::~Symbols() = default;
const char *trace::Symbols::name_of(std::uint64_t) {
    return "";
}

void fatal(const char *, ...) {
    std::abort();
}
const Config &config() {
    static const Config with_defaults{};
    return with_defaults;
}

const GlobalIcvs &global_icvs() {
    static const GlobalIcvs with_cancellation = [] {
        GlobalIcvs icvs;
        icvs.cancellation = true;
        return icvs;
    }();
    return with_cancellation;
}

} // namespace sennit

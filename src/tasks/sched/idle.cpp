// SPDX-License-Identifier: Apache-2.0
// A worker without work: polls, spins, yields its processor, sleeps; and who wakes it.
#include "tasks/sched/idle.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/observed.h"
#include "base/spin.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/worker.h"
#include "wait/bell.h"
#include "wait/dormitory.h"
#include "wait/rows.h"

#include <algorithm>
#include <utility>

namespace sennit::sched {
namespace {

// The idle worker that polls while others sleep; null when none does.
alignas(kCacheLine) Atomic<Worker *> g_idle_poller{nullptr};
Atomic<int> g_asleep{0};
constinit wait::Dormitory g_dormitory;

constexpr std::uint64_t kSpinPollsUs = wait::whole_us(wait::kIdlePoller.idle_ns);
constexpr std::uint64_t kMovesUs = 5; // a poll that takes as long moves a piece of a message
constexpr std::int64_t kWatchedAfterNs = wait::kWatchedSleeper.naps.longest_ns;
constexpr std::int64_t kLongAwayNs = 1'000'000'000'000; // for one that waits for ever

} // namespace

// Polling calls functions of the program, and reductions of the MPI library. They run as a new task
// would, not as the task that happens to rest on this stack.
static int run_polls(Worker &worker, bool looks = false) {
    const fiber::FpControl mine = fiber::fp_control();
    fiber::set_fp_control(worker.slot->control);
    Task *const self = worker.task;
    if (!worker.task) // they may use OpenMP
        worker.task = worker.slot->own_task;
    const int done = poll::run(worker.current(), looks);
    worker.task = self;
    fiber::set_fp_control(mine);
    return done;
}

void Rounds::look(Worker &worker) {
    const std::uint64_t now = ticks();
    if (now < next_look)
        return;
    if (SENNIT_UNLIKELY(shares_cores()))
        worker.seat.look();
    if (poll::pending())
        run_polls(worker);
    next_look = ticks() + static_cast<std::uint64_t>(config().poll_us) * ticks_per_us();
}

void give_up_polling(const Worker &worker) {
    if (g_idle_poller.load(std::memory_order_relaxed) == &worker) {
        g_idle_poller.store(nullptr, std::memory_order_relaxed);
        // Pairs with fence_before_sleep in sleep(): who counts as asleep before it looks for a
        // poller either finds none, and polls, or is counted here. On ARM a seq_cst store would not
        // do: the relaxed load may pass it.
        fence_light();
    }
    if (g_asleep.load(std::memory_order_relaxed) == 0 ||
        g_idle_poller.load(std::memory_order_relaxed) || crowded())
        return;
    for (Worker &other : Worker::all())
        if (other.activity.asleep())
            return other.wake();
}

bool Worker::idle(Condition *parked) {
    note_idle();
    if (SENNIT_LIKELY(!shares_cores()))
        return rest(parked);
    seat.rest();
    const bool over = rest(parked);
    // Before it takes a task, which others with a core could run meanwhile.
    if (over || anything_to_do())
        seat.need();
    return over;
}

void Worker::become_busy() {
    activity.note_busy();
    if (counts_idle()) {
        memberships_.count_idle(false);
        memberships_.let_help(true);
    }
    if (SENNIT_UNLIKELY(shares_cores()))
        seat.need();
}

void Worker::become_idle() {
    activity.become_idle();
    if (counts_idle())
        memberships_.count_idle(true);
}

// Where a fiber is parked, and there is no other stack: what is called on its own may wait, too. So
// it is not armed meanwhile, or two waits would resume it. A lock that it waits for might be
// handed to it under another wait for that lock: then others poll, or the ticker does.
static bool may_poll_on(const Condition *parked) {
    return !parked || parked->may_be_buried;
}

bool Worker::rest(Condition *parked) {
    if (SENNIT_UNLIKELY(outdated())) {
        client().reconsider();
        return false;
    }
    memberships_.settle();
    if (poll::pending() && may_poll_on(parked)) {
        Worker *poller = g_idle_poller.load(std::memory_order_relaxed);
        // Asked only where it matters: to read the clock takes a good part of what a poll takes.
        const auto idle_ticks = [this] { return ticks() - activity.idle_since(); };
        const auto patient = [&] { return idle_ticks() < patience(*this); };
        // A worker with suspended tasks of its own polls itself: what it finds it can resume at
        // once. Not for ever, or no idle worker with suspended tasks would sleep.
        if (suspended.any() && poller && poller != this && patient()) {
            g_idle_poller.store(this, std::memory_order_seq_cst);
            poller = this;
        }
        if (poller == this || (!poller && g_idle_poller.compare_exchange_strong(poller, this))) {
            const bool naps =
                rounds_.polls >= wait::kIdlePoller.idle_tests || (crowded() && !patient());
            if (naps) // what rings from now on is found by this poll, or ends the nap
                activity.listen(thread);
            const std::uint64_t before = naps ? ticks() : 0;
            if (parked && !withdraw(*parked))
                return false;
            const int found = run_polls(*this, true);
            if (found > 0)
                rounds_.polls = 0;
            else
                ++rounds_.polls;
            if (parked && (parked->done() || !arm(*parked, *current())))
                return true;
            if (found > 0)
                return false;
            if (naps && ticks() - before < kMovesUs * ticks_per_us())
                sleep();
            else if (crowded() || (rounds_.polls > wait::kIdlePoller.tests &&
                                   idle_ticks() > kSpinPollsUs * ticks_per_us()))
                thread.yield();
            else
                cpu_relax();
            return false;
        }
    } else if (g_idle_poller.load(std::memory_order_relaxed) == this) {
        g_idle_poller.store(nullptr, std::memory_order_seq_cst);
    }
    // There may be something that this worker does not take just now: tasks too short to be stolen
    // (Steals). sleep() would find it, too, but after a system call that disturbs those at work.
    if (ticks() - activity.idle_since() >= patience(*this) && !anything_to_do())
        sleep();
    else if (crowded())
        give_processor(*this);
    else // between two looks at the others' queues
        for (int i = steals_.next_pause(); i > 0 && !inbox_.any(); --i)
            cpu_relax();
    return false;
}

bool is_one_of_few(const Worker &worker) {
    if (!worker.slot || !yields_in_vain() || shares_cores() || worker.thread.own_flow())
        return false;
    const Group &group = *worker.slot->group;
    const int processors = g_processors.usable();
    return group.has_tasks.load(std::memory_order_relaxed) &&
           count_awake(group, processors + 1) <= processors;
}

void give_processor(Worker &worker) {
    if (is_one_of_few(worker))
        cpu_relax();
    else
        worker.thread.yield();
}

bool Worker::anything_to_do(const Slot *but_for) const {
    return fibers.ready.first() || next_.item || inbox_.any() || memberships_.any_work(but_for) ||
           memberships_.unbegun() ||
           (poll::pending() && !g_idle_poller.load(std::memory_order_relaxed));
}

// The others' state may change meanwhile. What they then begin runs on them, and what it makes
// ready they run, too: nothing is pinned to this thread. So a wrong answer costs a core for the
// length of one call, as in a runtime that never suspends, and nobody's progress.
// Asked twice a message in a task: flat, or calls take a fifth of its instructions.
[[gnu::flatten]] bool Worker::has_nothing_else() const {
    if (has_parked() || fibers.ready.first() || next_.item || poll::pending() || inbox_.any() ||
        outdated() || !waits_awake() || memberships_.unbegun() || events.any() ||
        memberships_.any_ready())
        return false;
    for (const Worker &other : all()) {
        if (&other == this)
            continue;
        if (!other.activity.idles() && !other.activity.away())
            return false;
        if (other.events.any())
            return false;
    }
    return true;
}

// Is every other worker asleep, too? A look at some moment, not a verdict.
static bool nobody_at_work() {
    for (const Worker &worker : Worker::all())
        if (!worker.activity.away() && !worker.activity.asleep())
            return false;
    return true;
}

// Begins the watch when nobody is at work, or when this one has waited for others for long: who
// seems to be at work may sleep in a call of the system's. Docked threads wait for as long as they
// like. False: to be asked again while it sleeps.
static bool begins_watch(const Worker &worker) {
    const Wait *const wait = worker.current()->waits.load(std::memory_order_relaxed);
    const bool docked = !wait || wait->kind == WaitFor::nobody;
    const std::int64_t waited = worker.activity.waited_ns();
    if (nobody_at_work() || (!docked && waited >= kWatchedAfterNs)) {
        poll::begin_watch();
        return true;
    }
    return docked;
}

// Of the idle poller. Where threads outnumber processors, others need what frequent polls cost:
// then an eighth of the time that it has waited so far, so that no wait gets much longer by it.
static std::int64_t nap_ns(const Activity &activity) {
    if (!crowded())
        return wait::kIdlePoller.naps.shortest_ns;
    return wait::kIdlePoller.naps.of(activity.waited_ns());
}

void Worker::sleep() {
    constexpr int kTrimmed = 64; // who wakes us waits for them
    SENNIT_ASSERT(t_self_ == this && !activity.asleep());
    heap.flush();
    fibers.trim(kTrimmed);
    const bool as_fiber = thread.flow() != nullptr;
    const bool light = id_ < wait::Dormitory::kBeds && crowded() && !as_fiber && !shares_cores() &&
                       !interruptible; // see sleep_on_state()
    // Another one may poll instead at any time: then this sleep is a nap for nothing.
    const bool poller = g_idle_poller.load(std::memory_order_relaxed) == this;
    const bool in_dorm = light && !poller;
    memberships_.count_asleep(1, light);
    g_asleep.fetch_add(1, std::memory_order_relaxed);
    activity.fall_asleep(as_fiber  ? Activity::kAway
                         : in_dorm ? Activity::kDorm
                                   : Activity::kAsleep);
    // Pairs with fence_light in announce_work and make_ready: either they see us asleep or we see
    // what they published.
    fence_before_sleep();
    bool fell_asleep = false; // with a seat
    bool interrupted = false;
    if (!anything_to_do()) {
        fell_asleep = seat.fall_asleep();
        std::int64_t most_ns = poller  ? nap_ns(activity)
                               : light ? wait::kLightSleeper.naps.of(activity.waited_ns())
                                       : -1;
        wait::Bell *const bell = poller ? poll::doorbell() : nullptr;
        if (SENNIT_UNLIKELY(poll::wants_watch()) && !begins_watch(*this) && !poller && !light)
            most_ns = kWatchedAfterNs;
        if (bell)
            most_ns = wait::kIdlePoller.naps.longest_ns;
        const bool slept_away =
            SENNIT_UNLIKELY(as_fiber) && activity.sleep_away(thread, bell, most_ns);
        if (SENNIT_UNLIKELY(bell != nullptr) && !slept_away)
            activity.sleep_on_bell(*bell, wait::kIdlePoller.naps.longest_ns);
        else if (in_dorm)
            activity.sleep_in_dormitory(id_, most_ns);
        else if (!slept_away)
            interrupted = activity.sleep_on_state(most_ns);
    }
    if (SENNIT_LIKELY(!shares_cores()))
        activity.wake_up();
    else
        seat.wake_up(fell_asleep, activity.was_woken());
    SENNIT_ASSERT(g_asleep.load(std::memory_order_relaxed) > 0);
    g_asleep.fetch_sub(1, std::memory_order_relaxed);
    memberships_.count_asleep(-1, light);
    if (crowded())
        thread.note_processor();
    for (Interruptible *at = interrupted ? interruptible : nullptr; at; at = at->next)
        at->interrupt(*at);
}

void Worker::wake() {
    activity.wake(id_, thread);
}

void forget_sleepers() {
    g_idle_poller.store(nullptr, std::memory_order_relaxed);
    g_asleep.store(0, std::memory_order_relaxed);
}

void Activity::become_idle() {
    idle_since_.store(ticks(), std::memory_order_release); // pairs with idles()
    if (observed::by(observed::kTrace))
        client().found_nothing();
}

std::int64_t Activity::waited_ns() const {
    return static_cast<std::int64_t>((ticks() - idle_since()) / ticks_per_us()) * 1000;
}

void Activity::listen(const Thread &thread) {
    wait::Bell *const bell = poll::doorbell();
    if (!bell)
        return;
    virt::RankFiber *const own = thread.flow();
    if (SENNIT_UNLIKELY(own != nullptr)) // who rings knows the main flow alone
        if (virt::RankFiber *const main = own->main.load(std::memory_order_relaxed); main != own)
            main->listener.store(own);
    rings_seen_ = bell->arm(own ? wait::Bell::kFiber : wait::Bell::kThread);
}

void Activity::sleep_on_bell(wait::Bell &bell, std::int64_t most_ns) {
    bell.sleep_on_both(rings_seen_, state_, kAsleep, most_ns);
}

void Activity::sleep_in_dormitory(int worker, std::int64_t most_ns) const {
    g_dormitory.sleep(worker, state_, kDorm, most_ns);
}

bool Activity::sleep_away(const Thread &thread, wait::Bell *bell, std::int64_t most_ns) {
    const virt::Watched own = {&state_, kAway};
    const virt::Watched rings = bell ? virt::Watched{&bell->word(), rings_seen_} : virt::Watched{};
    virt::RankFiber &flow = *thread.own_flow();
    if (flow.calls->wait(flow, own, rings, most_ns < 0 ? kLongAwayNs : most_ns))
        return true;
    if (bell)
        bell->arm(); // the kernel's way, for whoever rings now
    std::uint32_t away = kAway;
    state_.compare_exchange_strong(away, kAsleep, std::memory_order_seq_cst);
    return false;
}

void Activity::wake(int worker, const Thread &thread) {
    // Before the ring, see src/ranks/fibers/fiber_rings.h.
    const std::uint32_t was = state_.exchange(kAwake, std::memory_order_seq_cst);
    if (was == kAwake)
        return;
    // A core that rests waits for it: the caller may go to sleep before this one is awake.
    if (SENNIT_UNLIKELY(shares_cores()))
        share().count_awake(1);
    if (SENNIT_UNLIKELY(was == kAway)) {
        // At once: the caller may go on for long. Null: something else has woken it, and it has
        // ended since.
        if (virt::RankFiber *const flow = thread.own_flow())
            flow->calls->ring(*flow, nullptr);
    } else if (was != kDorm) {
        futex_wake(state_);
    } else if (Worker *const waker = Worker::self(); waker && waker->activity.gathers_wakes_) {
        waker->activity.gathered_wakes_ |= wait::Dormitory::bit_of(worker);
    } else {
        g_dormitory.wake(wait::Dormitory::bit_of(worker));
    }
}

void Activity::wake_gathered() {
    gathers_wakes_ = false;
    if (gathered_wakes_ != 0)
        g_dormitory.wake(std::exchange(gathered_wakes_, 0));
}

// Giving way: a fiber that could go on lets another one run, or a task that is called at once.

namespace {

constexpr unsigned kYieldsBeforeSystem = 16;   // yields that find nothing else to run
constexpr unsigned kYieldsBeforeSettling = 16; // yields to other fibers
constexpr unsigned kYieldsBeforeOthers = 64;   // the same, before other threads have the processor

} // namespace

void Worker::yield() {
    slot->note_control(task);
    poll_if_due();
    Slot *where = nullptr;
    // A task comes before other fibers. Fibers that yield in turns must not keep tasks from
    // starting that they may be waiting for. Nor must they keep threads of a group from beginning.
    Item *item = find(where);
    Fiber *to = item || memberships_.unbegun() ? fibers.take() : nullptr;
    if (item && to)
        handoff_.give(*where, item, where->control);
    else if (item)
        client().put_back(*this, *where, item); // without a stack the others go on
    else if (to)
        handoff_.begins = true;
    if (!to) {
        to = next_ready();
        // What the caller waits for may be behind a barrier.
        if (!to) {
            memberships_.settle();
            to = next_ready();
        } else if (++rounds_.busy_yields % kYieldsBeforeSettling == 0) {
            memberships_.settle();
            // Or it may be on a thread that has no processor. Fibers that yield in turns would use
            // up ours.
            if (rounds_.busy_yields % kYieldsBeforeOthers == 0 && crowded())
                thread.yield();
        }
        if (!to) {
            // What we wait for may need our processor.
            const unsigned rounds = yields_in_vain() ? kYieldsBeforeOthers
                                    : crowded()      ? 1
                                                     : kYieldsBeforeSystem;
            if (poll::pending())
                run_polls(*this);
            else if (++rounds_.empty_yields % rounds == 0)
                thread.yield();
            else
                cpu_relax();
            return;
        }
    }
    make_ready(current());
    switch_to(to);
}

void Worker::yield_to_parked() {
    slot->note_control(task);
    poll_if_due();
    Fiber *to = memberships_.unbegun() ? fibers.take() : nullptr;
    if (to)
        handoff_.begins = true;
    else
        to = next_ready();
    if (!to && ++rounds_.busy_yields % kYieldsBeforeSettling == 0) {
        memberships_.settle(); // what the caller waits for may be behind a barrier
        to = next_ready();
    }
    if (!to)
        return;
    make_ready(current());
    switch_to(to);
}

bool Worker::run_on_own_fiber(Slot &where, Item *item, std::uint32_t down_to) {
    slot->note_control(task);
    Fiber *fresh = fibers.take();
    if (SENNIT_UNLIKELY(!fresh))
        return false;
    // As if the task was called.
    handoff_.give(*where.home(), item, fiber::fp_control());
    handoff_.creator = current();
    handoff_.down_to = down_to;
    // In front of the others. The creator goes on as soon as the task ends or suspends.
    Fiber *me = current();
    SENNIT_ASSERT(me->state.step(FiberState::ready));
    fibers.ready.prepend(*me);
    switch_to(fresh);
    return true;
}

} // namespace sennit::sched

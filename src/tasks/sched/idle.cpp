// SPDX-License-Identifier: Apache-2.0
// A worker without work: polls, spins, yields its processor, sleeps; and who wakes it.
#include "tasks/sched/idle.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/spin.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/worker.h"

#include <algorithm>
#include <optional>
#include <sched.h>
#include <utility>

namespace sennit::sched {
namespace {

// The idle worker that polls while others sleep; null when none does.
alignas(kCacheLine) std::atomic<Worker *> g_idle_poller{nullptr};
std::atomic<int> g_asleep{0};
constinit Dormitory g_dormitory;

// The idle poller first spins, then yields, then naps. A thread that yields to another program is
// back after that one's time slice: not within the time that a message takes.
constexpr int kPollsBeforeYield = 64;
constexpr std::uint64_t kSpinPollsUs = 20;
constexpr int kPollsBeforeNap = 4096;
constexpr std::uint64_t kMovesUs = 5;   // a poll that takes as long moves a piece of a message
constexpr std::int64_t kNapNs = 50'000; // the shortest
constexpr std::int64_t kLongNapNs = 1'000'000; // the ticker's period
constexpr std::int64_t kWatchedAfterNs = 1'000'000'000;
constexpr std::int64_t kLongAwayNs = 1'000'000'000'000; // for one that waits for ever
constexpr std::uint64_t kLongYieldUs = 10; // it takes as long to find out whose work it waited for
// Of light sleepers: as long as they have waited, but
constexpr std::int64_t kShortestLightNs = 10'000'000;
constexpr std::int64_t kLongestLightNs = 1'000'000'000;

} // namespace

void Worker::poll_slow() {
    const std::uint64_t now = ticks();
    if (now < next_poll_)
        return;
    if (SENNIT_UNLIKELY(shares_cores()))
        seat.look();
    if (poll::pending())
        poll();
    next_poll_ = ticks() + static_cast<std::uint64_t>(config().poll_us) * ticks_per_us();
}

// This worker turns to work. If operations are pending and somebody sleeps, let him poll meanwhile.
void Worker::give_up_polling() {
    if (g_idle_poller.load(std::memory_order_relaxed) == this) {
        g_idle_poller.store(nullptr, std::memory_order_relaxed);
        // Pairs with fence_before_sleep in sleep(): who counts as asleep before it looks for a
        // poller either finds none, and polls, or is counted here. On ARM a seq_cst store would not
        // do: the relaxed load may pass it.
        fence_light();
    }
    if (g_asleep.load(std::memory_order_relaxed) == 0 ||
        g_idle_poller.load(std::memory_order_relaxed) || crowded())
        return;
    for (Worker &worker : all())
        if (worker.asleep())
            return worker.wake();
}

// Open the barriers of this worker's groups that can end now: when all who wait there are parked,
// nobody else looks.
void Worker::settle_groups() {
    for (Slot *mine = slots_; mine; mine = mine->next_of_worker)
        if (mine->group->can_settle())
            mine->group->settle();
}

void Worker::idle() {
    note_idle();
    if (SENNIT_LIKELY(!shares_cores()))
        return rest();
    seat.rest();
    rest();
    // Before it takes a task, which others with a core could run meanwhile.
    if (anything_to_do())
        seat.need();
}

void Worker::turn_busy() {
    idle_since_.store(0, std::memory_order_relaxed);
    if (SENNIT_UNLIKELY(shares_cores()))
        seat.need();
}

void Worker::rest() {
    if (SENNIT_UNLIKELY(outdated()))
        return client().reconsider();
    settle_groups();
    if (poll::pending()) {
        Worker *poller = g_idle_poller.load(std::memory_order_relaxed);
        // Asked only where it matters: to read the clock takes a good part of what a poll takes.
        const auto idle_ticks = [this] { return ticks() - idle_since(); };
        const auto patient = [&] { return idle_ticks() < patience(); };
        // A worker with suspended tasks of its own polls itself: what it finds it can resume at
        // once. Not for ever, or no idle worker with suspended tasks would sleep.
        if (suspended.any() && poller && poller != this && patient()) {
            g_idle_poller.store(this, std::memory_order_seq_cst);
            poller = this;
        }
        if (poller == this || (!poller && g_idle_poller.compare_exchange_strong(poller, this))) {
            const bool naps = idle_rounds_ >= kPollsBeforeNap || (crowded() && !patient());
            if (naps) // what rings from now on is found by this poll, or ends the nap
                listen();
            const std::uint64_t before = naps ? ticks() : 0;
            if (poll(true) > 0) {
                idle_rounds_ = 0;
                return;
            }
            ++idle_rounds_;
            if (naps && ticks() - before < kMovesUs * ticks_per_us())
                sleep();
            else if (crowded() || (idle_rounds_ > kPollsBeforeYield &&
                                   idle_ticks() > kSpinPollsUs * ticks_per_us()))
                yield_processor();
            else
                cpu_relax();
            return;
        }
    } else if (g_idle_poller.load(std::memory_order_relaxed) == this) {
        g_idle_poller.store(nullptr, std::memory_order_seq_cst);
    }
    // There may be something that this worker does not take just now: tasks too short to be stolen
    // (Steals). sleep() would find it, too, but after a system call that disturbs those at work.
    if (ticks() - idle_since() >= patience() && !anything_to_do())
        sleep();
    else if (crowded())
        give_processor();
    else
        pause();
}

// Others compute on our processors, too, but among the threads that may run the group's tasks there
// are only a few awake. Then the next task is not far: to wait for it a moment on the processor
// takes less than to be woken.
bool Worker::is_one_of_few() const {
    if (!slot || !yields_in_vain() || shares_cores() || own_flow())
        return false;
    const Group &group = *slot->group;
    const int processors = g_processors.usable();
    return group.has_tasks.load(std::memory_order_relaxed) &&
           count_awake(group, processors + 1) <= processors;
}

// Of a thread that waits awake, where threads outnumber processors.
void Worker::give_processor() {
    if (is_one_of_few())
        cpu_relax();
    else
        yield_processor();
}

// Between two looks at the others' queues.
void Worker::pause() {
    const int pause = steals_.next_pause();
    for (int i = 0; i < pause && !inbox_.any(); ++i)
        cpu_relax();
}

// What a sleeper must not sleep through. Also a hint to waiters that there is work that they do not
// look for themselves, in the group of `but_for`.
bool Worker::anything_to_do(const Slot *but_for) const {
    if (fibers.ready.first() || next_ || inbox_.any())
        return true;
    for (Slot *mine = slots_; mine; mine = mine->next_of_worker) {
        if (mine == but_for)
            continue;
        const Group &group = *mine->group;
        if (!group.has_tasks.load(std::memory_order_relaxed))
            continue;
        if (group.can_settle() || group.any_ready())
            return true;
    }
    return any_unbegun() || (poll::pending() && !g_idle_poller.load(std::memory_order_relaxed));
}

bool Worker::wanted() const {
    return crowded() || anything_to_do();
}

// The others' state may change meanwhile. What they then begin runs on them, and what it makes
// ready they run, too: nothing is pinned to this thread. So a wrong answer costs a core for the
// length of one call, as in a runtime that never suspends, and nobody's progress.
// Asked twice a message in a task: flat, or calls take a fifth of its instructions.
[[gnu::flatten]] bool Worker::has_nothing_else() const {
    if (has_parked() || fibers.ready.first() || next_ || poll::pending() || inbox_.any() ||
        outdated() || !waits_awake() || any_unbegun() ||
        event_count_.load(std::memory_order_relaxed) != 0)
        return false;
    for (const Slot *mine = slots_; mine; mine = mine->next_of_worker)
        if (mine->group->has_tasks.load(std::memory_order_relaxed) && mine->group->any_ready())
            return false;
    for (const Worker &other : all()) {
        if (&other == this)
            continue;
        // Acquire: whose tasks wait for events has counted them before it turned idle.
        if (other.idle_since_.load(std::memory_order_acquire) == 0 && !other.away())
            return false;
        if (other.event_count_.load(std::memory_order_relaxed) != 0)
            return false;
    }
    return true;
}

// Is every other worker asleep, too? A look at some moment, not a verdict.
bool Worker::nobody_at_work() {
    for (const Worker &worker : all())
        if (!worker.away() && !worker.asleep())
            return false;
    return true;
}

std::int64_t Worker::waited_ns() const {
    return static_cast<std::int64_t>((ticks() - idle_since()) / ticks_per_us()) * 1000;
}

// Begins the watch when nobody is at work, or when this one has waited for others for long: who
// seems to be at work may sleep in a call of the system's. Docked threads wait for as long as they
// like. False: to be asked again while it sleeps.
bool Worker::begins_watch() const {
    const Wait *const wait = current()->waits.load(std::memory_order_relaxed);
    const bool docked = !wait || wait->kind == WaitFor::nobody;
    const std::int64_t waited = waited_ns();
    if (nobody_at_work() || (!docked && waited >= kWatchedAfterNs)) {
        poll::begin_watch();
        return true;
    }
    return docked;
}

// Of the idle poller. Where threads outnumber processors, others need what frequent polls cost:
// then an eighth of the time that it has waited so far, so that no wait gets much longer by it.
std::int64_t Worker::nap_ns() const {
    if (!crowded())
        return kNapNs;
    return std::clamp(waited_ns() / 8, kNapNs, kLongNapNs);
}

void Worker::listen() {
    node::Bell *const bell = poll::doorbell();
    if (!bell)
        return;
    virt::RankFiber *const own = flow();
    if (SENNIT_UNLIKELY(own != nullptr)) // who rings knows the main flow alone
        if (virt::RankFiber *const main = own->main.load(std::memory_order_relaxed); main != own)
            main->listener.store(own);
    rings_seen_ = bell->arm(own ? node::Bell::kFiber : node::Bell::kThread);
}

// To the ranks that can go on; where the thread is at home, to whom the kernel has.
void Worker::yield_processor() {
    virt::RankFiber *const own = own_flow();
    if (SENNIT_UNLIKELY(own != nullptr) && own->worker.load(std::memory_order_relaxed))
        return own->calls->yield(*own);
    note_processor();
    std::optional<OwnWork> others;
    if (SENNIT_UNLIKELY(g_processors.asks_about_yields()))
        others.emplace(*this);
    const std::uint64_t before = ticks();
    sched_yield();
    const std::uint64_t now = ticks();
    if (SENNIT_LIKELY(!others))
        return g_processors.note_yield(before, now);
    const bool was_long = now - before > kLongYieldUs * ticks_per_us();
    g_processors.note_yield(before, now, was_long ? others->ns() : 0);
}

// As a rank fiber, until wake(), or a ring. False: it cannot leave its home here.
bool Worker::sleep_away(node::Bell *bell, std::int64_t most_ns) {
    const virt::Watched own = {&state_, kAway};
    const virt::Watched rings = bell ? virt::Watched{&bell->word(), rings_seen_} : virt::Watched{};
    virt::RankFiber &flow = *own_flow();
    if (flow.calls->wait(flow, own, rings, most_ns < 0 ? kLongAwayNs : most_ns))
        return true;
    if (bell)
        bell->arm(); // the kernel's way, for whoever rings now
    std::uint32_t away = kAway;
    state_.compare_exchange_strong(away, kAsleep, std::memory_order_seq_cst);
    return false;
}

// In the groups' counts.
void Worker::count_asleep(int more, bool light) {
    for (Slot *mine = slots_; mine; mine = mine->next_of_worker) {
        Group &group = *mine->group;
        SENNIT_ASSERT(more > 0 || group.sleepers.load(std::memory_order_relaxed) > 0);
        group.sleepers.fetch_add(more, std::memory_order_relaxed);
        if (!light)
            continue;
        SENNIT_ASSERT(more > 0 || group.light_sleepers.load(std::memory_order_relaxed) > 0);
        group.light_sleepers.fetch_add(more, std::memory_order_relaxed);
    }
}

void Worker::sleep() {
    constexpr int kTrimmed = 64; // who wakes us waits for them
    SENNIT_ASSERT(t_self_ == this && !asleep());
    heap.flush();
    fibers.trim(kTrimmed);
    const bool as_fiber = flow() != nullptr;
    const bool light = id_ < Dormitory::kBeds && crowded() && !as_fiber && !shares_cores();
    // Another one may poll instead at any time: then this sleep is a nap for nothing.
    const bool poller = g_idle_poller.load(std::memory_order_relaxed) == this;
    const bool in_dorm = light && !poller;
    count_asleep(1, light);
    g_asleep.fetch_add(1, std::memory_order_relaxed);
    // Release: who wakes it as a fiber knows which one.
    state_.store(as_fiber ? kAway : in_dorm ? kDorm : kAsleep, std::memory_order_release);
    // Pairs with fence_light in announce_work and make_ready: either they see us asleep or we see
    // what they published.
    fence_before_sleep();
    bool fell_asleep = false; // with a seat
    if (!anything_to_do()) {
        fell_asleep = seat.fall_asleep();
        std::int64_t most_ns = poller  ? nap_ns()
                               : light ? std::clamp(waited_ns(), kShortestLightNs, kLongestLightNs)
                                       : -1;
        node::Bell *const bell = poller ? poll::doorbell() : nullptr;
        if (SENNIT_UNLIKELY(poll::wants_watch()) && !begins_watch() && !poller && !light)
            most_ns = kWatchedAfterNs;
        if (bell)
            most_ns = kLongNapNs;
        const bool slept_away = SENNIT_UNLIKELY(as_fiber) && sleep_away(bell, most_ns);
        if (SENNIT_UNLIKELY(bell != nullptr) && !slept_away)
            bell->sleep_on_both(rings_seen_, state_, kAsleep, kLongNapNs);
        else if (in_dorm)
            g_dormitory.sleep(id_, state_, kDorm, most_ns);
        else if (!slept_away)
            futex_wait(state_, kAsleep, most_ns);
    }
    if (SENNIT_LIKELY(!shares_cores()))
        state_.store(kAwake, std::memory_order_relaxed);
    else
        seat.wake_up(fell_asleep, state_.exchange(kAwake, std::memory_order_relaxed) == kAwake);
    SENNIT_ASSERT(g_asleep.load(std::memory_order_relaxed) > 0);
    g_asleep.fetch_sub(1, std::memory_order_relaxed);
    count_asleep(-1, light);
    if (crowded())
        note_processor();
}

void Worker::forget_others() {
    g_idle_poller.store(nullptr, std::memory_order_relaxed);
    g_asleep.store(0, std::memory_order_relaxed);
}

void Worker::wake() {
    // Before the ring, see src/ranks/fibers/turns.h.
    const std::uint32_t was = state_.exchange(kAwake, std::memory_order_seq_cst);
    if (was == kAwake)
        return;
    // A core that rests waits for it: the caller may go to sleep before this one is awake.
    if (SENNIT_UNLIKELY(shares_cores()))
        share().count_awake(1);
    if (SENNIT_UNLIKELY(was == kAway)) {
        // At once: the caller may go on for long. Null: something else has woken it, and it has
        // ended since.
        if (virt::RankFiber *const flow = own_flow())
            flow->calls->ring(*flow, nullptr);
    } else if (was != kDorm) {
        futex_wake(state_);
    } else if (Worker *const waker = self(); waker && waker->gathers_wakes_) {
        waker->gathered_wakes_ |= Dormitory::bit_of(id_);
    } else {
        g_dormitory.wake(Dormitory::bit_of(id_));
    }
}

void Worker::wake_gathered() {
    gathers_wakes_ = false;
    if (gathered_wakes_ != 0)
        g_dormitory.wake(std::exchange(gathered_wakes_, 0));
}

OwnWork::OwnWork(const Worker &worker) {
    const int here = worker.processor();
    for (const Worker &other : Worker::all()) {
        if (count_ == kMost)
            break;
        if (&other != &worker && !other.away() && other.processor() == here)
            threads_[count_++] = other.thread_id();
    }
    before_ = sum();
}

std::int64_t OwnWork::ns() const {
    return sum() - before_;
}

std::int64_t OwnWork::sum() const {
    std::int64_t sum = 0;
    for (int i = 0; i < count_; ++i)
        sum += work_ns_of(threads_[i]);
    return sum;
}

// Giving way: a fiber that could go on lets another one run, or a task that is called at once.

namespace {

constexpr unsigned kYieldsBeforeSystem = 16;   // yields that find nothing else to run
constexpr unsigned kYieldsBeforeSettling = 16; // yields to other fibers
constexpr unsigned kYieldsBeforeOthers = 64;   // the same, before other threads have the processor

} // namespace

void Worker::yield() {
    note_control();
    poll_if_due();
    Slot *where = nullptr;
    // A task comes before other fibers. Fibers that yield in turns must not keep tasks from
    // starting that they may be waiting for. Nor must they keep threads of a group from beginning.
    Node *node = find(where);
    Fiber *to = nullptr;
    if (!node && any_unbegun() && (to = fibers.take())) {
        handoff_.begins = true;
    } else if (node) {
        to = fibers.take();
        if (!to) {
            push(*where, node);
            return;
        }
        handoff_.give(*where, node, where->control);
    } else {
        to = next_ready();
        // What the caller waits for may be behind a barrier.
        if (!to) {
            settle_groups();
            to = next_ready();
        } else if (++busy_yields_ % kYieldsBeforeSettling == 0) {
            settle_groups();
            // Or it may be on a thread that has no processor. Fibers that yield in turns would use
            // up ours.
            if (busy_yields_ % kYieldsBeforeOthers == 0 && crowded())
                yield_processor();
        }
        if (!to) {
            // What we wait for may need our processor.
            const unsigned rounds = yields_in_vain() ? kYieldsBeforeOthers
                                    : crowded()      ? 1
                                                     : kYieldsBeforeSystem;
            if (poll::pending())
                poll();
            else if (++empty_yields_ % rounds == 0)
                yield_processor();
            else
                cpu_relax();
            return;
        }
    }
    make_ready(current());
    switch_to(to);
}

void Worker::yield_to_parked() {
    note_control();
    poll_if_due();
    Fiber *to = any_unbegun() ? fibers.take() : nullptr;
    if (to)
        handoff_.begins = true;
    else
        to = next_ready();
    if (!to && ++busy_yields_ % kYieldsBeforeSettling == 0) {
        settle_groups(); // what the caller waits for may be behind a barrier
        to = next_ready();
    }
    if (!to)
        return;
    make_ready(current());
    switch_to(to);
}

bool Worker::run_on_own_fiber(Slot &where, Node *node, std::uint32_t down_to) {
    note_control();
    Fiber *fresh = fibers.take();
    if (SENNIT_UNLIKELY(!fresh))
        return false;
    // As if the task was called.
    handoff_.give(*where.home(), node, fiber::fp_control());
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

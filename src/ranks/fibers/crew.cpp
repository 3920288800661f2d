// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/crew.h"

#include "base/clock.h"
#include "ranks/fibers/call.h"
#include "ranks/fibers/home.h"
#include "ranks/fibers/trap.h"
#include "wait/ladder.h"

#include <algorithm>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace sennit::virt {
namespace {

constexpr std::int64_t kLookAtClockNs = 1'000'000; // while there is always a fiber to run
constexpr std::int64_t kTickNs = 5'000'000;
constexpr int kRunsToClock = 64;

void sleep_on(FutexWord &word, std::uint32_t seen, std::int64_t limit_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    const timespec limit = {static_cast<time_t>(limit_ns / second),
                            static_cast<long>(limit_ns % second)};
    call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen,
         reinterpret_cast<long>(&limit), 0, 0);
}

char *allocate(std::size_t size) {
    void *const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
}

// A carrier that a fiber has left still has that one's thread pointer, for the next fiber brings
// its own: until then it uses no thread-local variable, so little of libc. Before the rest, this.
void take_own_thread_pointer(const Carrier &carrier) {
#if defined(__x86_64__)
    asm volatile("wrfsbase %0" : : "r"(carrier.thread_pointer) : "memory");
#else
    (void)carrier;
#endif
}

// The fiber that nobody else runs, until it leaves; the reason is carrier.reason then.
void run(Carrier &carrier, RankFiber &fiber) {
    carrier.reason = LeaveReason::waits;
    carrier.preempt.store(0, std::memory_order_relaxed);
    carrier.runs.store(carrier.runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    fiber.carrier.store(&carrier, std::memory_order_relaxed);
    carrier.fiber.store(&fiber, std::memory_order_relaxed);
    come_to_thread(fiber);
    if (void *const frame = fiber.frame) {
        fiber.frame = nullptr;
        fit_frame(frame, carrier);
        sennit_virt_resume(&carrier.stack_pointer, frame, fiber.thread_pointer);
    } else {
        sennit_virt_switch(&carrier.stack_pointer, fiber.stack_pointer, fiber.thread_pointer);
    }
    leave_thread(fiber);
    carrier.fiber.store(nullptr, std::memory_order_relaxed);
    fiber.carrier.store(nullptr, std::memory_order_relaxed);
}

} // namespace

// ---- the host's main thread ---------------------------------------------------------------------

Crew::Crew() : FiberRings(g_rank_fiber_calls), is_pooled_(parties_.open()) {}

RankFiber *Crew::add() {
    RankFiber *const fiber = fibers_.add(nullptr);
    if (fiber)
        fiber->is_pooled = is_pooled_;
    return fiber;
}

bool Crew::end(RankFiber &main) {
    bool well = true;
    fibers_.each([&](RankFiber &fiber) {
        if (fiber.main.load() == &main && &fiber != &main && fiber.in_use.load() != 0)
            well = end_one(fiber) && well;
    });
    return end_one(main) && well;
}

bool Crew::end_one(RankFiber &fiber) {
    fiber.doomed.store(1);
    constexpr const wait::LadderRow &row = wait::kEndOfFiber;
    constexpr timespec nap = {0, row.naps.longest_ns};
    for (int i = 0; i < row.tests; ++i) {
        Carrier *carrier = nullptr;
        {
            const Guard guard(lock_);
            take_rung();
            const Stage stage = fiber.stage.load();
            if (stage != Stage::running && fiber.senders.load(std::memory_order_acquire) == 0) {
                if (stage == Stage::ready) {
                    // Its party may have come after it was ready.
                    if (!list_of(fiber).remove(fiber))
                        partyless_.remove(fiber);
                    ready_count_.fetch_sub(1, std::memory_order_relaxed);
                }
                fiber.go(Stage::gone);
                fiber.process.store(0);
                fiber.main.store(nullptr);
                fiber.in_use.store(0, std::memory_order_release);
                return true;
            }
            carrier = fiber.carrier.load();
        }
        if (carrier)
            poke(carrier->thread.load());
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
    }
    return false;
}

Carrier *Crew::hire() {
    char *const memory = allocate(2 * kSignalStack);
    if (!memory)
        return nullptr;
    auto *carrier = new (carrier_of_stack(memory + kSignalStack - 1)) Carrier;
    carrier->crew = this;
    carrier->rings = this;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, work, carrier) != 0) {
        munmap(memory, 2 * kSignalStack);
        return nullptr;
    }
    while (carrier->thread.load(std::memory_order_acquire) == 0)
        sched_yield();
    if (carrier->thread.load() > 0) {
        pthread_detach(thread);
        return carrier;
    }
    pthread_join(thread, nullptr); // it may still be on the memory
    munmap(memory, 2 * kSignalStack);
    return nullptr;
}

// Carriers may be missing still: then the next rank tries again.
bool Crew::begin_watch() {
    if (!is_watched_)
        is_watched_ = set_traps() && pthread_create(&watcher_, nullptr, watch, this) == 0;
    return is_watched_;
}

bool Crew::staff(const cpu_set_t &cores) {
    CPU_OR(&cores_, &cores_, &cores);
    if (!begin_watch())
        return false;
    const int wanted = std::clamp(CPU_COUNT(&cores_), 1, kMostCarriers);
    while (carriers_end_.load() < wanted) {
        Carrier *const carrier = hire();
        if (!carrier)
            return carriers_end_.load() > 0;
        carriers_[carriers_end_.load()] = carrier;
        carriers_end_.fetch_add(1);
    }
    for (int i = 0; i < carriers_end_.load(); ++i)
        sched_setaffinity(carriers_[i]->thread.load(), sizeof cores_, &cores_);
    return true;
}

// ---- what is ready ------------------------------------------------------------------------------

ReadyList &Crew::list_of(RankFiber &fiber) {
    const RankFiber *const main = fiber.main.load(std::memory_order_relaxed);
    if (is_pooled_ && !fiber.party && main)
        if (const std::uint64_t job = main->job.load(std::memory_order_acquire); job != 0)
            fiber.party = parties_.find(job);
    return fiber.party ? fiber.party->ready : partyless_;
}

void Crew::make_ready(RankFiber &fiber) {
    fiber.go(Stage::ready, std::memory_order_relaxed);
    list_of(fiber).add(fiber);
    ready_count_.store(ready_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Crew::take_rung() {
    if (abroad_.load(std::memory_order_relaxed) != 0 && abroad_.exchange(0) != 0)
        fibers_.each([&](RankFiber &fiber) {
            lock_.assert_held();
            if (fiber.stage.load() == Stage::waiting && fiber.has_changed())
                make_ready(fiber);
        });
    rung_.take(fibers_.end(), [&](std::int32_t number) {
        lock_.assert_held();
        RankFiber *const fiber = fibers_.at(number);
        if (fiber && fiber->stage.load() == Stage::waiting)
            make_ready(*fiber);
    });
}

// Those whose time is over. Returns how long the next one has.
std::int64_t Crew::wake_late(std::int64_t now) {
    looked_ns_.store(now, std::memory_order_relaxed);
    std::int64_t left = wait::kCarrier.naps.longest_ns;
    fibers_.each([&](RankFiber &fiber) {
        lock_.assert_held();
        if (fiber.stage.load() != Stage::waiting)
            return;
        if (fiber.deadline_ns == 0)
            fiber.deadline_ns = now + fiber.limit_ns;
        if (fiber.deadline_ns <= now) {
            make_ready(fiber);
            left = 0;
        } else {
            left = std::min(left, fiber.deadline_ns - now);
        }
    });
    return left;
}

// ---- the carriers
// --------------------------------------------------------------------------------

// Those without a party first: they will soon have one. `others`: another carrier could run one,
// too.
RankFiber *Crew::take(Carrier &carrier, bool &others) {
    for (;;) {
        RankFiber *goes_home = nullptr;
        if (RankFiber *const fiber = take_or_return(carrier, others, goes_home))
            return fiber;
        if (!goes_home)
            return nullptr;
        send_home(*goes_home);
    }
}

RankFiber *Crew::take_or_return(Carrier &carrier, bool &others, RankFiber *&goes_home) {
    const Guard guard(lock_);
    take_rung();
    Party *const party = carrier.party.load(std::memory_order_relaxed);
    for (;;) {
        RankFiber *fiber = partyless_.pop();
        if (!fiber && party)
            fiber = party->ready.pop();
        if (!fiber)
            return nullptr;
        ready_count_.store(ready_count_.load(std::memory_order_relaxed) - 1,
                           std::memory_order_relaxed);
        fiber->deadline_ns = 0;
        if (fiber->doomed.load() != 0) {
            fiber->go(Stage::gone);
        } else if (fiber->wanted_home.load() != 0) {
            begin_return(*fiber);
            goes_home = fiber;
            return nullptr;
        } else {
            fiber->go(Stage::running, std::memory_order_relaxed);
            others = partyless_.first || parties_.any_unserved();
            return fiber;
        }
    }
}

void Crew::begin_return(RankFiber &fiber) {
    fiber.go(Stage::returning);
    fiber.deadline_ns = 0;
    fiber.senders.fetch_add(1, std::memory_order_relaxed);
}

// Without the lock: the thread that wakes up may take the processor from the caller at once.
void Crew::send_home(RankFiber &fiber) {
    return_home(fiber);
    fiber.senders.fetch_sub(1, std::memory_order_release); // pairs with end_one()
}

// The fiber has left the carrier: nobody but us knows where it is.
void Crew::settle(Carrier &carrier, RankFiber &fiber) {
    if (settle_or_return(carrier, fiber))
        send_home(fiber);
}

bool Crew::settle_or_return(Carrier &carrier, RankFiber &fiber) {
    const Guard guard(lock_);
    if (fiber.doomed.load() != 0) {
        fiber.go(Stage::gone);
    } else if (carrier.reason == LeaveReason::home || fiber.wanted_home.load() != 0) {
        begin_return(fiber);
        return true;
    } else if (carrier.reason == LeaveReason::yields) {
        make_ready(fiber);
    } else {
        fiber.go(Stage::waiting); // seq_cst, then the look at the words: fiber_rings.h
        if (fiber.has_changed() || fiber.wanted_home.load() != 0)
            make_ready(fiber);
    }
    return false;
}

bool Crew::anything_for(const Carrier &carrier) const {
    const Party *const party = carrier.party.load(std::memory_order_relaxed);
    return rung_.any(fibers_.end(), std::memory_order_relaxed) ||
           abroad_.load(std::memory_order_relaxed) != 0 ||
           partyless_.count.load(std::memory_order_relaxed) != 0 ||
           (party && party->ready.count.load(std::memory_order_relaxed) != 0) ||
           parties_.any_unserved();
}

// The owner of the core wants it back; or, without a core, there may be one now.
bool Crew::is_to_leave(const Carrier &carrier) const {
    const Party *const party = carrier.party.load(std::memory_order_acquire);
    return party && party->share->is_to_leave(carrier.hold.load(std::memory_order_relaxed));
}

// For a program that has fibers ready and for which no other carrier asks. False: there is none.
// The carrier counts as one that searches: nobody wakes another one for the same program. It looks
// at everything afterwards.
bool Crew::ask_for_core(Carrier &carrier) {
    Party *party;
    {
        const Guard guard(lock_);
        party = parties_.claim();
    }
    if (!party)
        return false;
    give_core(carrier);
    searching_.fetch_add(1);
    if (const auto hold = party->share->take_while(party->ready.count, sched_getcpu())) {
        carrier.hold.store(*hold, std::memory_order_relaxed);
        carrier.party.store(party, std::memory_order_release); // pairs with is_to_leave()
    } else {
        party->users.fetch_sub(1, std::memory_order_release); // pairs with Parties::take_unused()
    }
    party->asking.store(false); // seq_cst, then a look at sleeping_ in help(): idle()
    searching_.fetch_sub(1);
    return true;
}

void Crew::give_core(Carrier &carrier) {
    Party *const party = carrier.party.load(std::memory_order_relaxed);
    if (!party)
        return;
    const node::Hold hold = carrier.hold.load(std::memory_order_relaxed);
    const std::uint32_t runs = carrier.runs.load(std::memory_order_relaxed);
    party->share->note_progress(runs - std::exchange(carrier.runs_told, runs));
    if (hold && party->share->is_to_leave(hold))
        party->share->give_recalled(hold);
    else
        party->share->give(hold);
    carrier.party.store(nullptr, std::memory_order_relaxed);
    party->users.fetch_sub(1, std::memory_order_release); // pairs with Parties::take_unused()
}

void Crew::idle(Carrier &carrier) {
    searching_.fetch_add(1);
    wait::Ladder ladder;
    do {
        if (anything_for(carrier)) {
            searching_.fetch_sub(1);
            return;
        }
        cpu_relax();
    } while (ladder.counts(wait::kCarrier));
    give_core(carrier);
    std::int64_t nap;
    {
        const Guard guard(lock_);
        nap = wake_late(monotonic_ns());
    }
    const std::uint32_t seen = wakes_.load();
    sleeping_.fetch_add(1);
    searching_.fetch_sub(1);
    if (nap > 0 && !anything_for(carrier)) {
        for (int i = 0; i < carriers_end_.load(); ++i)
            if (carriers_[i] != &carrier && carriers_[i]->fiber.load(std::memory_order_relaxed))
                nap = std::min(nap, wait::kCarrier.naps.shortest_ns);
        sleep_on(wakes_, seen, nap);
    }
    sleeping_.fetch_sub(1);
}

// For fibers that the caller has made ready. They were counted under the lock, and its release is
// no fence: without one, the look at sleeping_ could come before others see that count, and a
// carrier that goes to sleep meanwhile would see neither.
void Crew::wake_another() {
    full_fence(); // pairs with sleeping_.fetch_add() in idle()
    help();
}

// Nobody else does while there is always a fiber to run.
void Crew::look_at_clock(Carrier &carrier) {
    take_own_thread_pointer(carrier);
    const std::int64_t now = monotonic_ns();
    if (now - looked_ns_.load(std::memory_order_relaxed) < kLookAtClockNs)
        return;
    {
        const Guard guard(lock_);
        wake_late(now);
    }
    if (is_to_leave(carrier))
        give_core(carrier);
}

RankFiber *Crew::next(Carrier &carrier) {
    for (;;) {
        if (carrier.runs.load(std::memory_order_relaxed) % kRunsToClock == 0)
            look_at_clock(carrier);
        if (carrier.hold.load(std::memory_order_relaxed) && is_to_leave(carrier)) {
            take_own_thread_pointer(carrier);
            give_core(carrier);
        }
        bool others = false;
        if (RankFiber *const fiber = take(carrier, others)) {
            if (others)
                wake_another();
            return fiber;
        }
        take_own_thread_pointer(carrier);
        if (!ask_for_core(carrier))
            idle(carrier);
    }
}

void *Crew::work(void *argument) {
    auto &carrier = *static_cast<Carrier *>(argument);
    prctl(PR_SET_NAME, "sennit-carrier");
#if defined(__x86_64__)
    asm volatile("rdfsbase %0" : "=r"(carrier.thread_pointer));
#endif
    const bool well = begin_traps(carrier);
    carrier.thread.store(well ? static_cast<pid_t>(call(SYS_gettid)) : -1);
    if (!well)
        return nullptr;
    for (;;) {
        RankFiber *const fiber = carrier.crew->next(carrier);
        run(carrier, *fiber);
        carrier.crew->settle(carrier, *fiber);
    }
}

// ---- the watcher --------------------------------------------------------------------------------

// Those that are ready end when a carrier takes them, those that run are poked.
void Crew::find_homeless() {
    constexpr unsigned away = states(Stage::waiting, Stage::ready, Stage::running);
    fibers_.each([&](RankFiber &fiber) {
        lock_.assert_held();
        const Stage stage = fiber.stage.load();
        if ((states(stage) & away) == 0 || !fiber.has_lost_home())
            return;
        fiber.doomed.store(1);
        if (stage == Stage::waiting)
            make_ready(fiber);
    });
}

// While all carriers compute, none looks at the clock.
void Crew::tick() {
    {
        const Guard guard(lock_);
        take_rung();
        wake_late(monotonic_ns());
        find_homeless();
    }
    parties_.follow(fibers_, lock_);
    const bool others = ready_count_.load(std::memory_order_relaxed) != 0;
    if (others)
        wake_another();
    for (int i = 0; i < carriers_end_.load(); ++i) {
        Carrier &carrier = *carriers_[i];
        RankFiber *const fiber = carrier.fiber.load();
        if (!fiber)
            continue;
        static std::uint32_t runs_before[kMostCarriers];
        const std::uint32_t runs = carrier.runs.load();
        if ((others && runs == runs_before[i]) || is_to_leave(carrier))
            carrier.preempt.store(1);
        runs_before[i] = runs;
        if (carrier.preempt.load() != 0 || fiber->wanted_home.load() != 0 ||
            fiber->doomed.load() != 0)
            poke(carrier.thread.load());
    }
}

// More exact each time, for it counts from the start.
void Crew::measure_ticks() {
    static const std::int64_t since_ns = monotonic_ns();
    static const std::uint64_t since = ticks();
    const auto passed_ns = static_cast<double>(monotonic_ns() - since_ns);
    const auto passed = static_cast<double>(ticks() - since);
    if (passed_ns >= kTickNs)
        tick_rate_.store(static_cast<std::uint64_t>(passed_ns * CarrierClock::kOfRate / passed),
                         std::memory_order_relaxed);
}

void *Crew::watch(void *crew) {
    prctl(PR_SET_NAME, "sennit-watcher");
    for (;;) {
        static_cast<Crew *>(crew)->measure_ticks();
        constexpr timespec nap = {0, kTickNs};
        if (clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr) != 0)
            poll(nullptr, 0, kTickNs / 1'000'000); // the system forbids it
        static_cast<Crew *>(crew)->tick();
    }
}

} // namespace sennit::virt

// SPDX-License-Identifier: Apache-2.0
#include "tasks/poll/poll.h"

#include "base/agreements.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/futex.h"
#include "base/helper_thread.h"
#include "base/message.h"
#include "base/spin.h"
#include "tasks/trace/trace.h"
#include "wait/rows.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <utility>

// Services are never freed, so that a thread may walk the list without a lock while another
// unregisters; unregistering takes the token for good.
struct sennit_poll_service {
    sennit_poll_function function;
    void *arg;
    char *name;
    sennit::Atomic<std::int64_t> pending{0}; // not of the first one, see pending_of()
    sennit::Atomic<int> token{0}; // the system's number of the thread that runs it, or kGone
    // Written by who has the token:
    sennit::Atomic<std::uint64_t> rounds{0};
    sennit::Atomic<std::uint64_t> completions{0};
    std::uint64_t rounds_seen = 0; // activity()'s
    std::atomic<const sennit_describer *> describer{nullptr};
    sennit_poll_service *next = nullptr;
};

namespace sennit::poll {
namespace detail {
Atomic<std::int64_t> g_pending{0};
std::atomic<bool> g_wants_watch{false};
} // namespace detail

namespace {

constexpr int kGone = -1; // holds a token for good

// One for the process. Any thread touches them.
struct Services {
    Atomic<sennit_poll_service *> latest{nullptr}; // leads to those before
    Atomic<std::uint64_t> runs{0};                 // of all, about
    std::atomic<wait::Bell *> doorbell{nullptr};   // set_doorbell()
};
constinit Services g_services;

// The operations of a service. An atomic addition costs what little else costs on the way of a
// message, and most programs have one service. So the first has no count of its own: it has what
// g_pending has beside the others' counts. These change together with it under the ticker's lock.
// A thread that asks without that lock, while they change, may poll once too often or once too
// seldom.
bool is_first(const sennit_poll_service &service) {
    return !service.next; // each is put in front of those before
}
std::int64_t pending_of(const sennit_poll_service &service) {
    if (SENNIT_UNLIKELY(!is_first(service)))
        return service.pending.load(std::memory_order_acquire);
    std::int64_t others = 0;
    for (auto *other = g_services.latest.load(std::memory_order_acquire); other != &service;
         other = other->next)
        others += other->pending.load(std::memory_order_relaxed);
    // The bit of look_further is shifted out.
    return (detail::g_pending.load(std::memory_order_acquire) >> 1) - others;
}

// Returns g_pending before. For any but the first service the ticker's lock is held, see there.
std::int64_t change_pending(sennit_poll_service &service, std::int64_t delta) {
    if (SENNIT_UNLIKELY(!is_first(service)))
        service.pending.fetch_add(delta, std::memory_order_acq_rel);
    // seq_cst with the ticker's "I doze" and its second look: one of the two sees the other.
    return detail::g_pending.fetch_add(delta * detail::kOperation, std::memory_order_seq_cst);
}

// It is found by run() from now on.
void list(sennit_poll_service &service) {
    service.next = g_services.latest.load(std::memory_order_relaxed);
    while (!g_services.latest.compare_exchange_weak(
        service.next, &service, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

// What the thread runs inside of services. Flows may leave them in any order.
struct Inside {
    const void *flow;
    Inside *next;
    bool looks;
};
SENNIT_TLS Inside *t_inside;
SENNIT_TLS int t_thread_id; // 0: not asked for yet

// What the ticker, a thread of ours, has to look at, and when. One for the process; the thread
// begins with the first ring.
//
// State            what                                                  touched by
//   timers           sorted by deadline                                  any thread
//   looks            the watches: they may be set while it is at work    any thread
//   looking          it is in a watch's function                         set with the lock
//   firing           the timer whose function it is in                   the ticker; read by stop()
//   bell             raised when it has to look again; it sleeps there   any thread
//   started, awake   is there a thread; does it nap a tick at a time     any thread
//   refused          no thread can be had: timers fire in the service    any thread
//
// The lock also guards the counts of operations of all services but the first: change_pending().
class Ticker {
  public:
    void ring(bool said = true);
    // False: no thread can be had.
    bool has_thread() {
        if (!is_started())
            ring();
        const Guard guard(lock_);
        return !refused_;
    }
    bool is_started() const { return started_.load(std::memory_order_acquire); }
    // seq_cst, see change_pending().
    bool is_awake() const { return awake_.load(std::memory_order_seq_cst); }

    void start(Timer &timer);
    void stop(Timer &timer);
    bool has_timers();
    void set_watch(Watcher watcher, void (*look)(void *arg), void *arg, std::uint64_t period_ns);

    SpinLock &lock() SENNIT_RETURNS_LOCK(lock_) { return lock_; }
    void after_fork_in_child();

  private:
    struct Look {
        void (*function)(void *arg);
        void *arg;
        std::uint64_t period_ns;
        std::uint64_t next_ns; // when it is due
    };
    static constexpr int kWatchers = 2;
    // It stays awake for some ticks after the last operation, so that programs that wait often do
    // not pay a wake-up each time.
    static constexpr int kLingerTicks = wait::kTicker.tests;

    static void *main(void *ticker);
    [[noreturn]] void work();
    static int poll_timers(void *ticker);
    void leave_to_pollers();
    struct Fired {
        int timers;
        std::int64_t next_ns; // from now; -1: there is none
    };
    Fired fire_due_timers();
    std::int64_t look_if_due(int watcher);
    bool any_watch() const SENNIT_REQUIRES(lock_) {
        return std::any_of(std::begin(looks_), std::end(looks_),
                           [](const Look &watch) { return watch.function != nullptr; });
    }

    SpinLock lock_;
    Timer *timers_ SENNIT_GUARDED_BY(lock_) = nullptr;
    std::atomic<const Timer *> firing_{nullptr};
    FutexWord bell_{0};
    Atomic<bool> started_{false};
    Atomic<bool> awake_{false};
    Look looks_[kWatchers] SENNIT_GUARDED_BY(lock_) = {};
    std::atomic<bool> looking_{false};

    sennit_poll_service service_{.function = poll_timers, .arg = this, .name = s_timers};
    bool refused_ SENNIT_GUARDED_BY(lock_) = false;
    bool listed_ SENNIT_GUARDED_BY(lock_) = false; // the service, for good
    static char s_timers[];
};
char Ticker::s_timers[] = "timers";
constinit Ticker g_ticker;

// One thread at a time: the ticker, or who has the service's token.
Ticker::Fired Ticker::fire_due_timers() {
    for (int fired = 0;; ++fired) {
        lock_.lock();
        Timer *first = timers_;
        if (!first) {
            lock_.unlock();
            return {fired, -1};
        }
        const std::uint64_t now = now_ns();
        if (first->deadline_ns > now) {
            const auto left = static_cast<std::int64_t>(first->deadline_ns - now);
            lock_.unlock();
            return {fired, left};
        }
        timers_ = first->next;
        if (refused_)
            change_pending(service_, -1);
        firing_.store(first, std::memory_order_relaxed);
        lock_.unlock();
        first->fire(*first); // the timer may be gone afterwards
        firing_.store(nullptr, std::memory_order_release);
    }
}

int Ticker::poll_timers(void *ticker) {
    return static_cast<Ticker *>(ticker)->fire_due_timers().timers;
}

// Without a thread, who polls fires the timers: each of them is an operation.
void Ticker::leave_to_pollers() {
    const Guard guard(lock_);
    refused_ = true;
    if (!std::exchange(listed_, true))
        list(service_);
    for (const Timer *timer = timers_; timer; timer = timer->next)
        change_pending(service_, 1);
}

// Of two naps; below zero is for ever.
std::int64_t sooner(std::int64_t nap, std::int64_t limit) {
    return nap < 0 || nap > limit ? limit : nap;
}

// Look, if it is time to; returns nanoseconds to the next look, or -1.
std::int64_t Ticker::look_if_due(int watcher) {
    const std::uint64_t now = now_ns();
    lock_.lock();
    const Look look = looks_[watcher];
    const bool due = look.function && now >= look.next_ns;
    looking_.store(due, std::memory_order_relaxed);
    lock_.unlock();
    if (due) {
        look.function(look.arg);
        lock_.lock();
        looks_[watcher].next_ns = now_ns() + looks_[watcher].period_ns;
        lock_.unlock();
        looking_.store(false, std::memory_order_release); // pairs with set_watch
    }
    return look.function ? static_cast<std::int64_t>(look.period_ns) : -1;
}

void *Ticker::main(void *ticker) {
    pthread_setname_np(pthread_self(), "sennit-ticker");
    static_cast<Ticker *>(ticker)->work();
}

void Ticker::work() {
    std::uint64_t seen = runs();
    int quiet = 0;
    for (;;) {
        // Read before looking: a change after this makes the wait return at once.
        const std::uint32_t bell = bell_.load(std::memory_order_acquire);
        std::int64_t nap = fire_due_timers().next_ns;
        quiet = pending() ? 0 : quiet + 1;
        awake_.store(quiet < kLingerTicks, std::memory_order_seq_cst);
        if (quiet < kLingerTicks ||
            detail::g_pending.load(std::memory_order_seq_cst) > detail::kFurther)
            nap = sooner(nap, wait::kTicker.naps.longest_ns);
        for (int watcher = 0; watcher < kWatchers; ++watcher)
            if (const std::int64_t next = look_if_due(watcher); next >= 0)
                nap = sooner(nap, next);
        futex_wait(bell_, bell, nap);
        if (pending() && runs() == seen)
            run();
        seen = runs();
    }
}

// When no thread can be had, `said` says so.
void Ticker::ring(bool said) {
    if (!started_.load(std::memory_order_acquire) &&
        !started_.exchange(true, std::memory_order_acq_rel)) {
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        // The program's signals belong to the program's threads.
        pthread_sigmask(SIG_SETMASK, &all, &before);
        detail::g_wants_watch.store(false, std::memory_order_relaxed);
        if (const int error = create_helper_thread(main, this)) {
            if (said)
                warn("no thread for timers and background progress (%s); progress only when "
                     "workers idle",
                     std::strerror(error));
            leave_to_pollers();
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    bell_.fetch_add(1, std::memory_order_release);
    futex_wake(bell_);
}

void Ticker::start(Timer &timer) {
    lock_.lock();
    Timer **at = &timers_;
    while (*at && (*at)->deadline_ns <= timer.deadline_ns)
        at = &(*at)->next;
    timer.next = *at;
    *at = &timer;
    if (refused_)
        change_pending(service_, 1);
    const bool first = timers_ == &timer;
    lock_.unlock();
    if (first || !is_started()) // the timers before may be a forked child's, from its parent
        ring();
}

void Ticker::stop(Timer &timer) {
    lock_.lock();
    Timer **at = &timers_;
    while (*at && *at != &timer)
        at = &(*at)->next;
    if (*at) {
        *at = timer.next;
        if (refused_)
            change_pending(service_, -1);
    }
    lock_.unlock();
    // acquire pairs with the release after fire().
    while (firing_.load(std::memory_order_acquire) == &timer)
        sched_yield();
}

bool Ticker::has_timers() {
    const Guard guard(lock_);
    return timers_ != nullptr;
}

void Ticker::set_watch(Watcher watcher, void (*look)(void *arg), void *arg,
                       std::uint64_t period_ns) {
    lock_.lock();
    looks_[static_cast<int>(watcher)] = {look, arg, period_ns, 0};
    const bool any = any_watch();
    lock_.unlock();
    const bool ticks = is_started();
    detail::g_wants_watch.store(any && !ticks, std::memory_order_relaxed);
    if (look && ticks)
        ring();
    while (looking_.load(std::memory_order_acquire))
        sched_yield();
}

void Ticker::after_fork_in_child() {
    started_.store(false, std::memory_order_relaxed);
    awake_.store(false, std::memory_order_relaxed);
    firing_.store(nullptr, std::memory_order_relaxed);
    looking_.store(false, std::memory_order_relaxed);
    const Guard guard(lock_);
    refused_ = false; // it may have a thread of its own
    service_.token.store(0, std::memory_order_relaxed);
    detail::g_wants_watch.store(any_watch(), std::memory_order_relaxed);
}

} // namespace

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(monotonic_ns());
}

std::uint64_t runs() {
    return g_services.runs.load(std::memory_order_relaxed);
}

// A thread that had no flows when it entered is inside in whatever it runs.
bool inside(const void *flow) {
    for (const Inside *at = t_inside; at; at = at->next)
        if (!flow || !at->flow || at->flow == flow)
            return true;
    return false;
}

bool caller_looks(const void *flow) {
    return t_inside && t_inside->flow == flow && t_inside->looks;
}

namespace {
// For counters with one writer at a time, or that need not be exact.
void add(Atomic<std::uint64_t> &counter, std::uint64_t count) {
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

int thread_id() {
    if (t_thread_id == 0)
        t_thread_id = gettid();
    return t_thread_id;
}

// acquire/release on the token orders one run of the service before the next.
bool take_token(sennit_poll_service &service, int holder) {
    int free = 0;
    return service.token.compare_exchange_strong(free, holder, std::memory_order_acquire,
                                                 std::memory_order_relaxed);
}

void leave(const Inside &here) {
    Inside **at = &t_inside;
    while (*at != &here)
        at = &(*at)->next;
    *at = here.next;
}
} // namespace

int run(const void *flow, bool looks) {
    if (inside(flow))
        return 0;
    // Two threads may count as one: an atomic addition costs what finding nothing costs, too.
    add(g_services.runs, 1);
    int completed = 0;
    const std::uint64_t begin = trace::on() ? ticks() : 0;
    Inside here{flow, t_inside, looks};
    t_inside = &here;
    for (auto *service = g_services.latest.load(std::memory_order_acquire); service;
         service = service->next) {
        if (pending_of(*service) <= 0)
            continue;
        if (!take_token(*service, thread_id()))
            continue;
        const auto count = static_cast<std::uint64_t>(service->function(service->arg));
        completed += static_cast<int>(count);
        add(service->completions, count);
        add(service->rounds, 1);
        service->token.store(0, std::memory_order_release);
    }
    leave(here);
    if (trace::on())
        trace::polled(begin, completed);
    return completed;
}

int register_service(const char *name, sennit_poll_function function, void *arg,
                     sennit_poll_service **service) {
    if (!function || !service)
        return SENNIT_ERR_PARAMETER;
    auto *made = static_cast<sennit_poll_service *>(std::calloc(1, sizeof(sennit_poll_service)));
    char *copy = strdup(name ? name : "unnamed");
    if (!made || !copy) {
        std::free(made);
        std::free(copy);
        return SENNIT_ERR_OUT_OF_MEMORY;
    }
    new (made) sennit_poll_service{.function = function, .arg = arg, .name = copy};
    list(*made);
    *service = made;
    return SENNIT_SUCCESS;
}

int unregister_service(sennit_poll_service *service) {
    if (!service || inside())
        return SENNIT_ERR_PARAMETER;
    while (!take_token(*service, kGone))
        sched_yield(); // until the thread that runs it is out
    const Guard guard(g_ticker.lock());
    change_pending(*service, -pending_of(*service));
    return SENNIT_SUCCESS;
}

// The first service, which most programs have alone, needs no lock.
int add_pending(sennit_poll_service *service, std::int64_t delta) SENNIT_NOT_CHECKED {
    if (!service)
        return SENNIT_ERR_PARAMETER;
    const bool alone = is_first(*service);
    if (SENNIT_UNLIKELY(!alone))
        g_ticker.lock().lock();
    const std::int64_t before = change_pending(*service, delta);
    if (SENNIT_UNLIKELY(!alone))
        g_ticker.lock().unlock();
    if (before <= detail::kFurther && delta > 0 && !g_ticker.is_awake())
        g_ticker.ring();
    return SENNIT_SUCCESS;
}

void start_timer(Timer &timer) {
    g_ticker.start(timer);
}

void stop_timer(Timer &timer) {
    g_ticker.stop(timer);
}

bool timers_pending() {
    return g_ticker.has_timers();
}

void set_watch(Watcher watcher, void (*look)(void *arg), void *arg, std::uint64_t period_ns) {
    g_ticker.set_watch(watcher, look, arg, period_ns);
}

void begin_watch() {
    if (wants_watch())
        g_ticker.ring(false);
}

PollActivity activity(bool (*is_blocked)(int thread_id)) {
    PollActivity sum{0, false};
    for (auto *service = g_services.latest.load(std::memory_order_acquire); service;
         service = service->next) {
        const std::uint64_t rounds = service->rounds.load(std::memory_order_relaxed);
        sum.completions += service->completions.load(std::memory_order_relaxed);
        // It may be the last operation whose callback computes: none need be pending.
        const int holder = service->token.load(std::memory_order_relaxed);
        sum.busy |= holder > 0 && rounds == service->rounds_seen && !is_blocked(holder);
        service->rounds_seen = rounds;
    }
    return sum;
}

void each_service(void (*visit)(void *, const Pending &), void *arg) {
    for (auto *service = g_services.latest.load(std::memory_order_acquire); service;
         service = service->next)
        visit(arg, {service->name, pending_of(*service),
                    service->describer.load(std::memory_order_acquire)});
}

int set_describer(sennit_poll_service *service, const sennit_describer *describer) {
    if (!service)
        return SENNIT_ERR_PARAMETER;
    service->describer.store(describer, std::memory_order_release);
    // Its threads may block without any operation pending.
    begin_watch();
    return SENNIT_SUCCESS;
}

void set_doorbell(wait::Bell *bell) {
    g_services.doorbell.store(bell, std::memory_order_release);
}

wait::Bell *doorbell() {
    return g_services.doorbell.load(std::memory_order_acquire);
}

void before_fork() SENNIT_ACROSS_FORK {
    g_ticker.lock().lock();
}

void after_fork() SENNIT_ACROSS_FORK {
    g_ticker.lock().unlock();
}

void after_fork_in_child() {
    g_services.doorbell.store(nullptr, std::memory_order_relaxed); // the parent's
    for (auto *service = g_services.latest.load(std::memory_order_relaxed); service;
         service = service->next) {
        service->pending.store(0, std::memory_order_relaxed);
        // A thread that is gone gives no token back.
        if (const int holder = service->token.load(std::memory_order_relaxed);
            holder != 0 && holder != t_thread_id)
            service->token.store(kGone, std::memory_order_relaxed);
    }
    detail::g_pending.store(0, std::memory_order_relaxed);
    g_ticker.after_fork_in_child();
    t_thread_id = 0;
}

} // namespace sennit::poll

extern "C" SENNIT_EXPORT int sennit_poll_ticks(void) {
    return sennit::poll::g_ticker.has_thread();
}

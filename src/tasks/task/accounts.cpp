// SPDX-License-Identifier: Apache-2.0
// The table of accounts. An account's number says its place in the table, and how often that place
// was used before. So time that comes too late for an account does not go to the next account in
// the same place.
#include "tasks/task/accounts.h"

#include "base/spin.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace sennit::task {
namespace {

constexpr unsigned kPlaceBits = 20;
constexpr std::uint32_t kPlaces = 1u << kPlaceBits;
constexpr std::uint32_t kChunk = 1024; // places

SpinLock g_lock;

struct Place {
    std::atomic<Account> account{kNobody}; // that has it
    std::atomic<std::uint64_t> paid_ns{0};
    std::uint32_t uses SENNIT_GUARDED_BY(g_lock) = 0;
    std::uint32_t next_free SENNIT_GUARDED_BY(g_lock) = 0;
};

// Chunks are never freed, for time may be added late.
std::atomic<Place *> g_chunks[kPlaces / kChunk]{};
std::uint32_t g_free SENNIT_GUARDED_BY(g_lock) = 0;       // the first of the free ones; 0: none
std::uint32_t g_next_place SENNIT_GUARDED_BY(g_lock) = 1; // never used; 0 is nobody's

// Null: there was never such an account.
Place *place_of(std::uint32_t place) {
    // Acquire pairs with the release of the thread that made the chunk.
    Place *const chunk = g_chunks[place / kChunk].load(std::memory_order_acquire);
    return chunk ? &chunk[place % kChunk] : nullptr;
}
Place *open_place(Account account) {
    Place *const place = place_of(account % kPlaces);
    return account != kNobody && place && place->account.load(std::memory_order_relaxed) == account
               ? place
               : nullptr;
}

// 0: none is left.
std::uint32_t free_place() SENNIT_REQUIRES(g_lock) {
    if (const std::uint32_t place = g_free) {
        g_free = place_of(place)->next_free;
        return place;
    }
    if (g_next_place == kPlaces)
        return 0;
    std::atomic<Place *> &chunk = g_chunks[g_next_place / kChunk];
    if (!chunk.load(std::memory_order_relaxed)) {
        void *const memory = std::malloc(kChunk * sizeof(Place));
        if (!memory)
            return 0;
        auto *const places = static_cast<Place *>(memory);
        for (std::uint32_t i = 0; i < kChunk; ++i)
            new (&places[i]) Place;
        chunk.store(places, std::memory_order_release);
    }
    return g_next_place++;
}

void pay(Account account, std::int64_t ns) {
    if (Place *const place = open_place(account))
        place->paid_ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
}

std::int64_t now_ns(sched::Worker &worker) {
    return worker.thread.clock_ns(sched::ClockUse::account);
}

void turn_to(sched::Worker &worker, Account account) {
    worker.attribution.turn_to(account, [&worker] { return now_ns(worker); }, pay);
    if (account == kNobody)
        worker.thread.end_clock(sched::ClockUse::account);
}

void set_account(Task &task, Account account) {
    task.account = account;
    if (account == kNobody)
        task.flags &= ~Task::kWorksFor;
    else
        task.flags |= Task::kWorksFor;
}

} // namespace

Account open_account() {
    const Guard guard(g_lock);
    const std::uint32_t number = free_place();
    if (number == 0)
        return kNobody;
    Place &place = *place_of(number);
    const Account account = (place.uses++ << kPlaceBits) | number;
    place.paid_ns.store(0, std::memory_order_relaxed);
    place.account.store(account, std::memory_order_relaxed);
    return account;
}

void close_account(Account account) {
    const Guard guard(g_lock);
    if (Place *const place = open_place(account)) {
        place->account.store(kNobody, std::memory_order_relaxed);
        place->next_free = g_free;
        g_free = account % kPlaces;
    }
}

// Relaxed: whoever asks has waited for the tasks that the question is about.
std::uint64_t paid_ns(Account account) {
    const Place *const place = open_place(account);
    return place ? place->paid_ns.load(std::memory_order_relaxed) : 0;
}

void accounts_before_fork() SENNIT_ACROSS_FORK {
    g_lock.lock();
}
void accounts_after_fork() SENNIT_ACROSS_FORK {
    g_lock.unlock();
}

Account work_for(sched::Worker &worker, Account account) {
    observed::set(observed::kAccounts);
    Task &task = *worker.task;
    const Account before = account_of(task);
    set_account(task, account);
    turn_to(worker, account);
    return before;
}

void settle_account(sched::Worker &worker) {
    worker.attribution.settle([&worker] { return now_ns(worker); }, pay);
}

void inherit_account(Task &task, const Task &creator) {
    set_account(task, account_of(creator));
}

void begin_work(sched::Worker &worker, const Task &task) {
    turn_to(worker, account_of(task));
}

void go_on_working(sched::Worker &worker) {
    turn_to(worker, worker.task ? account_of(*worker.task) : kNobody);
}

void rest_from_work(sched::Worker &worker) {
    turn_to(worker, kNobody);
}

void begin_implicit_work(sched::Worker &worker, Task &implicit, const Task &encountering) {
    inherit_account(implicit, encountering);
    turn_to(worker, account_of(implicit));
}

void end_implicit_work(sched::Worker &worker, Task &implicit) {
    set_account(implicit, kNobody);
    turn_to(worker, kNobody);
}

} // namespace sennit::task

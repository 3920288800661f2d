// SPDX-License-Identifier: Apache-2.0
// The table of accounts. An account's number says its entry of the table, and how often that entry
// was used before. So time that comes too late for an account does not go to the next account in
// the same entry.
#include "tasks/task/accounts.h"

#include "base/spin.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace sennit::task {
namespace {

constexpr unsigned kEntryBits = 20;
constexpr std::uint32_t kEntries = 1u << kEntryBits;
constexpr std::uint32_t kChunk = 1024; // entries

SpinLock g_lock;

struct Entry {
    std::atomic<Account> account{kNobody}; // that has it
    std::atomic<std::uint64_t> paid_ns{0};
    std::uint32_t uses SENNIT_GUARDED_BY(g_lock) = 0;
    std::uint32_t next_free SENNIT_GUARDED_BY(g_lock) = 0;
};

// Chunks are never freed, for time may be added late.
std::atomic<Entry *> g_chunks[kEntries / kChunk]{};
std::uint32_t g_free SENNIT_GUARDED_BY(g_lock) = 0;       // the first of the free ones; 0: none
std::uint32_t g_next_entry SENNIT_GUARDED_BY(g_lock) = 1; // never used; 0 is nobody's

// Null: there was never such an account.
Entry *entry_of(std::uint32_t entry) {
    // Acquire pairs with the release of the thread that made the chunk.
    Entry *const chunk = g_chunks[entry / kChunk].load(std::memory_order_acquire);
    return chunk ? &chunk[entry % kChunk] : nullptr;
}
Entry *open_entry(Account account) {
    Entry *const entry = entry_of(account % kEntries);
    return account != kNobody && entry && entry->account.load(std::memory_order_relaxed) == account
               ? entry
               : nullptr;
}

// 0: none is left.
std::uint32_t free_entry() SENNIT_REQUIRES(g_lock) {
    if (const std::uint32_t entry = g_free) {
        g_free = entry_of(entry)->next_free;
        return entry;
    }
    if (g_next_entry == kEntries)
        return 0;
    std::atomic<Entry *> &chunk = g_chunks[g_next_entry / kChunk];
    if (!chunk.load(std::memory_order_relaxed)) {
        void *const memory = std::malloc(kChunk * sizeof(Entry));
        if (!memory)
            return 0;
        auto *const entries = static_cast<Entry *>(memory);
        for (std::uint32_t i = 0; i < kChunk; ++i)
            new (&entries[i]) Entry;
        chunk.store(entries, std::memory_order_release);
    }
    return g_next_entry++;
}

void pay(Account account, std::int64_t ns) {
    if (Entry *const entry = open_entry(account))
        entry->paid_ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
}

std::int64_t now_ns(sched::Worker &worker) {
    return worker.thread.clock_ns(sched::ClockUse::account);
}

void switch_to(sched::Worker &worker, Account account) {
    worker.attribution.switch_to(account, [&worker] { return now_ns(worker); }, pay);
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
    const std::uint32_t number = free_entry();
    if (number == 0)
        return kNobody;
    Entry &entry = *entry_of(number);
    const Account account = (entry.uses++ << kEntryBits) | number;
    entry.paid_ns.store(0, std::memory_order_relaxed);
    entry.account.store(account, std::memory_order_relaxed);
    return account;
}

void close_account(Account account) {
    const Guard guard(g_lock);
    if (Entry *const entry = open_entry(account)) {
        entry->account.store(kNobody, std::memory_order_relaxed);
        entry->next_free = g_free;
        g_free = account % kEntries;
    }
}

// Relaxed: whoever asks has waited for the tasks that the question is about.
std::uint64_t paid_ns(Account account) {
    const Entry *const entry = open_entry(account);
    return entry ? entry->paid_ns.load(std::memory_order_relaxed) : 0;
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
    switch_to(worker, account);
    return before;
}

void settle_account(sched::Worker &worker) {
    worker.attribution.settle([&worker] { return now_ns(worker); }, pay);
}

void inherit_account(Task &task, const Task &creator) {
    set_account(task, account_of(creator));
}

void begin_work(sched::Worker &worker, const Task &task) {
    switch_to(worker, account_of(task));
}

void go_on_working(sched::Worker &worker) {
    switch_to(worker, worker.task ? account_of(*worker.task) : kNobody);
}

void rest_from_work(sched::Worker &worker) {
    switch_to(worker, kNobody);
}

void begin_implicit_work(sched::Worker &worker, Task &implicit, const Task &encountering) {
    inherit_account(implicit, encountering);
    switch_to(worker, account_of(implicit));
}

void end_implicit_work(sched::Worker &worker, Task &implicit) {
    set_account(implicit, kNobody);
    switch_to(worker, kNobody);
}

} // namespace sennit::task

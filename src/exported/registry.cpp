// SPDX-License-Identifier: Apache-2.0
#include "exported/registry.h"

#include "base/spin.h"

#include <climits>
#include <cstring>
#include <sched.h>

namespace sennit::exported {
namespace {

constexpr int kLooks = 64; // before the processor is given away

} // namespace

Registry::Lock::Lock(Registry &registry, pid_t self) : registry_(registry) {
    for (int look = 0;; ++look) {
        pid_t nobody = 0;
        if (registry_.holder_.compare_exchange_weak(nobody, self, std::memory_order_acquire))
            return;
        if (look < kLooks)
            cpu_relax();
        else
            sched_yield();
    }
}

// The number of the entry is in the id.
Registry::Entry *Registry::entry_of(std::uint64_t id) {
    return id == 0 ? nullptr : &entries_[id % kMost];
}

void Registry::tell() {
    changes_.fetch_add(1);
    if (waiting_.load() != 0)
        futex_wake(changes_, INT_MAX);
}

Outcome Registry::add(pid_t self, const char *name, const State &state, std::uint64_t &id) {
    {
        const Lock lock(*this, self);
        Entry *free = nullptr;
        for (Entry &entry : entries_)
            if (entry.id.load(std::memory_order_acquire) == 0)
                free = &entry;
            else if (std::strcmp(entry.name, name) == 0)
                return Outcome::exists;
        if (!free)
            return Outcome::full;
        // As a sequence lock's writer: who reads one of these after the id was another sees that.
        std::atomic_thread_fence(std::memory_order_release);
        free->owner.store(self, std::memory_order_relaxed);
        free->address.store(state.address, std::memory_order_relaxed);
        free->bytes.store(state.bytes, std::memory_order_relaxed);
        free->version.store(0, std::memory_order_relaxed);
        std::strncpy(free->name, name, kLongestName);
        id = ++last_ * kMost + static_cast<std::uint64_t>(free - entries_);
        free->id.store(id, std::memory_order_release);
    }
    tell();
    return Outcome::done;
}

Outcome Registry::publish(pid_t self, std::uint64_t id) {
    Entry *const entry = entry_of(id);
    if (!entry || entry->id.load(std::memory_order_acquire) != id)
        return Outcome::ended;
    if (entry->owner.load(std::memory_order_relaxed) != self)
        return Outcome::not_own;
    // Release: what the exporter has written, for who reads the version (get).
    entry->version.fetch_add(1, std::memory_order_release);
    tell();
    return Outcome::done;
}

Outcome Registry::remove(pid_t self, std::uint64_t id) {
    Entry *const entry = entry_of(id);
    {
        const Lock lock(*this, self);
        if (!entry || entry->id.load(std::memory_order_acquire) != id)
            return Outcome::ended;
        if (entry->owner.load(std::memory_order_relaxed) != self)
            return Outcome::not_own;
        entry->id.store(0, std::memory_order_release);
    }
    tell();
    return Outcome::done;
}

std::uint64_t Registry::find(pid_t self, const char *name) {
    const Lock lock(*this, self);
    for (const Entry &entry : entries_) {
        const std::uint64_t id = entry.id.load(std::memory_order_acquire);
        if (id != 0 && std::strcmp(entry.name, name) == 0)
            return id;
    }
    return 0;
}

bool Registry::get(std::uint64_t id, State &state) const {
    if (id == 0)
        return false;
    const Entry &entry = entries_[id % kMost];
    if (entry.id.load(std::memory_order_acquire) != id)
        return false;
    state.address = entry.address.load(std::memory_order_relaxed);
    state.bytes = entry.bytes.load(std::memory_order_relaxed);
    state.version = entry.version.load(std::memory_order_acquire); // with publish
    state.owner = entry.owner.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire); // with add
    return entry.id.load(std::memory_order_relaxed) == id;
}

void Registry::end_of(pid_t process) {
    for (Entry &entry : entries_) {
        // One that is free may become another's at any time: then its id changes.
        std::uint64_t id = entry.id.load(std::memory_order_acquire);
        if (id != 0 && entry.owner.load(std::memory_order_relaxed) == process)
            entry.id.compare_exchange_strong(id, 0, std::memory_order_acq_rel);
    }
    pid_t ended = process;
    holder_.compare_exchange_strong(ended, 0, std::memory_order_acq_rel);
    tell();
}

} // namespace sennit::exported

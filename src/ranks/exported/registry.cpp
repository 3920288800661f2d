// SPDX-License-Identifier: Apache-2.0
#include "ranks/exported/registry.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace sennit::exported {
namespace {

// An entry's version word begins anew for each range, from bits of its id: who publishes a range
// that was just taken back does not meet the next one's there.
constexpr std::uint64_t kVersions = (std::uint64_t{1} << 48) - 1;
std::uint64_t first_version(std::uint64_t id) {
    return (id / Registry::kMost) << 48;
}

} // namespace

Registry::Name::Name(const char *text) {
    std::memcpy(words, text, std::min(std::strlen(text), kLongestName));
}

void Registry::tell() {
    changes_.fetch_add(1);
    if (waiting_.load() != 0)
        futex_wake(changes_, INT_MAX);
}

// The range that was added last may not be there yet: its exporter may be stopped, or slow.
void Registry::settle(std::uint64_t latest) {
    Entry *const entry = entry_of(latest);
    if (!entry)
        return;
    std::uint64_t proposed = kProposed | latest;
    if (entry->word.compare_exchange_strong(proposed, latest, std::memory_order_acq_rel))
        tell();
}

Registry::Entry *Registry::reserve(pid_t self) {
    for (Entry &entry : entries_) {
        std::uint64_t free = 0;
        if (entry.word.load(std::memory_order_relaxed) == 0 &&
            entry.word.compare_exchange_strong(free, kReserved | static_cast<std::uint64_t>(self),
                                               std::memory_order_acq_rel))
            return &entry;
    }
    return nullptr;
}

// The id that it will have.
std::uint64_t Registry::propose(Entry &entry, pid_t self, const Name &name,
                                const ExportState &state) {
    const std::uint64_t id = (tickets_.fetch_add(1, std::memory_order_relaxed) + 1) * kMost +
                             static_cast<std::uint64_t>(&entry - entries_);
    // As a sequence lock's writer: who reads one of these after the id was another sees that.
    std::atomic_thread_fence(std::memory_order_release);
    entry.owner.store(self, std::memory_order_relaxed);
    entry.address.store(state.address, std::memory_order_relaxed);
    entry.bytes.store(state.bytes, std::memory_order_relaxed);
    entry.version.store(first_version(id), std::memory_order_relaxed);
    for (std::size_t i = 0; i < kNameWords; ++i)
        entry.name[i].store(name.words[i], std::memory_order_relaxed);
    entry.word.store(kProposed | id, std::memory_order_release);
    return id;
}

std::uint64_t Registry::look_for(const Name &name) const {
    for (const Entry &entry : entries_) {
        const std::uint64_t word = entry.word.load(std::memory_order_acquire);
        if (!is_id(word))
            continue;
        bool same = true;
        for (std::size_t i = 0; i < kNameWords; ++i)
            same = same && entry.name[i].load(std::memory_order_relaxed) == name.words[i];
        std::atomic_thread_fence(std::memory_order_acquire); // with propose
        if (same && entry.word.load(std::memory_order_relaxed) == word)
            return word;
    }
    return 0;
}

Outcome Registry::add(pid_t self, const char *name, const ExportState &state, std::uint64_t &id) {
    const Name wanted(name);
    Entry *entry = nullptr;
    std::uint64_t own = 0;
    for (;;) {
        // Acquire: those that were added before it are there, for whoever added it has seen to
        // that.
        std::uint64_t latest = latest_.load(std::memory_order_acquire);
        settle(latest);
        if (look_for(wanted) != 0) {
            if (entry)
                entry->word.store(0, std::memory_order_release);
            return Outcome::exists;
        }
        if (!entry) {
            entry = reserve(self);
            if (!entry)
                return Outcome::full;
            own = propose(*entry, self, wanted, state);
        }
        if (latest_.compare_exchange_strong(latest, own, std::memory_order_acq_rel))
            break;
    }
    settle(own);
    id = own;
    return Outcome::done;
}

Outcome Registry::own(const Entry *entry, std::uint64_t id, pid_t self) const {
    if (!entry || entry->word.load(std::memory_order_acquire) != id)
        return Outcome::ended;
    return entry->owner.load(std::memory_order_relaxed) == self ? Outcome::done : Outcome::not_own;
}

Outcome Registry::publish(pid_t self, std::uint64_t id) {
    Entry *const entry = entry_of(id);
    if (const Outcome outcome = own(entry, id, self); outcome != Outcome::done)
        return outcome;
    // Release: what the exporter has written, for who reads the version (get).
    std::uint64_t version = entry->version.load(std::memory_order_relaxed);
    do {
        if ((version & ~kVersions) != first_version(id))
            return Outcome::ended; // it is the next range's: this one was just taken back
    } while (!entry->version.compare_exchange_weak(version, version + 1, std::memory_order_release,
                                                   std::memory_order_relaxed));
    tell();
    return Outcome::done;
}

Outcome Registry::remove(pid_t self, std::uint64_t id) {
    Entry *const entry = entry_of(id);
    if (const Outcome outcome = own(entry, id, self); outcome != Outcome::done)
        return outcome;
    if (!entry->word.compare_exchange_strong(id, 0, std::memory_order_acq_rel))
        return Outcome::ended;
    tell();
    return Outcome::done;
}

std::uint64_t Registry::find(const char *name) {
    settle(latest_.load(std::memory_order_acquire));
    return look_for(Name(name));
}

bool Registry::get(std::uint64_t id, ExportState &state) const {
    const Entry *const entry = entry_of(id);
    if (!entry || entry->word.load(std::memory_order_acquire) != id)
        return false;
    ExportState read;
    read.address = entry->address.load(std::memory_order_relaxed);
    read.bytes = entry->bytes.load(std::memory_order_relaxed);
    read.version = entry->version.load(std::memory_order_acquire) & kVersions; // with publish
    read.owner = entry->owner.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire); // with propose
    if (entry->word.load(std::memory_order_relaxed) != id)
        return false; // it may be the next range's in part
    state = read;
    return true;
}

void Registry::end_of(pid_t process) {
    for (Entry &entry : entries_) {
        // Another rank may do the last step of one that it has added, or take one that is free.
        std::uint64_t word = entry.word.load(std::memory_order_acquire);
        const auto is_its = [&] {
            return (word & kReserved) != 0
                       ? word == (kReserved | static_cast<std::uint64_t>(process))
                       : word != 0 && entry.owner.load(std::memory_order_relaxed) == process;
        };
        while (is_its() && !entry.word.compare_exchange_weak(word, 0, std::memory_order_acq_rel,
                                                             std::memory_order_acquire)) {
        }
    }
    tell();
}

} // namespace sennit::exported

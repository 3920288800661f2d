// SPDX-License-Identifier: Apache-2.0
// What a simulation is made of while it runs: events, tasks, the data that they depend on. Millions
// of each, so they are numbered in pools and made to fit cache lines.
#pragma once

#include "network.h"
#include "pages.h"
#include "sched/policy/judge.h"
#include "workload.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

namespace sennit::sim {

using policy::Profile;
using policy::Vertex;

// Of an event: what happens in the upper three bits, to whom below.
enum class What : std::uint32_t {
    create,   // rank: its creating thread has made the next task
    finish,   // task: its body ends
    free,     // thread: looks for work
    notice,   // rank: an idle thread polls
    inject,   // message: handed to the card
    sent,     // message: the last byte has left
    arrive,   // message: its head is at the receiver
    delivered // message: the last byte is there
};
constexpr int kWhatShift = 29;
constexpr std::uint32_t kWhoMask = (1u << kWhatShift) - 1;

constexpr std::uint32_t pack(What what, std::uint32_t who) {
    return static_cast<std::uint32_t>(what) << kWhatShift | who;
}

// One cache line. Recycled as soon as it has ended; `serial` tells incarnations apart.
struct alignas(64) Task {
    union {
        Time duration;       // compute
        std::uint64_t bytes; // send, receive
    };
    std::uint64_t message = 0;
    Vertex *vertex = nullptr;
    std::uint32_t profile = 0; // index, 0: none
    std::uint32_t serial = 0;
    std::uint32_t age = 0;
    std::uint32_t successor = kNone;  // the first one; most tasks have no other
    std::uint32_t successors = kNone; // all others: a list of bundles
    std::uint32_t next = kNone;       // in a list
    std::uint32_t thread = 0;         // of the rank until it starts: the rank's first thread
    std::uint32_t peer = 0;
    std::int16_t priority = 0;
    std::uint8_t function = 0;
    Kind kind : 2 = Kind::compute;
    bool queued : 1 = false;
    bool waits : 1 = false;
    std::uint8_t node : 4 = 0; // of queues; see kMostQueues
};
static_assert(sizeof(Task) == 64);
constexpr int kMostQueues = 16;

// A cache line of successors.
struct alignas(64) Bundle {
    static constexpr std::uint32_t kRoom = 14;
    std::uint32_t next = kNone;
    std::uint32_t count = 0;
    std::uint32_t successors[kRoom] = {};
};
struct Reader {
    std::uint32_t task;
    std::uint32_t serial;
    std::uint32_t next;
};
struct Datum {
    std::uint32_t writer = kNone;
    std::uint32_t writer_serial = 0;
    std::uint32_t readers = kNone;
    std::uint32_t reader_count = 0; // in the list, dead ones too
};

// An array with its addresses from the start and its memory, zeroed, as it is used.
template <class T>
class Column {
  public:
    T &operator[](std::uint32_t index) { return items_[index]; }
    const T &operator[](std::uint32_t index) const { return items_[index]; }
    void prefetch(std::uint32_t index) const { __builtin_prefetch(&items_[index], 1); }
    std::uint32_t room() const { return static_cast<std::uint32_t>(pages_.bytes() / sizeof(T)); }

  private:
    Pages pages_{std::size_t{kWhoMask} * sizeof(T)};
    T *const items_ = static_cast<T *>(pages_.begin());
};

// Indices into one, reused.
template <class T>
class Pool : public Column<T> {
  public:
    std::uint32_t take() {
        if (!free_.empty()) {
            const std::uint32_t index = free_.back();
            free_.pop_back();
            return index;
        }
        if (used_ >= this->room())
            throw std::length_error(
                fmt::format("more than {} million objects at once: set a smaller --window",
                            this->room() / 1000000));
        new (&(*this)[used_]) T;
        return used_++;
    }
    void give_back(std::uint32_t index) { free_.push_back(index); }

  private:
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> free_;
};

// Vertices with their lists of predecessors: few sizes, many of each.
class VertexHeap {
  public:
    Vertex *make(std::uint32_t predecessors) {
        const std::size_t kind = kind_of(predecessors);
        if (kind >= free_.size())
            free_.resize(kind + 1);
        if (free_[kind].empty())
            refill(kind);
        void *memory = free_[kind].back();
        free_[kind].pop_back();
        auto *vertex = new (memory) Vertex;
        vertex->predecessors = reinterpret_cast<Vertex **>(vertex + 1);
        return vertex;
    }
    void drop(Vertex *vertex) {
        free_[kind_of(static_cast<std::uint32_t>(vertex->predecessor_count))].push_back(vertex);
    }

  private:
    static constexpr std::uint32_t kLeastRoom = 4;
    static std::size_t kind_of(std::uint32_t predecessors) {
        std::size_t kind = 0;
        for (std::uint32_t room = kLeastRoom; room < predecessors; room *= 2)
            ++kind;
        return kind;
    }
    void refill(std::size_t kind) {
        const std::size_t bytes = sizeof(Vertex) + (sizeof(Vertex *) * kLeastRoom << kind);
        const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << 16) / bytes);
        if (bytes * count > pages_.bytes() - used_)
            throw std::bad_alloc();
        std::byte *slab = static_cast<std::byte *>(pages_.begin()) + used_;
        used_ += bytes * count;
        for (std::size_t i = count; i-- > 0;)
            free_[kind].push_back(slab + i * bytes);
    }
    Pages pages_{std::size_t{1} << 37};
    std::size_t used_ = 0;
    std::vector<std::vector<void *>> free_;
};

} // namespace sennit::sim

// SPDX-License-Identifier: Apache-2.0
// What a simulation is made of while it runs: events, tasks, the data that they depend on. Millions
// of each, so they are numbered in pools and made to fit cache lines.
#pragma once

#include "decide/tasks/outlook.h"
#include "network.h"
#include "pages.h"
#include "workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
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

struct Reader {
    std::uint32_t task;
    std::uint32_t serial;
};

// One cache line. Recycled as soon as it has ended; `serial` tells incarnations apart.
struct alignas(64) Task {
    struct Call {
        std::uint64_t message = 0;
        std::uint32_t peer : kWhatShift = 0;
        std::uint32_t part : 3 = 0;
        std::uint32_t next = kNone; // in a list of tasks that wait
        union {
            Vertex *before = nullptr; // as below, one
            Reader head;
        };
    };
    static constexpr std::uint32_t kBefore = 3;
    static constexpr std::uint16_t kMostProfiles = 0x7fff;

    union {
        Time duration;       // compute
        std::uint64_t bytes; // send, receive
    };
    union {
        Vertex *before[kBefore]; // compute: the vertices that its own has behind it, if so few
        Reader head_of_work;     // compute: see head()
        Call call = {};          // send, receive
    };
    std::uint32_t serial = 0;
    std::uint32_t age = 0;
    static constexpr std::uint32_t kNear = 3;
    std::uint32_t near[kNear] = {};    // the first successors; most tasks have no others
    std::uint32_t far = kNone;         // all others: a list of lines
    std::uint16_t profile : 15 = 0;    // the rank's number of it; 0: none
    std::uint16_t goes_on : 1 = false; // a piece behind another of its task; it has no vertex
    std::uint16_t thread = 0;          // of the rank; until it starts: the first
    std::int32_t priority : 12 = 0;
    std::uint32_t function : 8 = 0;
    std::uint32_t node : 4 = 0; // of queues; see kMostQueues
    std::uint32_t near_count : 2 = 0;
    Kind kind : 2 = Kind::compute;
    bool queued : 1 = false;
    bool has_vertex : 1 = false;
    bool started : 1 = false;
    bool alive : 1 = true; // it has not ended

    Part part() const { return static_cast<Part>(call.part); }
    bool is(Part what) const { return kind != Kind::compute && part() == what; }
    bool begins(Kind what) const { return kind == what && !is(Part::wait) && !is(Part::bound); }
    // Of a piece that goes on: the first one, where that still is.
    Reader &head() { return kind == Kind::compute ? head_of_work : call.head; }

    // Room for that many, null: too many.
    Vertex **room_before(std::uint32_t count) {
        if (kind == Kind::compute)
            return count <= kBefore ? before : nullptr;
        return count <= 1 ? &call.before : nullptr;
    }
    // Are these in its room? Nothing of the task is read.
    bool has_room_at(Vertex *const *vertices) const {
        const auto *place = reinterpret_cast<const std::byte *>(vertices);
        const auto *begin = reinterpret_cast<const std::byte *>(this);
        return place >= begin && place < begin + sizeof(Task);
    }
};
static_assert(sizeof(Task) == 64);
constexpr int kMostQueues = 16;

// A cache line of a list, whose first line is the newest and the only one with room.
template <class Item>
struct alignas(64) Line {
    static constexpr std::uint32_t kRoom = (64 - 8) / sizeof(Item);
    std::uint32_t next = kNone;
    std::uint32_t count = 0;
    Item items[kRoom] = {};
};
static_assert(sizeof(Line<std::uint32_t>) == 64 && sizeof(Line<Reader>) == 64);

struct Datum {
    std::uint32_t writer = kNone;
    std::uint32_t writer_serial = 0;
    std::uint32_t readers = kNone;  // a list of lines
    std::uint32_t reader_count = 0; // in it, dead ones too
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

[[noreturn]] inline void throw_too_many(std::uint32_t room) {
    throw std::length_error(fmt::format(
        "more than {} million objects at once: set a smaller --window", room / 1000000));
}

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
            throw_too_many(this->room());
        new (&(*this)[used_]) T;
        return used_++;
    }
    void give_back(std::uint32_t index) { free_.push_back(index); }

  private:
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> free_;
};

// Put an item into a list of lines.
template <class Item>
void add(Pool<Line<Item>> &lines, std::uint32_t &list, const Item &item) {
    if (list == kNone || lines[list].count == Line<Item>::kRoom) {
        const std::uint32_t fresh = lines.take();
        lines[fresh].next = list;
        lines[fresh].count = 0;
        list = fresh;
    }
    Line<Item> &line = lines[list];
    line.items[line.count++] = item;
}

// Arrays of predecessors too long for a task: few sizes, many of each.
class EdgeHeap {
  public:
    Vertex **make(std::uint32_t count) {
        const std::size_t kind = kind_of(count);
        if (kind >= free_.size())
            free_.resize(kind + 1);
        if (free_[kind].empty())
            refill(kind);
        Vertex **edges = free_[kind].back();
        free_[kind].pop_back();
        return edges;
    }
    void drop(Vertex **edges, std::uint32_t count) { free_[kind_of(count)].push_back(edges); }

  private:
    static constexpr std::size_t kLeastRoom = 8;
    static std::size_t kind_of(std::uint32_t count) {
        std::size_t kind = 0;
        for (std::size_t room = kLeastRoom; room < count; room *= 2)
            ++kind;
        return kind;
    }
    void refill(std::size_t kind) {
        const std::size_t room = kLeastRoom << kind;
        const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << 13) / room);
        slabs_.push_back(std::make_unique<Vertex *[]>(room * count));
        for (std::size_t i = count; i-- > 0;)
            free_[kind].push_back(slabs_.back().get() + i * room);
    }
    std::vector<std::unique_ptr<Vertex *[]>> slabs_;
    std::vector<std::vector<Vertex **>> free_;
};

// Tasks, and under a policy that wants them their vertices, side by side: whoever touches the one
// touches the other. A task takes the place of its rank that has been free longest, so a rank's
// tasks stand about in the order of their creation, and so do those that they depend on: programs
// repeat themselves.
class TaskStore {
  public:
    explicit TaskStore(bool with_vertices)
        : stride_(with_vertices ? sizeof(TaskAndVertex) : sizeof(Task)) {}

    // A rank's places.
    struct Share {
        std::uint32_t rank = 0;
        std::uint32_t fresh = 0, fresh_end = 0;
        std::deque<std::uint32_t> free; // oldest first
    };

    Task &operator[](std::uint32_t index) { return *task_at(index); }
    const Task &operator[](std::uint32_t index) const { return *task_at(index); }
    Vertex &vertex(std::uint32_t index) { return both(index).vertex; }
    std::uint32_t rank_of(std::uint32_t index) const { return owners_[index / kAtOnce]; }
    static std::uint32_t index_of(const Vertex &vertex) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(vertex.item));
    }

    // Soon wanted: the task, ...
    void prefetch(std::uint32_t index) const { __builtin_prefetch(task_at(index), 1); }
    // ... its vertex, if it has one, ...
    void prefetch_vertex(std::uint32_t index) const {
        if (stride_ == sizeof(Task))
            return;
        __builtin_prefetch(&both(index).vertex, 1);
    }
    // ... and when these are here, the vertices before it.
    void prefetch_predecessors(std::uint32_t index) const {
        if (!task_at(index)->has_vertex)
            return;
        const Vertex &vertex = both(index).vertex;
        for (int i = 0; i < vertex.predecessor_count; ++i)
            __builtin_prefetch(vertex.predecessors[i], 1);
    }
    // Visit all places, also of tasks that have ended.
    template <class Visitor>
    void each(Visitor visit) const {
        for (std::uint32_t index = 0; index < used_; ++index)
            visit(index, (*this)[index]);
    }
    // What take() will give, most likely.
    void prefetch_next(const Share &share) const {
        const std::uint32_t index = share.free.empty() ? share.fresh : share.free.front();
        prefetch(index);
        prefetch_vertex(index);
    }

    std::uint32_t take(Share &share) {
        if (!share.free.empty()) {
            const std::uint32_t index = share.free.front();
            share.free.pop_front();
            return index;
        }
        if (share.fresh == share.fresh_end)
            refill(share);
        new (task_at(share.fresh)) Task;
        return share.fresh++;
    }
    Vertex &make_vertex(std::uint32_t index, const std::vector<Vertex *> &predecessors) {
        const auto count = static_cast<std::uint32_t>(predecessors.size());
        Vertex &vertex = *new (&both(index).vertex) Vertex;
        vertex.item = reinterpret_cast<void *>(std::uintptr_t{index});
        Vertex **const room = task_at(index)->room_before(count);
        vertex.predecessors = room ? room : far_.make(count);
        vertex.predecessor_count = static_cast<int>(count);
        std::copy(predecessors.begin(), predecessors.end(), vertex.predecessors);
        task_at(index)->has_vertex = true;
        return vertex;
    }
    // The task has ended; nobody refers to its vertex any more: when both have happened its place
    // is free. Who comes first leaves a note, and does not touch the other's cache line.
    void ended(Share &share, std::uint32_t index) {
        if (!task_at(index)->has_vertex || half_free_[index])
            free(share, index);
        else
            half_free_[index] = true;
    }
    void released(Share &share, Vertex &vertex) {
        const std::uint32_t index = index_of(vertex);
        if (!task_at(index)->has_room_at(vertex.predecessors))
            far_.drop(vertex.predecessors, static_cast<std::uint32_t>(vertex.predecessor_count));
        if (half_free_[index])
            free(share, index);
        else
            half_free_[index] = true;
    }

  private:
    struct TaskAndVertex {
        Task task;
        Vertex vertex;
    };
    static_assert(sizeof(TaskAndVertex) == 2 * 64);

    void free(Share &share, std::uint32_t index) {
        half_free_[index] = false;
        share.free.push_back(index);
    }
    Task *task_at(std::uint32_t index) const {
        return reinterpret_cast<Task *>(begin_ + index * stride_);
    }
    TaskAndVertex &both(std::uint32_t index) const {
        return *reinterpret_cast<TaskAndVertex *>(begin_ + index * stride_);
    }
    void refill(Share &share) {
        const auto room = static_cast<std::uint32_t>(pages_.bytes() / stride_);
        if (room - used_ < kAtOnce)
            throw_too_many(room);
        share.fresh = used_;
        share.fresh_end = used_ += kAtOnce;
        owners_.push_back(share.rank);
    }

    const std::size_t stride_;
    Pages pages_{stride_ * kWhoMask};
    std::byte *const begin_ = static_cast<std::byte *>(pages_.begin());
    EdgeHeap far_;
    Column<bool> half_free_;
    static constexpr std::uint32_t kAtOnce = 64;
    std::uint32_t used_ = 0;
    std::vector<std::uint32_t> owners_; // ranks
};

} // namespace sennit::sim

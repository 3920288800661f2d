// SPDX-License-Identifier: Apache-2.0
// What a rank's creating thread does: the tasks in the order of their creation, made one at a time
// when the simulated thread gets there, so a graph is never in memory as a whole.
#pragma once

#include "machine.h"

#include <array>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace sennit::sim {

// A depend clause's item. Data are numbered per rank from 0.
struct Access {
    enum class Mode : std::uint8_t {
        in,
        inout,
        last_in, // in, and nobody writes it any more: spares a note
    };
    std::uint32_t datum = 0;
    Mode mode = Mode::in;
};

enum class Kind : std::uint8_t { compute, send, receive };

// Of a call that sends or receives: what a task does of it.
enum class Part : std::uint8_t {
    whole,      // begins it and waits until it is over: MPI_Send, MPI_Recv
    begin,      // begins it; another task waits: MPI_Isend, MPI_Irecv
    let_go,     // begins it; nobody waits
    wait,       // MPI_Wait
    bound,      // no thread waits, but successors do until it is over: TAMPI_Iwait
    detached,   // begins it; then as bound: MPI_Isend and MPIX_Detach in one task
    undeferred, // whole, by the creating thread, which waits in MPI: task if(0) depend(...)
};

// Is it one task that begins the operation, and completes when that is over?
constexpr bool is_one_task(Part part) {
    return part == Part::whole || part == Part::detached || part == Part::undeferred;
}

struct TaskSpec {
    static constexpr int kMostAccesses = 8;

    Kind kind = Kind::compute;
    Part part = Part::whole;
    std::uint8_t function = 0; // index of Workload::functions
    std::uint8_t count = 0;    // of accesses
    int clause = 0;            // the priority clause's value, under the policy at hand
    Time duration = 0;         // compute
    Time before = 0;           // the creating thread's own work, before it makes this one
    bool after_all = false;    // it has waited for all its tasks so far (taskwait, barrier)
    // Of a task in pieces. They are created together, and the thread that has done one goes on with
    // the next: only the first is in a queue, and it has the priority of all.
    bool goes_on = false;      // a piece behind another
    bool sends = false;        // some piece of the task does
    std::uint64_t message = 0; // send, receive: one number for both ends, used once
    std::uint32_t peer = 0;
    std::uint64_t bytes = 0;
    std::array<Access, kMostAccesses> accesses{};
    // What is beyond those eight, or of a recorded task those that it came to wait for; valid until
    // the generator goes on.
    const std::vector<Access> *more = nullptr;

    bool begins(Kind call) const {
        return kind == call && part != Part::wait && part != Part::bound;
    }
    bool of_sender() const { return sends || begins(Kind::send); }
    void add(std::uint32_t datum, Access::Mode mode) { accesses[count++] = {datum, mode}; }
};

// A coroutine that yields tasks.
class Tasks {
  public:
    struct promise_type {
        const TaskSpec *task = nullptr;
        Tasks get_return_object() { return Tasks(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(const TaskSpec &spec) noexcept {
            task = &spec;
            return {};
        }
        void return_void() noexcept { task = nullptr; }
        void unhandled_exception() { throw; }
    };
    using Handle = std::coroutine_handle<promise_type>;

    Tasks() = default;
    explicit Tasks(Handle handle) : handle_(handle) {}
    Tasks(Tasks &&other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Tasks &operator=(Tasks &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Tasks() {
        if (handle_)
            handle_.destroy();
    }

    // Null when the thread has created its last task. What it points to is valid until the next
    // call.
    const TaskSpec *next() {
        handle_.resume();
        return handle_.promise().task;
    }

  private:
    Handle handle_;
};

// The next tasks of a rank, a few of them ahead: whoever creates them has time to fetch what they
// depend on.
class Specs {
  public:
    static constexpr std::uint32_t kAhead = 8;

    void begin(Tasks creator) {
        creator_ = std::move(creator);
        for (std::uint32_t i = 0; i < kAhead; ++i)
            fetch();
    }

    // As Tasks::next().
    const TaskSpec *next() {
        if (taken_)
            fetch();
        taken_ = begin_ != end_;
        return taken_ ? &slots_[begin_++ % kAhead].spec : nullptr;
    }
    // The one that comes so many after that; null when there is none.
    const TaskSpec *after(std::uint32_t steps) const {
        return end_ - begin_ >= steps ? &slots_[(begin_ + steps - 1) % kAhead].spec : nullptr;
    }

  private:
    struct Slot {
        TaskSpec spec;
        std::vector<Access> more;
    };
    void fetch() {
        const TaskSpec *const spec = done_ ? nullptr : creator_.next();
        done_ = !spec;
        if (done_)
            return;
        Slot &slot = slots_[end_++ % kAhead];
        slot.spec = *spec;
        if (!spec->more)
            return;
        slot.more = *spec->more;
        slot.spec.more = &slot.more;
    }

    Tasks creator_;
    std::array<Slot, kAhead> slots_;
    std::uint32_t begin_ = 0, end_ = 0;
    bool taken_ = false;
    bool done_ = false;
};

// What the program knows of the policy: how it sets its priority clauses.
enum class Marks { none, sends, paths, depths, global };

class Workload {
  public:
    virtual ~Workload() = default;
    virtual std::vector<std::string> functions() const = 0;
    virtual std::uint32_t data_of(int rank) const = 0;
    virtual Tasks tasks_of(int rank, Marks marks) const = 0;
    virtual std::uint64_t task_count() const = 0; // 0: unknown; for the progress bar
    // Else a rank is one thread that does what tasks_of() says, one after the other: no step of the
    // runtime takes time, and who waits for a message waits in MPI.
    virtual bool has_tasks() const { return true; }
    // The number that users know a rank's task by, from its place in the order of creation.
    virtual std::uint32_t number_of(int /*rank*/, std::uint32_t place) const { return place; }
};

} // namespace sennit::sim

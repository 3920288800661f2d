// SPDX-License-Identifier: Apache-2.0
// Which task waits for what in this process, copied from its tasks, stacks and dependences.
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "sennit.h"
#include "tasks/sched/fiber.h"
#include "tasks/watch/blocked.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <type_traits>
#include <unistd.h>

namespace sennit::watch {

// Reading memory that may go away meanwhile. The program that is looked at may go on at any moment;
// then its tasks, frames and stacks come and go. We read through the kernel, which refuses instead
// of faulting.

class VolatileMemory {
  public:
    VolatileMemory() : file_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
    ~VolatileMemory() {
        if (file_ >= 0)
            close(file_);
    }
    VolatileMemory(const VolatileMemory &) = delete;
    VolatileMemory &operator=(const VolatileMemory &) = delete;

    // How many of the `size` bytes could be read.
    std::size_t read(const void *from, void *into, std::size_t size) const {
        const ssize_t got = pread(file_, into, size, reinterpret_cast<off_t>(from));
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    template <class T>
    bool get(const void *from, T &into) const {
        static_assert(std::is_trivially_copyable_v<T>);
        // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
        constexpr std::size_t size = sizeof(into);
        return from && read(from, &into, size) == size;
    }
    template <class T>
    T get_or(const void *from, T fallback) const {
        T value;
        return get(from, value) ? value : fallback;
    }
    // A string, cut to fit.
    void get_text(const char *from, char *into, std::size_t size) const {
        const std::size_t got = from ? read(from, into, size - 1) : 0;
        into[got] = '\0';
    }

  private:
    int file_;
};

} // namespace sennit::watch

// What the survey wants to know of OpenMP's regions and locks, which are none of this room's
// business. Handed in when the library is loaded.

namespace sennit {
struct Task;
}

namespace sennit::watch {

// Both look at copies alone: what they are asked about may be gone.
struct Regions {
    // How many threads of a team, the object of a WaitFor::barrier, are still to arrive there?
    std::int64_t (*late_at_barrier)(const VolatileMemory &memory, const void *team);
    // Does the first word of a lock, the object of a WaitFor::lock, say that `task` holds it?
    bool (*holds)(const Task *task, std::uint32_t word);
};

// What names mean: which calls and files are MPI's or a compiler's, those above know.

struct CallNames {
    bool (*is_on_file)(const char *call); // of a file or another device, so it may take long
    bool (*ends_by_program)(
        const char *call); // what it has begun is complete when the program says so
    // Is a loaded file a library between a task and its wait, which calls back into none of the
    // program's code?
    bool (*is_runtime_library)(const char *path);
};

} // namespace sennit::watch

namespace sennit {
struct DependNode;
struct Taskgroup;
} // namespace sennit

namespace sennit::watch {

// A call, or an operation that one waits for.
struct Call {
    sennit_wait wait = {}; // points to nothing but its name below, null: none is known
    sennit_wait_text text = {};
    char name[40] = "";
};

struct Waiter {
    enum class State : std::uint8_t { stack, ended, not_begun, call, asleep };
    State state; // suspended; ended but for events; not begun; a thread in a call; in a futex
    sched::WaitFor kind;
    bool outside = false; // what it waits for is not of this process, nor of another rank
    const void *object = nullptr;
    const Task *task = nullptr; // null: a thread that is none of ours, or a callback
    const void *frame = nullptr;
    const sched::Fiber *fiber = nullptr; // whose stack it is on
    sched::Primitive primitive = {};     // what it waits for, its name below
    char primitive_name[32] = "";
    int above = -1;    // waiter on top of it on the same stack, which has to go first
    int thread_id = 0; // State::call, asleep
    int holder = 0;    // State::asleep: the thread that has the mutex, if it is one
    // The task's:
    const Task *parent = nullptr;
    const void *team = nullptr;
    const Taskgroup *taskgroup = nullptr;
    const DependNode *node = nullptr;
    const void *entry = nullptr;
    std::uint32_t flags = 0;
    int thread = -1; // of the team
    int team_size = 0;
    std::int64_t left = 0; // children, tasks, predecessors, events that it waits for
    char label[64] = "";
    Call call = {};
    // Of the operations that the call waits for, those that may not be complete.
    std::size_t handle = 0; // in the survey's copies of handles, `handles` of them
    int handles = 0;
    std::size_t operation = 0; // in the survey's list
    std::size_t operations = 0;
    bool certain = true; // none of them is complete

    bool in_call() const { return call.wait.call != nullptr; }
};

// What is under way without a call that waits for it.
struct UnderWay {
    ScopedArray<Call> operations;
    bool certain = true; // all are known, and none is complete
};

// The collective calls that were made on a group.
struct CollectivesMade {
    sennit_collectives made = {};
    sennit_wait_text text = {};
};

class Survey {
  public:
    Survey(const Regions &regions, const CallNames &names) : regions_(regions), names_(names) {}
    // Looks at everything.
    void take();

    const ScopedArray<Waiter> &waiters() const { return waiters_; }
    const Call &operation(const Waiter &waiter, std::size_t i) const { // of waiter.operations
        return operations_[waiter.operation + i];
    }
    const ScopedArray<CollectivesMade> &collectives() const { return collectives_; }
    const UnderWay &under_way() const { return under_way_; }
    const CallNames &names() const { return names_; }
    bool complete() const { return complete_; } // else there were too many
    // Is nothing said to be incomplete that may be complete? Then what two surveys say differs only
    // if something moved between them.
    bool certain() const;
    bool waits_outside() const; // for something else than tasks and other ranks
    bool waits_for_ranks() const;
    // For somebody who would wake a futex, nobody knows who.
    bool sleeps_for_anybody() const;
    // Is there more than programs' threads that sleep outside of tasks? They may do so for as long
    // as they like.
    bool tells() const;
    // Input and output may take as long as it likes.
    bool waits_for_files() const;

    // The waiters that have to go before `at` can: visit(index, reason).
    template <class Visit>
    void each_blocker(std::size_t at, Visit visit) const;
    // A cycle, as indices; empty when there is none.
    void find_cycle(ScopedArray<int> &cycle) const;
    // The holder of the lock that `at` waits for, -1: it does not wait itself.
    int holder(std::size_t at) const;

    const VolatileMemory &memory() const { return memory_; }

  private:
    static constexpr std::size_t kMost = 4096;
    static constexpr int kMostHandles = 256; // of a call
    struct Edge {
        int from; // successor
        int to;   // predecessor
    };

    int add(const Waiter &waiter); // its index, or -1
    int find_task(const Task *task) const;
    void add_stack(const sched::Fiber &fiber, int above);
    int add_sleep(const sched::Worker &worker);
    bool fill_mutex(Waiter &waiter, const Sleep &sleep);
    void add_call(const Blocked &thread);
    void add_events();
    void add_successors();
    void fill(Waiter &waiter, const sched::Slot *slot);
    void fill_call(Waiter &waiter, const sennit_wait *wait);
    void fill_primitive(Waiter &waiter, const sched::Primitive *primitive);
    void copy_handles(Waiter &waiter);
    void describe_calls();
    void describe_collectives(const sennit_describer &describer);
    void describe_under_way(const sennit_describer &describer);
    bool has_handle(const void *handle) const; // of an operation that a call waits for
    void describe_operations(Waiter &waiter, const sennit_describer &describer);
    bool is_on_file(const Waiter &waiter) const;
    bool is_self_or_included_child(const Waiter &waiter, std::uint32_t mark) const;

    const Regions &regions_;
    const CallNames &names_;
    VolatileMemory memory_;
    ScopedArray<Waiter> waiters_;
    ScopedArray<Edge> edges_;
    ScopedArray<Call> operations_;
    ScopedArray<CollectivesMade> collectives_;
    UnderWay under_way_;
    ScopedArray<std::byte> handles_;
    std::size_t handle_size_ = 0;
    WordMap<int> by_task_; // index + 1
    bool complete_ = true;
};

template <class Visit>
void Survey::each_blocker(std::size_t at, Visit visit) const {
    const Waiter &self = waiters_[at];
    if (self.above >= 0)
        visit(self.above, "which is on top of it on the stack");
    switch (self.kind) {
    case sched::WaitFor::children:
    case sched::WaitFor::taskgroup:
    case sched::WaitFor::barrier:
        for (std::size_t i = 0; i < waiters_.size(); ++i) {
            const Waiter &other = waiters_[i];
            if (i == at || !other.task)
                continue;
            if (self.kind == sched::WaitFor::children && other.parent == self.task)
                visit(static_cast<int>(i), "its child");
            else if (self.kind == sched::WaitFor::taskgroup && other.taskgroup == self.object)
                visit(static_cast<int>(i), "of its taskgroup");
            else if (self.kind == sched::WaitFor::barrier && other.team == self.object &&
                     other.kind != sched::WaitFor::barrier)
                visit(static_cast<int>(i), "of the same team");
        }
        break;
    case sched::WaitFor::lock:
    case sched::WaitFor::primitive:
        if (const int owner = holder(at); owner >= 0)
            visit(owner, "which holds the lock");
        break;
    case sched::WaitFor::events: // the creator of an undeferred task waits for those of that one
        for (std::size_t i = 0; self.object && i < waiters_.size(); ++i)
            if (i != at && waiters_[i].task == self.object)
                visit(static_cast<int>(i), "which it has made");
        break;
    case sched::WaitFor::dependences:
        for (const Edge &edge : edges_)
            if (edge.from == static_cast<int>(at))
                visit(edge.to, "its predecessor");
        break;
    default:
        break;
    }
}

} // namespace sennit::watch

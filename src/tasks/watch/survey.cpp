// SPDX-License-Identifier: Apache-2.0
#include "tasks/watch/survey.h"

#include "tasks/poll/poll.h"
#include "tasks/pthread/mutex.h"
#include "tasks/sched/worker.h"
#include "tasks/task/task.h"
#include "tasks/watch/blocked.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <pthread.h>

namespace sennit::watch {
namespace {

using sched::WaitFor;

// A copy of a task as it is now. Only its members are looked at, none of its functions called.
struct TaskCopy {
    alignas(Task) std::byte bytes[sizeof(Task)];
    const Task &operator*() const { return *reinterpret_cast<const Task *>(bytes); }
    const Task *operator->() const { return &**this; }
};

// In words. True for a process that is not of the job, such as one that was spawned.
bool describe(Call &call, const sennit_describer &describer) {
    call.text = {.peer = -1, .send_peer = -1, .size = 0, .members = 0, .group = ""};
    if (describer.text)
        describer.text(&call.wait, &call.text);
    return call.wait.direction != 0 && ((call.wait.peer >= 0 && call.text.peer < 0) ||
                                        (call.wait.send_peer >= 0 && call.text.send_peer < 0));
}

// The worker of a thread of a team.
const sched::Worker *worker_on(int thread_id) {
    for (const sched::Worker &worker : sched::Worker::all())
        if (!worker.activity.away() && worker.thread.id() == thread_id)
            return &worker;
    return nullptr;
}

} // namespace

int Survey::find_task(const Task *task) const {
    return by_task_.get(reinterpret_cast<std::uint64_t>(task)) - 1;
}

int Survey::add(const Waiter &waiter) {
    if (waiters_.size() >= kMost || !waiters_.push(waiter)) {
        complete_ = false;
        return -1;
    }
    const int index = static_cast<int>(waiters_.size()) - 1;
    if (waiter.task && find_task(waiter.task) < 0)
        by_task_.set(reinterpret_cast<std::uint64_t>(waiter.task), index + 1);
    return index;
}

// What the task's own memory says.
void Survey::fill(Waiter &waiter, const sched::Slot *slot) {
    TaskCopy task;
    if (!waiter.task || !memory_.get(waiter.task, task.bytes))
        return;
    waiter.parent = task->parent;
    waiter.team = task->team;
    waiter.taskgroup = task->taskgroup;
    waiter.node = task->depend;
    waiter.entry = task->entry;
    waiter.flags = task->flags;
    if (slot) {
        waiter.thread = memory_.get_or(&slot->index, -1);
        if (const auto *group = memory_.get_or(&slot->group, static_cast<sched::Group *>(nullptr)))
            waiter.team_size = memory_.get_or(&group->size, 0);
    }
    if (task->is(Task::kSpawned)) {
        const auto *payload = reinterpret_cast<const task::SpawnPayload *>(waiter.task + 1);
        memory_.get_text(payload->label, waiter.label, sizeof waiter.label);
    }
    switch (waiter.kind) {
    case WaitFor::children:
        waiter.left = task->pending.load(std::memory_order_relaxed) / Task::kChild + task->spawned;
        break;
    case WaitFor::taskgroup:
        waiter.left =
            memory_.get_or<std::int64_t>(&static_cast<const Taskgroup *>(waiter.object)->count, 0) /
            2;
        break;
    case WaitFor::events:
        waiter.left = Task::events_in(memory_.get_or<std::int64_t>(
            &static_cast<const Task *>(waiter.object ? waiter.object : waiter.task)->events, 0));
        waiter.outside = true; // unless a library says that it is bound to one of its operations
        break;
    case WaitFor::dependences:
        if (const auto *node = static_cast<const DependNode *>(waiter.object))
            waiter.left = memory_.get_or<int>(&node->missing, 0);
        break;
    case WaitFor::barrier:
        waiter.left = regions_.late_at_barrier(memory_, waiter.object);
        break;
    default:
        break;
    }
}

void Survey::fill_call(Waiter &waiter, const sennit_wait *wait) {
    Call &call = waiter.call;
    if (!memory_.get(wait, call.wait))
        return;
    memory_.get_text(call.wait.call, call.name, sizeof call.name);
    copy_handles(waiter);
}

void Survey::copy_handles(Waiter &waiter) {
    const sennit_wait &wait = waiter.call.wait;
    const int count = std::min(wait.requests, kMostHandles);
    std::byte copy[kMostHandles * sizeof(std::uint64_t)];
    const std::size_t size = static_cast<std::size_t>(std::max(count, 0)) * handle_size_;
    if (!wait.handles || size == 0 || size > sizeof copy ||
        memory_.read(wait.handles, copy, size) != size)
        return;
    waiter.handle = handles_.size();
    for (std::size_t i = 0; i < size; ++i)
        if (!handles_.push(copy[i]))
            return;
    waiter.handles = count;
}

// What nobody is known to hold, any thread may give.
void Survey::fill_primitive(Waiter &waiter, const sched::Primitive *primitive) {
    if (!memory_.get(primitive, waiter.primitive))
        return;
    memory_.get_text(waiter.primitive.what, waiter.primitive_name, sizeof waiter.primitive_name);
    waiter.outside = !memory_.get_or(waiter.primitive.holder, static_cast<const void *>(nullptr));
}

// The waits of one stack, the innermost first.
void Survey::add_stack(const sched::Fiber &fiber, int above) {
    const sched::Wait *const innermost = fiber.waits.load(std::memory_order_acquire);
    struct Copy {
        alignas(sched::Wait) std::byte bytes[sizeof(sched::Wait)];
    } copy;
    for (const sched::Wait *at = innermost; at && memory_.get(at, copy);) {
        const auto &wait = *reinterpret_cast<const sched::Wait *>(copy.bytes);
        if (wait.kind != WaitFor::nobody) {
            Waiter waiter{.state = Waiter::State::stack, .kind = wait.kind};
            waiter.object = wait.object;
            waiter.task = wait.task;
            waiter.frame = wait.frame;
            waiter.fiber = &fiber;
            waiter.above = above;
            fill(waiter, wait.slot);
            if (wait.kind == WaitFor::primitive)
                fill_primitive(waiter, static_cast<const sched::Primitive *>(wait.object));
            if (wait.kind == WaitFor::resumption) {
                if (wait.object)
                    fill_call(waiter, static_cast<const sennit_wait *>(wait.object));
                else
                    waiter.outside = true;
            }
            above = add(waiter);
        }
        at = wait.outer;
    }
}

// Copied while the thread may go on: then what was seen is not told (watch.cpp, judge).
void Survey::add_call(const Blocked &thread) {
    Waiter waiter{.state = Waiter::State::call, .kind = WaitFor::resumption};
    fill_call(waiter, &thread.wait);
    if (!*waiter.call.name)
        return; // for a suspended task
    waiter.thread_id = thread.thread_id;
    waiter.frame = thread.frame;
    if (const sched::Worker *worker = worker_on(thread.thread_id)) {
        waiter.fiber = worker->current();
        waiter.task = memory_.get_or(&worker->task, static_cast<Task *>(nullptr));
        fill(waiter, memory_.get_or(&worker->slot, static_cast<sched::Slot *>(nullptr)));
    }
    add(waiter);
}

// A mutex of libc's that a thread sleeps for, as libc has it: the word says that somebody waits,
// and the owner is a thread of this process. Anything else that one sleeps for has another layout.
bool Survey::fill_mutex(Waiter &waiter, const Sleep &sleep) {
    constexpr std::uint64_t kContended = 2;
    constexpr int kListed = 16 | 32; // robust, priority inheritance
    auto *const mutex = static_cast<pthread_mutex_t *>(const_cast<void *>(sleep.futex));
    pthread_mutex_t copy;
    if (sleep.expected != kContended || !memory_.get(mutex, copy) ||
        (copy.__data.__kind & kListed) || !is_thread(copy.__data.__owner))
        return false;
    waiter.holder = copy.__data.__owner;
    waiter.primitive = {"pthread mutex", mutex, nullptr};
    // What is noted may be of an earlier owner (tasks/pthread/mutex.h).
    const pthread::Owner owner = pthread::Owner::of(*mutex);
    const sched::Fiber *const fiber =
        memory_.get_or(owner.word, static_cast<sched::Fiber *>(nullptr));
    const auto *const home =
        fiber ? memory_.get_or(&fiber->home, static_cast<sched::Worker *>(nullptr)) : nullptr;
    if (home && home == worker_on(waiter.holder))
        waiter.primitive.holder = reinterpret_cast<const void *const *>(owner.word);
    return true;
}

// The thread sleeps by a system call, not by way of us. Returns its index, or -1: it does not.
int Survey::add_sleep(const sched::Worker &worker) {
    if (worker.activity.idle_since() != 0 || is_blocked(worker.thread.id()))
        return -1;
    const Sleep sleep = sleep_of(worker.thread.id());
    if (sleep.in != Sleep::In::futex)
        return -1;
    Waiter waiter{.state = Waiter::State::asleep, .kind = WaitFor::primitive};
    waiter.thread_id = worker.thread.id();
    waiter.frame = sleep.stack;
    waiter.fiber = worker.current();
    waiter.task = memory_.get_or(&worker.task, static_cast<Task *>(nullptr));
    fill(waiter, memory_.get_or(&worker.slot, static_cast<sched::Slot *>(nullptr)));
    if (!fill_mutex(waiter, sleep))
        waiter.primitive = {"futex", sleep.futex, nullptr};
    std::snprintf(waiter.primitive_name, sizeof waiter.primitive_name, "%s", waiter.primitive.what);
    waiter.outside = !memory_.get_or(waiter.primitive.holder, static_cast<const void *>(nullptr));
    return add(waiter);
}

void Survey::add_events() {
    for (sched::Worker &worker : sched::Worker::all()) {
        worker.events.lock.lock();
        const Task *task = worker.events.first;
        for (std::size_t seen = 0; task && seen < kMost; ++seen) {
            Waiter waiter{.state = Waiter::State::ended, .kind = WaitFor::events};
            waiter.task = task;
            fill(waiter, nullptr);
            add(waiter);
            task = task->listed_next;
        }
        worker.events.lock.unlock();
    }
}

// Tasks that have not begun are known to their predecessors only.
void Survey::add_successors() {
    for (std::size_t i = 0; i < waiters_.size(); ++i) {
        const DependNode *node = waiters_[i].node;
        if (!node)
            continue;
        auto *edge = memory_.get_or(&node->successors, DependNode::closed());
        for (std::size_t seen = 0; edge && edge != DependNode::closed() && seen < kMost; ++seen) {
            DependEdge copy;
            if (!memory_.get(edge, copy) || !copy.successor)
                break;
            const Task *task = memory_.get_or(&copy.successor->task, static_cast<Task *>(nullptr));
            int successor = -1;
            for (std::size_t k = 0; k < waiters_.size() && successor < 0; ++k)
                if (waiters_[k].kind == WaitFor::dependences &&
                    waiters_[k].object == copy.successor)
                    successor = static_cast<int>(k);
            if (successor < 0 && task) {
                Waiter waiter{.state = Waiter::State::not_begun, .kind = WaitFor::dependences};
                waiter.object = copy.successor;
                waiter.task = task;
                fill(waiter, nullptr);
                successor = add(waiter);
            }
            if (successor >= 0)
                edges_.push({successor, static_cast<int>(i)});
            edge = copy.next;
        }
    }
}

// What the libraries know: of their operations, and of what is bound to them.
void Survey::describe_calls() {
    poll::each_service(
        [](void *arg, const poll::Pending &service) {
            auto &survey = *static_cast<Survey *>(arg);
            if (!service.describer)
                return;
            survey.describe_collectives(*service.describer);
            if (service.operations > 0 && service.describer->bound)
                service.describer->bound(
                    [](void *context, sennit_task *handle, const sennit_wait *wait) {
                        auto &self = *static_cast<Survey *>(context);
                        const Task *task = static_cast<Task *>(handle);
                        int at = task ? self.find_task(task) : -1;
                        if (at < 0) {
                            Waiter waiter{.state = Waiter::State::ended, .kind = WaitFor::events};
                            waiter.task = task;
                            self.fill(waiter, nullptr);
                            at = self.add(waiter);
                        }
                        if (at < 0)
                            return;
                        Waiter &waiter = self.waiters_[static_cast<std::size_t>(at)];
                        if (waiter.kind != WaitFor::events || waiter.in_call())
                            return;
                        waiter.outside = false;
                        self.fill_call(waiter, wait);
                    },
                    &survey);
            for (Waiter &waiter : survey.waiters_) {
                if (!waiter.in_call())
                    continue;
                waiter.outside |= describe(waiter.call, *service.describer);
                if (waiter.handles > 0 && waiter.operations == 0)
                    survey.describe_operations(waiter, *service.describer);
            }
            survey.describe_under_way(*service.describer);
        },
        this);
}

void Survey::describe_collectives(const sennit_describer &describer) {
    if (!describer.collectives)
        return;
    describer.collectives(
        [](void *arg, const sennit_collectives *made) {
            const CollectivesMade all{.made = *made};
            static_cast<Survey *>(arg)->collectives_.push(all);
        },
        this);
    for (CollectivesMade &all : collectives_) {
        Call call;
        call.wait.group = all.made.group;
        describe(call, describer);
        all.text = call.text;
    }
}

// Those of which some call has the handle are told with that call.
void Survey::describe_under_way(const sennit_describer &describer) {
    if (!describer.operations || handle_size_ == 0)
        return;
    const std::size_t known = under_way_.operations.size();
    const int certain = describer.operations(
        nullptr, 0, 0,
        [](void *arg, const sennit_wait *operation) {
            auto &self = *static_cast<Survey *>(arg);
            if (self.has_handle(operation->handles))
                return;
            Call call;
            call.wait = *operation;
            call.wait.handles = nullptr;
            self.memory_.get_text(operation->call, call.name, sizeof call.name);
            self.under_way_.operations.push(call);
        },
        this);
    under_way_.certain = under_way_.certain && certain != 0;
    for (std::size_t i = known; i < under_way_.operations.size(); ++i)
        describe(under_way_.operations[i], describer);
}

bool Survey::has_handle(const void *handle) const {
    for (const std::byte *at = handles_.begin(); at != handles_.end(); at += handle_size_)
        if (std::memcmp(at, handle, handle_size_) == 0)
            return true;
    return false;
}

void Survey::describe_operations(Waiter &waiter, const sennit_describer &describer) {
    if (!describer.operations)
        return;
    waiter.operation = operations_.size();
    waiter.certain =
        describer.operations(
            handles_.begin() + waiter.handle, waiter.handles, waiter.state == Waiter::State::call,
            [](void *arg, const sennit_wait *operation) {
                auto &self = *static_cast<Survey *>(arg);
                Call call;
                if (operation) {
                    call.wait = *operation;
                    self.memory_.get_text(operation->call, call.name, sizeof call.name);
                }
                self.operations_.push(call);
            },
            this) != 0;
    waiter.operations = operations_.size() - waiter.operation;
    for (std::size_t i = 0; i < waiter.operations; ++i) {
        Call &call = operations_[waiter.operation + i];
        const bool outside = call.wait.call && describe(call, describer);
        waiter.outside |= outside || names_.ends_by_program(call.name);
    }
}

void Survey::take() {
    poll::each_service(
        [](void *arg, const poll::Pending &service) {
            if (service.describer && service.describer->handle_size > 0)
                static_cast<Survey *>(arg)->handle_size_ = service.describer->handle_size;
        },
        this);
    for (sched::Worker &worker : sched::Worker::all()) {
        if (worker.activity.away())
            continue;
        const int asleep = add_sleep(worker);
        worker.fibers.each([&](const sched::Fiber &fiber) {
            add_stack(fiber, &fiber == worker.current() ? asleep : -1);
        });
    }
    sched::each_roaming([&](const sched::Fiber &fiber) { add_stack(fiber, -1); });
    each_blocked(
        [](void *arg, const Blocked &thread) { static_cast<Survey *>(arg)->add_call(thread); },
        this);
    add_events();
    describe_calls();
    add_successors();
}

bool Survey::waits_outside() const {
    for (const Waiter &waiter : waiters_)
        if (waiter.outside)
            return true;
    return false;
}

bool Survey::certain() const {
    for (const Waiter &waiter : waiters_)
        if (!waiter.certain)
            return false;
    return complete_;
}

bool Survey::waits_for_ranks() const {
    for (const Waiter &waiter : waiters_)
        if (waiter.in_call())
            return true;
    return false;
}

bool Survey::sleeps_for_anybody() const {
    for (const Waiter &waiter : waiters_)
        if (waiter.state == Waiter::State::asleep && waiter.outside)
            return true;
    return false;
}

bool Survey::tells() const {
    for (const Waiter &waiter : waiters_)
        if (waiter.state != Waiter::State::asleep || !(waiter.flags & Task::kInitial))
            return true;
    return false;
}

bool Survey::is_on_file(const Waiter &waiter) const {
    const Call *const operations = operations_.begin() + waiter.operation;
    return names_.is_on_file(waiter.call.name) ||
           std::any_of(operations, operations + waiter.operations,
                       [this](const Call &call) { return names_.is_on_file(call.name); });
}

bool Survey::waits_for_files() const {
    for (const Waiter &waiter : waiters_)
        if (is_on_file(waiter) || waiter.primitive.what == sched::kInputOutput)
            return true;
    return false;
}

// An undeferred task runs as a part of its parent, which is no waiter of its own.
bool Survey::is_self_or_included_child(const Waiter &waiter, std::uint32_t word) const {
    const Task *task = waiter.task;
    TaskCopy copy;
    while (task) {
        if (regions_.holds(task, word))
            return true;
        if (!memory_.get(task, copy.bytes) || !copy->is(Task::kUndeferred))
            return false;
        task = copy->parent;
    }
    return false;
}

int Survey::holder(std::size_t at) const {
    if (waiters_[at].kind == WaitFor::primitive) {
        const auto *const fiber =
            memory_.get_or(waiters_[at].primitive.holder, static_cast<const void *>(nullptr));
        for (std::size_t i = 0; fiber && i < waiters_.size(); ++i)
            if (waiters_[i].fiber == fiber)
                return static_cast<int>(i);
        return -1;
    }
    const auto word = memory_.get_or<std::uint32_t>(waiters_[at].object, 0);
    for (std::size_t i = 0; i < waiters_.size(); ++i)
        if (is_self_or_included_child(waiters_[i], word))
            return static_cast<int>(i);
    return -1;
}

// Depth first; who is on the path when it is met again closes a cycle.
void Survey::find_cycle(ScopedArray<int> &cycle) const {
    enum : unsigned char { unseen, on_path, done };
    ScopedArray<unsigned char> state;
    ScopedArray<int> path;
    if (!state.extend(waiters_.size()))
        return;
    for (std::size_t root = 0; root < waiters_.size(); ++root) {
        if (state[root] != unseen)
            continue;
        state[root] = on_path;
        path.push(static_cast<int>(root));
        while (path.size() > 0) {
            const int at = path[path.size() - 1];
            int next = -1;
            int closes = -1;
            each_blocker(static_cast<std::size_t>(at), [&](int blocker, const char *) {
                const unsigned char seen = state[static_cast<std::size_t>(blocker)];
                if (seen == on_path)
                    closes = blocker;
                else if (seen == unseen)
                    next = blocker;
            });
            if (closes >= 0) {
                std::size_t first = path.size();
                while (path[--first] != closes) {
                }
                for (; first < path.size(); ++first)
                    cycle.push(path[first]);
                return;
            }
            if (next >= 0) {
                state[static_cast<std::size_t>(next)] = on_path;
                path.push(next);
            } else {
                state[static_cast<std::size_t>(at)] = done;
                path.pop();
            }
        }
    }
}

} // namespace sennit::watch

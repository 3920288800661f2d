// SPDX-License-Identifier: Apache-2.0
// Three passes: what is known of each task and span; the slices, thread by thread; order and lanes.
#include "trace/timeline.h"

#include <algorithm>

namespace sennit::trace {
namespace {

class Builder {
  public:
    Builder(Timeline &timeline, const Clock &clock) : timeline_(timeline), clock_(clock) {}

    bool make_tasks(const Log *logs) {
        std::uint64_t most = 0;
        for (const Log *log = logs; log; log = log->next)
            for_each_record(*log, [&](const Record &event) {
                most = std::max(most, event.task);
                last_ = std::max(last_, clock_.ns(event.stamp));
            });
        if (most >= 0xffffffff || !timeline_.tasks.make(most + 1))
            return false;
        for (TaskRow &task : timeline_.tasks)
            task.created = task.ready = task.completed = task.since = kNever;
        return true;
    }
    std::uint64_t last() const { return last_; }

    // ---- what is known of each task and span ------------------------------------------------
    void collect(const Log &log) {
        std::uint32_t thread_span = 0; // innermost open one outside of tasks
        for_each_record(log, [&](const Record &event) {
            const std::uint64_t now = clock_.ns(event.stamp);
            if (event.kind == Kind::span_begin || event.kind == Kind::span_end) {
                TaskRow *task = find(event.task);
                collect_span(event, now, task ? task->span : thread_span);
            } else if (TaskRow *task = find(event.task)) {
                collect_task(event, now, *task);
            }
        });
    }

    // After the replay: what had not ended by `end`.
    void close_open(std::uint64_t end) {
        for (TaskRow &task : timeline_.tasks)
            if (task.on_stack && end > task.stopped)
                task.suspended += end - task.stopped;
        for (Span &span : timeline_.spans)
            if (span.open)
                span.end = std::max(span.begin, end);
    }

    // ---- slices of one thread ---------------------------------------------------------------
    void replay(const Log &log, int row, std::uint64_t end) {
        AddressMap<std::uint32_t> parked; // by fiber: the task on top of its stack
        row_ = row;
        top_ = 0;
        for_each_record(log, [&](const Record &event) {
            const std::uint64_t now = clock_.ns(event.stamp);
            if (event.kind == Kind::fiber_switch) {
                close(now);
                ok_ &= parked.set(event.a, top_);
                top_ = parked.get(event.b);
                open(now);
                return;
            }
            TaskRow *task = find(event.task);
            if (!task)
                return;
            const auto id = static_cast<std::uint32_t>(event.task);
            switch (event.kind) {
            case Kind::start:
                start(id, *task, now);
                break;
            case Kind::end:
                if (bring_to_top(id, *task, now)) {
                    slice(id, *task, now);
                    task->on_stack = false;
                    top_ = task->below;
                }
                break;
            case Kind::suspend:
                if (bring_to_top(id, *task, now))
                    close(now);
                break;
            case Kind::resume:
                if (bring_to_top(id, *task, now))
                    open(now);
                break;
            default:
                break;
            }
        });
        close(end);
    }

    bool ok() const { return ok_; }

  private:
    TaskRow *find(std::uint64_t id) {
        return id != 0 && id < timeline_.tasks.size() ? &timeline_.tasks[id] : nullptr;
    }

    void collect_task(const Record &event, std::uint64_t now, TaskRow &task) {
        switch (event.kind) {
        case Kind::create:
            task.created = now;
            task.parent = static_cast<std::uint32_t>(event.a);
            task.entry = event.b;
            break;
        case Kind::ready:
            task.ready = std::min(task.ready, now);
            break;
        case Kind::start:
            task.entry = event.a;
            break;
        case Kind::complete:
            task.completed = now;
            break;
        default:
            break;
        }
    }

    // `innermost`: of the task, or of the thread outside of tasks.
    void collect_span(const Record &event, std::uint64_t now, std::uint32_t &innermost) {
        Array<Span> &spans = timeline_.spans;
        if (event.kind == Kind::span_begin) {
            Span span{};
            span.begin = now;
            span.name = event.name;
            span.bytes = event.b;
            span.task = static_cast<std::uint32_t>(event.task);
            span.outer = innermost;
            span.peer = static_cast<std::int32_t>(event.a >> 32);
            span.tag = static_cast<std::int32_t>(event.a);
            span.open = true;
            ok_ &= spans.push(span);
            innermost = static_cast<std::uint32_t>(spans.size());
        } else if (innermost) {
            Span &span = spans[innermost - 1];
            span.end = std::max(span.begin, now);
            span.open = false;
            innermost = span.outer;
        }
    }

    void slice(std::uint32_t id, TaskRow &task, std::uint64_t end) {
        if (task.since == kNever)
            return;
        // A task's first slice is shown however short it is; a fiber's stop on the way is not.
        if (end > task.since || !task.seen)
            ok_ &= timeline_.slices.push(
                Slice{task.since, std::max(task.since, end), id, task.depth, row_});
        task.seen = true;
        task.stopped = std::max(task.since, end);
        task.since = kNever;
    }

    // The tasks on the current fiber's stack stop running, or go on: the open ones are always its
    // uppermost.
    void close(std::uint64_t now) {
        for (std::uint32_t id = top_; id; id = timeline_.tasks[id].below) {
            if (timeline_.tasks[id].since == kNever)
                return;
            slice(id, timeline_.tasks[id], now);
        }
    }
    void open(std::uint64_t now) {
        for (std::uint32_t id = top_; id; id = timeline_.tasks[id].below) {
            TaskRow &task = timeline_.tasks[id];
            if (task.since != kNever)
                return;
            task.since = now;
            task.suspended += now - task.stopped;
        }
    }

    void start(std::uint32_t id, TaskRow &task, std::uint64_t now) {
        if (task.on_stack)
            return;
        // Nothing nests in a suspended task.
        const bool nested = top_ && timeline_.tasks[top_].since != kNever;
        task.below = nested ? top_ : 0;
        task.depth = nested ? timeline_.tasks[top_].depth + 1 : 0;
        task.on_stack = true;
        task.since = now;
        top_ = id;
    }

    // An event of a task says that the task runs here now.
    bool bring_to_top(std::uint32_t id, const TaskRow &task, std::uint64_t now) {
        if (!task.on_stack)
            return false;
        if (top_ != id) {
            close(now);
            top_ = id;
        }
        return true;
    }

    Timeline &timeline_;
    const Clock &clock_;
    std::uint64_t last_ = 0;
    std::uint32_t top_ = 0; // of the fiber that runs
    int row_ = 0;
    bool ok_ = true;
};

// The lowest lane that is free, span by span.
bool assign_lanes(Timeline &timeline) {
    struct Busy {
        std::uint64_t until;
        std::uint32_t lane;
    };
    const auto later = [](const Busy &a, const Busy &b) { return a.until > b.until; };
    const auto higher = [](std::uint32_t a, std::uint32_t b) { return a > b; };
    Array<Busy> busy;           // heap, earliest end first
    Array<std::uint32_t> free_; // heap, lowest lane first
    for (Span &span : timeline.spans) {
        while (busy.size() && busy[0].until <= span.begin) {
            if (!free_.push(busy[0].lane))
                return false;
            std::push_heap(free_.begin(), free_.end(), higher);
            std::pop_heap(busy.begin(), busy.end(), later);
            busy.pop();
        }
        if (free_.size()) {
            span.lane = free_[0];
            std::pop_heap(free_.begin(), free_.end(), higher);
            free_.pop();
        } else {
            span.lane = timeline.lanes++;
        }
        if (!busy.push({span.end, span.lane}))
            return false;
        std::push_heap(busy.begin(), busy.end(), later);
    }
    return true;
}

} // namespace

bool build_timeline(Timeline &timeline, const Log *logs, const Clock &clock, std::uint64_t end,
                    bool cut) {
    Builder builder(timeline, clock);
    if (!builder.make_tasks(logs))
        return false;
    if (cut)
        end = builder.last();
    for (const Log *log = logs; log; log = log->next)
        builder.collect(*log);
    int foreign = kForeignRow;
    for (const Log *log = logs; log; log = log->next) {
        const int row = log->row.load(std::memory_order_relaxed);
        builder.replay(*log, row >= 0 ? row : foreign++, end);
    }
    builder.close_open(end);
    if (!builder.ok())
        return false;
    std::sort(timeline.slices.begin(), timeline.slices.end(), [](const Slice &a, const Slice &b) {
        if (a.row != b.row)
            return a.row < b.row;
        if (a.begin != b.begin)
            return a.begin < b.begin;
        return a.end != b.end ? a.end > b.end : a.depth < b.depth;
    });
    std::sort(timeline.spans.begin(), timeline.spans.end(),
              [](const Span &a, const Span &b) { return a.begin < b.begin; });
    return assign_lanes(timeline);
}

} // namespace sennit::trace

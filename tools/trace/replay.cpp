// SPDX-License-Identifier: Apache-2.0
#include "trace/replay.h"

#include "base/printable.h"
#include "trace/trace_file.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>
#include <utility>

namespace sennit::trace {
namespace {

struct Frame {
    enum class Kind { task, wait, part } kind;
    std::uint32_t task;
    std::uint32_t span; // of a wait, or a part: its index
};
using Stack = std::vector<Frame>;

class Replay {
  public:
    explicit Replay(Process &process) : process_(process), file_(process.file) {}

    void run() {
        make_tasks();
        std::vector<const TraceFile::Thread *> order;
        order.reserve(file_.threads.size());
        for (const TraceFile::Thread &thread : file_.threads)
            order.push_back(&thread);
        std::stable_sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
            return static_cast<std::uint32_t>(a->row) < static_cast<std::uint32_t>(b->row);
        });
        // Rows are reused by no thread, but a worker's thread may have been replaced.
        for (const TraceFile::Thread *thread : order)
            replay(*thread);
        close();
        assemble(process_, std::move(remains_));
    }

  private:
    Task *find(Word id) {
        return id != 0 && id < process_.tasks.size() ? &process_.tasks[id] : nullptr;
    }

    void make_tasks() {
        Word most = 0;
        for (const TraceFile::Thread &thread : file_.threads)
            file_.each(thread, [&](const Event &event) {
                if (event.kind == Kind::create || event.kind == Kind::start ||
                    event.kind == Kind::span_begin || event.kind == Kind::post)
                    most = std::max(most, event[0]);
            });
        // Every number that was given out has left events, but for those of chunks that are
        // missing.
        if (most > 4 * file_.words() + 65'536)
            throw TraceError(printable(file_.path.string()) +
                             ": a task has the impossible number " + std::to_string(most));
        process_.tasks.resize(most + 1);
    }

    // ---- one thread ---------------------------------------------------------------------------

    struct Calls {                       // of a task, or of a thread outside of tasks
        std::vector<std::uint32_t> open; // innermost last
        std::uint32_t latest = kNone;
    };
    struct Open {
        Calls calls;
        Ns suspended_at = kNever;
        bool suspended = false;
    };

    void replay(const TraceFile::Thread &thread) {
        number_ = static_cast<std::uint32_t>(process_.threads.size());
        process_.threads.push_back({thread.row, {}, kNever, kNever, {}});
        thread_ = &process_.threads.back();
        stacks_.clear();
        stack_ = {};
        fiber_ = 0;
        root_ = 0;
        program_ = 0;
        latest_created_ = 0;
        calls_outside_ = {};
        core_use_ = kNone;
        file_.each(thread, [&](const Event &event) {
            const Ns now = std::max(event.ns, since_valid_ ? since_ : event.ns);
            if (!since_valid_) {
                thread_->begin = now;
                since_ = now;
                since_valid_ = true;
            }
            step(event, now);
            last_ = now;
        });
        if (since_valid_)
            change_state(std::max(last_, process_.end), [] {});
        thread_->end = since_;
        since_valid_ = false;
    }

    // What runs: the topmost frame. A region is part of the task that has encountered it.
    const Frame *top() const {
        const auto found = std::find_if(stack_.rbegin(), stack_.rend(), [](const Frame &frame) {
            return frame.kind != Frame::Kind::part;
        });
        return found == stack_.rend() ? nullptr : &*found;
    }
    State state() const {
        if (const Frame *frame = top())
            return frame->kind == Frame::Kind::task ? State::task : State::outside;
        return (fiber_ == root_ || !stack_.empty()) && thread_->row >= 0 ? State::program
                                                                         : State::outside;
    }
    std::uint32_t current() const {
        const Frame *frame = top();
        return frame && frame->kind == Frame::Kind::task ? frame->task : 0;
    }

    // Close the interval that is open at `now`; the state from then on is that of the stack after
    // `change`.
    template <class Change>
    void change_state(Ns now, Change change) {
        const State before = state();
        const std::uint32_t task = current();
        if (now > since_ || (before == State::task && !shown(task))) {
            auto &intervals = thread_->intervals;
            if (!intervals.empty() && intervals.back().state == before &&
                intervals.back().task == task && intervals.back().end == since_)
                intervals.back().end = now;
            else
                intervals.push_back({since_, now, before, task});
            if (before == State::task)
                process_.tasks[task].running += now - since_;
            else if (before == State::program)
                program_ += now - since_;
        }
        since_ = now;
        change();
    }

    bool shown(std::uint32_t task) const {
        return process_.tasks[task].running > 0 || process_.tasks[task].ended != kNever;
    }

    // How long `task`, or the thread outside of tasks, has run by `now`.
    Ns ran(std::uint32_t task, Ns now) const {
        if (task == 0 || !process_.tasks[task].ran())
            return program_ + (state() == State::program ? now - since_ : 0);
        return process_.tasks[task].running +
               (state() == State::task && current() == task ? now - since_ : 0);
    }

    // Take the innermost frame that `fits` and what is on it off the stack.
    template <class Fits>
    bool pop(Fits fits) {
        for (std::size_t at = stack_.size(); at-- > 0;)
            if (fits(stack_[at])) {
                process_.strange += stack_.size() - at - 1;
                stack_.resize(at);
                return true;
            }
        ++process_.strange;
        return false;
    }

    void step(const Event &event, Ns now) {
        switch (event.kind) {
        case Kind::fiber_switch:
            return switch_fiber(event, now);
        case Kind::create:
            return create(event, now);
        case Kind::ready:
            if (Task *task = find(event[0]))
                task->ready = std::min(task->ready, now);
            return;
        case Kind::start:
            return start(event, now);
        case Kind::end:
            return end(event, now);
        case Kind::suspend:
            return suspend(event, now);
        case Kind::resume:
            return resume(event, now);
        case Kind::unblock:
            remains_.unblocked.push_back({now, static_cast<std::uint32_t>(event[0])});
            return;
        case Kind::complete:
            if (Task *task = find(event[0]))
                task->completed = now;
            return;
        case Kind::span_begin:
            return begin_call(event, now, false);
        case Kind::post:
            return begin_call(event, now, true);
        case Kind::span_end:
            return end_call(event, now);
        case Kind::waits_for:
            return wait_for(event, now);
        case Kind::edge:
            return add_edge(event);
        case Kind::wait_begin:
            return begin_wait(event, now);
        case Kind::wait_end:
            return end_wait(now);
        case Kind::idle:
            thread_->idle.push_back(now);
            return;
        case Kind::steal:
        case Kind::polled:
        case Kind::priority:
        case Kind::policy_pass:
        case Kind::window:
        case Kind::refused:
            return note(event, now);
        case Kind::object:
            process_.objects.push_back({event[0], high(event[1]), low(event[1]), high(event[2]),
                                        low(event[2]), static_cast<Ns>(event[3]), event[4],
                                        std::bit_cast<double>(event[5])});
            return;
        case Kind::balanced:
            return balanced(event, now);
        case Kind::moved:
            return moved(event, now);
        case Kind::core:
            return change_core(event, now);
        case Kind::part_begin:
            return begin_part(event, now);
        case Kind::part_end:
            return end_part(event, now);
        case Kind::offer:
            process_.offers.push_back({event[0], number_, high(event[1]), low(event[1])});
            return;
        case Kind::counted:
            return count(event, now);
        case Kind::none:
        case Kind::count:
            return;
        }
    }

    void switch_fiber(const Event &event, Ns now) {
        change_state(now, [&] {
            if (fiber_ == 0) // the thread's own
                root_ = event[0];
            else if (fiber_ != event[0])
                ++process_.strange;
            stacks_[event[0]] = std::move(stack_);
            fiber_ = event[1];
            stack_ = std::move(stacks_[fiber_]);
            stacks_[fiber_].clear();
        });
    }

    void create(const Event &event, Ns now) {
        if (Task *task = find(event[0])) {
            task->created = now;
            task->parent = find(event[1]) ? static_cast<std::uint32_t>(event[1]) : 0;
            task->entry = event[2];
            task->creator = number_;
            task->parent_ran = ran(task->parent, now);
            latest_created_ = event[0];
        }
    }

    void start(const Event &event, Ns now) {
        Task *task = find(event[0]);
        if (!task)
            return;
        if (!task->ran()) {
            task->started = now;
            task->thread = number_;
            task->at_once = event[0] == latest_created_;
        }
        latest_created_ = 0;
        task->entry = event[1];
        change_state(now, [&] {
            stack_.push_back({Frame::Kind::task, static_cast<std::uint32_t>(event[0]), 0});
        });
    }

    void end(const Event &event, Ns now) {
        Task *task = find(event[0]);
        if (!task)
            return;
        latest_created_ = 0;
        change_state(now, [&] {
            pop([&](const Frame &f) { return f.kind == Frame::Kind::task && f.task == event[0]; });
        });
        task->ended = now;
    }

    void suspend(const Event &event, Ns now) {
        remains_.suspensions.push_back({now, 1});
        if (Task *task = find(event[0])) {
            open_[static_cast<std::uint32_t>(event[0])].suspended_at = now;
            ++task->suspensions;
        }
    }

    void resume(const Event &event, Ns now) {
        remains_.suspensions.push_back({now, -1});
        Task *task = find(event[0]);
        if (!task)
            return;
        Open &open = open_[static_cast<std::uint32_t>(event[0])];
        if (open.suspended_at != kNever) {
            task->suspended += now - open.suspended_at;
            process_.ready.push_back({now, -1});
        }
        open.suspended_at = kNever;
    }

    void add_edge(const Event &event) {
        if (find(event[0]) && find(event[1]) && event[0] != event[1])
            process_.edges.push_back(
                {static_cast<std::uint32_t>(event[0]), static_cast<std::uint32_t>(event[1])});
        else
            process_.loose_edges.push_back({event[0], event[1]});
    }

    void begin_wait(const Event &event, Ns now) {
        latest_created_ = 0;
        const auto id = static_cast<std::uint32_t>(event[0]);
        process_.waits.push_back({now, kNever, id, number_, static_cast<WaitReason>(event[1]),
                                  ran(find(id) ? id : 0, now)});
        change_state(now, [&] {
            stack_.push_back(
                {Frame::Kind::wait, id, static_cast<std::uint32_t>(process_.waits.size() - 1)});
        });
    }

    void end_wait(Ns now) {
        change_state(now, [&] {
            const auto is_wait = [](const Frame &f) { return f.kind == Frame::Kind::wait; };
            const auto top = std::find_if(stack_.rbegin(), stack_.rend(), is_wait);
            if (top != stack_.rend())
                process_.waits[top->span].end = now;
            pop(is_wait);
        });
    }

    void begin_part(const Event &event, Ns now) {
        const auto index = static_cast<std::uint32_t>(process_.parts.size());
        process_.parts.push_back(
            {now, kNever, event[0], event[1], number_, static_cast<int>(event[2])});
        change_state(now, [&] { stack_.push_back({Frame::Kind::part, 0, index}); });
    }

    void end_part(const Event &event, Ns now) {
        change_state(now, [&] {
            pop([&](const Frame &frame) {
                if (frame.kind != Frame::Kind::part ||
                    process_.parts[frame.span].region != event[0])
                    return false;
                process_.parts[frame.span].end = now;
                return true;
            });
        });
    }

    // From a take until the next step of the thread.
    void change_core(const Event &event, Ns now) {
        const auto step = static_cast<CoreStep>(low(event[0]));
        const bool ends = step == CoreStep::lends || step == CoreStep::leaves;
        if (core_use_ != kNone) {
            process_.cores[core_use_].end = now;
            process_.cores[core_use_].end_step = step;
            core_use_ = kNone;
        }
        if (ends)
            return;
        core_use_ = static_cast<std::uint32_t>(process_.cores.size());
        process_.cores.push_back({now, kNever, number_, high(event[0]), static_cast<int>(event[1]),
                                  step, CoreStep::count, file_.ticks_to_ns(event[2])});
    }

    // What changes no state.
    void note(const Event &event, Ns now) {
        switch (event.kind) {
        case Kind::steal:
            process_.steals.push_back({now, number_,
                                       static_cast<int>(static_cast<std::int64_t>(event[0])),
                                       static_cast<int>(event[1])});
            return;
        case Kind::polled:
            process_.polls.push_back(
                {now - file_.ticks_to_ns(event[0]), now, file_.ticks_to_ns(event[1]), number_,
                 static_cast<std::uint32_t>(event[2] >> 32), static_cast<std::uint32_t>(event[2])});
            return;
        case Kind::priority:
            if (Task *task = find(event[0])) {
                task->priority = static_cast<std::int32_t>(static_cast<std::int64_t>(event[1]));
                process_.priorities.push_back(
                    {now, static_cast<std::uint32_t>(event[0]), task->priority});
            }
            return;
        case Kind::policy_pass:
            ++process_.policy_passes;
            process_.policy_ns += file_.ticks_to_ns(event[0]);
            return;
        case Kind::window:
            process_.windows.push_back(now);
            return;
        case Kind::refused:
            process_.refusals.push_back({now, event[0], event[1]});
            return;
        default:
            return;
        }
    }

    // Of what the thread did until now, since it was counted last.
    void count(const Event &event, Ns now) {
        process_.counted.resize(process_.tasks.size());
        Counts &sum =
            state() == State::outside ? process_.counted_outside : process_.counted[current()];
        CountedSince &since = process_.counts.emplace_back(CountedSince{now, number_, {}});
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += event[i];
            since.values[i] = event[i];
        }
    }

    void balanced(const Event &event, Ns now) {
        process_.balance_calls.push_back(
            {now - static_cast<Ns>(event[5]), now, event[0], event[6], low(event[4]) >> 1,
             high(event[1]), low(event[1]), (low(event[4]) & 1) != 0, from_half(high(event[3])),
             from_half(low(event[3])), from_half(high(event[4])), event[2]});
    }

    void moved(const Event &event, Ns now) {
        const std::uint32_t task = find(event[0]) ? static_cast<std::uint32_t>(event[0]) : 0;
        const Ns waits = now - file_.ticks_to_ns(event[5]);
        process_.moved.push_back({waits - file_.ticks_to_ns(event[4]), waits, now, event[1],
                                  event[2], task, static_cast<MovedHow>(high(event[3])),
                                  std::max(1, low(event[3]))});
    }

    void begin_call(const Event &event, Ns now, bool post) {
        const std::uint32_t task = find(event[0]) ? static_cast<std::uint32_t>(event[0]) : 0;
        Call call{};
        call.begin = call.end = now;
        call.name = event[1];
        call.task = task;
        call.thread = number_;
        call.direction = event[5] & 0xff;
        call.requests = static_cast<int>(event[5] >> 8 & 0x7fffffff);
        call.peer = file_.world_rank(event[4], high(event[2]));
        call.tag = low(event[2]);
        call.bytes = event[3];
        call.group = event[4];
        call.request = post ? event[6] : 0;
        call.post = post;
        call.open = !post;
        call.probe = call.direction == kReceive && is_probe(call.name);
        call.ran_before = ran(task, now);
        call.wait = call.message = kNone;
        const auto index = static_cast<std::uint32_t>(process_.calls.size());
        Calls &calls = calls_of(task);
        if (post) {
            if (call.request)
                remains_.requests.push_back({now, call.request, index, 0, true});
        } else {
            // MPI_Sendrecv posts its send, and then is the call that receives.
            if (calls.latest != kNone && is_part_of(process_.calls[calls.latest], call))
                process_.calls[calls.latest].wait = index;
            calls.open.push_back(index);
        }
        calls.latest = index;
        process_.calls.push_back(call);
        if (task && process_.tasks[task].seen()) {
            process_.tasks[task].sends |= call.direction == kSend;
            process_.tasks[task].receives |= call.direction == kReceive && !call.probe;
        }
    }

    bool is_probe(std::uint64_t name) {
        const auto [at, fresh] = probes_.try_emplace(name);
        if (fresh) {
            const std::string text = file_.name_of(name);
            at->second = text == "MPI_Probe" || text == "MPI_Mprobe" || text == "MPI_Improbe";
        }
        return at->second;
    }

    static bool is_part_of(const Call &post, const Call &call) {
        return post.post && post.request == 0 && post.name == call.name;
    }

    void end_call(const Event &event, Ns now) {
        const std::uint32_t task = find(event[0]) ? static_cast<std::uint32_t>(event[0]) : 0;
        std::vector<std::uint32_t> &open = calls_of(task).open;
        if (open.empty()) {
            ++process_.strange;
            return;
        }
        Call &call = process_.calls[open.back()];
        open.pop_back();
        call.end = now;
        call.open = false;
        call.ran_within = ran(task, now) - call.ran_before;
        if (high(event[1]) >= 0)
            call.peer = file_.world_rank(call.group, high(event[1]));
        if (low(event[1]) >= 0)
            call.tag = low(event[1]);
        if (event[2] != 0)
            call.bytes = event[2];
    }

    void wait_for(const Event &event, Ns now) {
        const std::uint32_t task = find(event[0]) ? static_cast<std::uint32_t>(event[0]) : 0;
        const std::vector<std::uint32_t> &open = calls_of(task).open;
        // A task that is elsewhere, whatever it does there, is told what its completion waits for.
        // A span of the program's own waits for no request.
        const bool elsewhere = task && process_.tasks[task].ran() && task != current();
        if (!elsewhere && !open.empty() && process_.calls[open.back()].requests > 0)
            remains_.requests.push_back({now, event[1], open.back(), 0, false});
        else if (task)
            remains_.requests.push_back({now, event[1], kNone, task, false});
    }

    Calls &calls_of(std::uint32_t task) { return task ? open_[task].calls : calls_outside_; }

    // ---- all threads --------------------------------------------------------------------------

    // What the trace's end has cut off ends with it.
    void close() {
        for (Call &call : process_.calls)
            if (call.open)
                call.end = std::max(call.begin, process_.end);
        for (WaitSpan &wait : process_.waits)
            if (wait.end == kNever)
                wait.end = std::max(wait.begin, process_.end);
        for (Part &part : process_.parts)
            if (part.end == kNever)
                part.end = std::max(part.begin, process_.end);
        for (CoreUse &use : process_.cores)
            if (use.end == kNever)
                use.end = std::max(use.begin, process_.end);
        std::stable_sort(process_.cores.begin(), process_.cores.end(),
                         [](const CoreUse &a, const CoreUse &b) { return a.begin < b.begin; });
        std::stable_sort(process_.refusals.begin(), process_.refusals.end(),
                         [](const Refusal &a, const Refusal &b) { return a.at < b.at; });
        for (auto &[id, open] : open_)
            if (open.suspended_at != kNever && id < process_.tasks.size())
                process_.tasks[id].suspended += std::max<Ns>(0, process_.end - open.suspended_at);
    }

    Process &process_;
    TraceFile &file_;
    ThreadModel *thread_ = nullptr;
    std::uint32_t number_ = 0;
    std::unordered_map<std::uint64_t, Stack> stacks_; // by fiber, of those that are left
    Stack stack_;
    std::uint64_t fiber_ = 0; // 0: the first, whose address is not known yet
    std::uint64_t root_ = 0;
    Ns program_ = 0;          // ran outside of tasks
    Word latest_created_ = 0; // a task, while its thread does nothing else
    Calls calls_outside_;
    std::uint32_t core_use_ = kNone;                 // the one that is open
    std::unordered_map<std::uint64_t, bool> probes_; // by name
    std::unordered_map<std::uint32_t, Open> open_;
    Ns since_ = 0;
    Ns last_ = 0;
    bool since_valid_ = false;
    Remains remains_;
};

} // namespace

Process build_process(TraceFile file) {
    Process process{};
    process.file = std::move(file);
    process.rank = process.file.header.rank;
    process.begin = process.file.begin_ns();
    process.end = process.file.end_ns();
    Replay(process).run();
    return process;
}

namespace {

std::string text_of_missing(const TraceFolder &folder) {
    std::string named;
    for (const int rank : folder.first_missing)
        named += (named.empty() ? "" : ", ") + std::to_string(rank);
    if (folder.first_missing.size() < static_cast<std::size_t>(folder.missing))
        named += ", ...";
    return std::to_string(folder.missing) + " of " + std::to_string(folder.ranks) +
           " ranks left no trace here (" + named + ")";
}

} // namespace

Job build_job(TraceFolder folder) {
    Job job{};
    if (folder.missing > 0) {
        job.missing = text_of_missing(folder);
        job.notes.push_back(job.missing + ": what is said is about the others");
    }
    job.begin = kNever;
    job.end = 0;
    for (TraceFile &file : folder.files) {
        job.processes.push_back(build_process(std::move(file)));
        Process &process = job.processes.back();
        if (process.rank < 0)
            process.rank = static_cast<int>(job.processes.size()) - 1;
        if (process.strange > 0)
            folder.notes.add(process.file.path, std::to_string(process.strange) +
                                                    " events fit no story and were ignored");
        job.begin = std::min(job.begin, process.begin);
        job.end = std::max(job.end, process.end);
    }
    for (std::string &line : folder.notes.lines())
        job.notes.push_back(std::move(line));
    match_messages(job);
    return job;
}

Job read_job(const std::filesystem::path &folder) {
    return build_job(read_folder(folder));
}

} // namespace sennit::trace

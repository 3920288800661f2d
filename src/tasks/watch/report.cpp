// SPDX-License-Identifier: Apache-2.0
#include "tasks/watch/report.h"

#include "base/loaded_object.h"
#include "tasks/task/task.h"
#include "tasks/trace/trace.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sennit::watch {
namespace {

using sched::WaitFor;

constexpr std::size_t kMostLines = 40; // of waiters
constexpr int kMostOperations = 8;     // of each
constexpr long kMostBytes = 24 * 1024; // of calls, for `sennit run`, before the last one

class Writer {
  public:
    Writer(const Survey &survey, std::FILE *out)
        : survey_(survey), out_(out), sites_(survey.names().is_runtime_library) {}

    void write(bool *has_cycle) {
        const auto &waiters = survey_.waiters();
        const std::size_t shown = waiters.size() < kMostLines ? waiters.size() : kMostLines;
        for (std::size_t i = 0; i < shown; ++i)
            line(i);
        if (!survey_.complete())
            std::fprintf(out_, "sennit:   ... and more than %zu others\n", waiters.size() - shown);
        else if (shown < waiters.size())
            std::fprintf(out_, "sennit:   ... and %zu others\n", waiters.size() - shown);
        under_way();
        ScopedArray<int> cycle;
        survey_.find_cycle(cycle);
        *has_cycle = cycle.size() > 0;
        if (*has_cycle)
            circle(cycle);
    }

  private:
    void line(std::size_t at) {
        const Waiter &waiter = survey_.waiters()[at];
        std::fprintf(out_, "sennit:   #%zu ", at + 1);
        who(waiter);
        std::fputs(": ", out_);
        what(at, waiter);
        const void *site = sites_.find(survey_.memory(), waiter.frame);
        if (site && waiter.state != Waiter::State::not_begun) {
            char place[256];
            sites_.describe(site, place, sizeof place);
            std::fprintf(out_, ", in %s %s",
                         symbols_.name_of(reinterpret_cast<std::uint64_t>(site)), place);
        }
        std::fputc('\n', out_);
        operations(waiter);
    }

    void who(const Waiter &waiter) {
        const bool asleep = waiter.state == Waiter::State::asleep;
        if (!waiter.task) {
            if (waiter.state == Waiter::State::call || asleep)
                std::fprintf(out_, "thread %d", waiter.thread_id);
            else
                std::fputs("a callback", out_);
        } else if (waiter.flags & Task::kInitial) {
            std::fputs("the initial task", out_);
        } else if (waiter.flags & Task::kImplicit) {
            std::fprintf(out_, "the implicit task of thread %d of %d", waiter.thread,
                         waiter.team_size);
        } else {
            std::fprintf(out_, "task '%s'",
                         *waiter.label
                             ? waiter.label
                             : symbols_.name_of(reinterpret_cast<std::uint64_t>(waiter.entry)));
            if (asleep && waiter.thread >= 0)
                std::fprintf(out_, " on thread %d of %d", waiter.thread, waiter.team_size);
        }
    }

    const char *plural(std::int64_t count) { return count == 1 ? "" : "s"; }

    void what(std::size_t at, const Waiter &waiter) {
        const auto left = static_cast<long long>(waiter.left);
        const char *s = plural(waiter.left);
        switch (waiter.kind) {
        case WaitFor::children:
            std::fprintf(out_, "taskwait for %lld child task%s", left, s);
            break;
        case WaitFor::taskgroup:
            std::fprintf(out_, "end of a taskgroup, %lld task%s left", left, s);
            break;
        case WaitFor::dependences:
            std::fprintf(out_, "%swaits for %lld task%s that it depends on",
                         waiter.state == Waiter::State::not_begun ? "has not begun, " : "", left,
                         s);
            break;
        case WaitFor::barrier:
            if (left > 0)
                std::fprintf(out_, "barrier that %lld thread%s of the team %s not reached", left, s,
                             left == 1 ? "has" : "have");
            else if (waiter.flags & Task::kInitial)
                std::fputs("barrier, or the end of the program or thread: tasks are left that were "
                           "created outside of regions",
                           out_);
            else
                std::fputs("barrier, all threads are there, tasks of the team are left", out_);
            break;
        case WaitFor::lock:
            lock(at, waiter);
            break;
        case WaitFor::primitive:
            std::fprintf(out_, "%s the %s %p",
                         waiter.state == Waiter::State::asleep ? "thread sleeps for" : "waits for",
                         waiter.primitive_name, waiter.primitive.address);
            held_by(at);
            break;
        case WaitFor::time:
            std::fputs("waits for a point in time", out_);
            break;
        case WaitFor::turn:
            std::fputs("waits for its turn in an ordered or doacross loop", out_);
            break;
        case WaitFor::events:
        case WaitFor::resumption:
            if (waiter.in_call())
                wait(waiter);
            else if (waiter.kind == WaitFor::events && waiter.object)
                std::fprintf(out_, "waits for an undeferred task that it has made (%lld event%s)",
                             left, s);
            else if (waiter.kind == WaitFor::events)
                std::fprintf(out_,
                             "has ended, waits for an event from outside (%lld not fulfilled: "
                             "omp_fulfill_event or a library's)",
                             left);
            else
                std::fputs("suspended by a library, waits for an event from outside "
                           "(sennit_task_resume)",
                           out_);
            break;
        case WaitFor::nobody:
            break;
        }
    }

    void lock(std::size_t at, const Waiter &waiter) {
        std::fprintf(out_, "waits for the lock (or critical section) %p, ", waiter.object);
        const int holder = survey_.holder(at);
        if (holder == static_cast<int>(at))
            std::fputs("which it holds itself", out_);
        else if (holder >= 0)
            std::fprintf(out_, "held by #%d", holder + 1);
        else
            std::fputs("held by a task that has ended, or never unset", out_);
    }

    void held_by(std::size_t at) {
        const int holder = survey_.holder(at);
        if (holder == static_cast<int>(at))
            std::fputs(", which it holds itself", out_);
        else if (holder >= 0)
            std::fprintf(out_, ", held by #%d", holder + 1);
        else if (const int thread = survey_.waiters()[at].holder)
            std::fprintf(out_, ", held by thread %d", thread);
    }

    void wait(const Waiter &waiter) {
        if (waiter.state == Waiter::State::ended)
            std::fputs("has ended but for ", out_);
        call(waiter.call);
        const int requests = waiter.call.wait.requests;
        if (requests > 1 && waiter.certain && waiter.handles == requests)
            std::fprintf(out_, ", %zu of %d requests not complete", waiter.operations, requests);
        else if (requests > 0)
            std::fprintf(out_, ", %d request%s", requests, plural(requests));
        if (requests > 0 && !is_given("SENNIT_HANG"))
            for (std::size_t i = 0; i < waiter.operations; ++i)
                if (!survey_.operation(waiter, i).wait.call) { // mpi/record/request_table.h
                    std::fputs(" (with SENNIT_HANG=report you hear of what)", out_);
                    break;
                }
    }

    void call(const Call &call, bool is_operation = false) {
        std::fputs(call.name, out_);
        const char *separator = " ";
        if (call.wait.direction != 0) {
            const char *const way = call.wait.direction == SENNIT_NOTICE_SEND ? "to" : "from";
            const int peer = call.text.peer >= 0 ? call.text.peer : call.wait.peer;
            if (peer >= 0)
                std::fprintf(out_, " %s rank %d", way, peer);
            else
                std::fprintf(out_, " %s any rank", way);
            if (call.wait.tag >= 0)
                std::fprintf(out_, ", tag %d", call.wait.tag);
            separator = ", ";
        }
        const auto count = static_cast<long long>(call.wait.count);
        if (!is_operation && count >= 0) {
            std::fprintf(out_, "%scount %lld", separator, count);
            separator = ", ";
        } else if (is_operation && count > 0) {
            std::fprintf(out_, "%s%lld part%s not ready", separator, count, plural(count));
            separator = ", ";
        }
        if (*call.text.group)
            std::fprintf(out_, "%son %s", separator, call.text.group);
    }

    // What the call waits for, a line each.
    void operations(const Waiter &waiter) {
        int known = 0;
        for (std::size_t i = 0; i < waiter.operations; ++i) {
            const Call &operation = survey_.operation(waiter, i);
            if (!operation.wait.call || ++known > kMostOperations)
                continue;
            std::fprintf(out_, "sennit:      %sfor ", waiter.certain ? "" : "perhaps ");
            call(operation, true);
            std::fputc('\n', out_);
        }
        if (known > kMostOperations)
            std::fprintf(out_, "sennit:      ... and %d more\n", known - kMostOperations);
    }

    // What may be over, or was for the library's own use, is nobody's concern.
    void under_way() {
        const UnderWay &under_way = survey_.under_way();
        if (!under_way.certain)
            return;
        const auto known = static_cast<int>(under_way.operations.size());
        for (int i = 0; i < known && i < kMostOperations; ++i) {
            std::fputs("sennit:   not waited for: ", out_);
            call(under_way.operations[static_cast<std::size_t>(i)], true);
            std::fputc('\n', out_);
        }
        if (known > kMostOperations)
            std::fprintf(out_, "sennit:   not waited for: ... and %d more\n",
                         known - kMostOperations);
    }

    void circle(const ScopedArray<int> &cycle) {
        std::fputs("sennit:   a deadlock:", out_);
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            const int next = cycle[(i + 1) % cycle.size()];
            const char *reason = "";
            survey_.each_blocker(static_cast<std::size_t>(cycle[i]),
                                 [&](int blocker, const char *why) {
                                     if (blocker == next)
                                         reason = why;
                                 });
            std::fprintf(out_, "%s #%d waits for #%d (%s)", i == 0 ? "" : ",", cycle[i] + 1,
                         next + 1, reason);
        }
        std::fputc('\n', out_);
    }

    const Survey &survey_;
    std::FILE *out_;
    trace::Symbols symbols_;
    CallSites sites_;
};

// For `sennit run`, see tools/sennit/hang/hang_judge.h.
void write_group(std::FILE *out, const sennit_wait_text &text) {
    if (text.members != 0)
        std::fprintf(out, "\tgroup=%llx,%d", static_cast<unsigned long long>(text.members),
                     text.size);
}

void write_call(std::FILE *out, const Call &call, const char *role) {
    const sennit_wait &wait = call.wait;
    const bool collective = wait.direction == 0 && wait.tag >= 0;
    std::fprintf(out, "%s\t%d\t%d\t%d\t%s\t%s", call.name, wait.direction, call.text.peer,
                 collective ? -1 : wait.tag, call.text.group, role);
    write_group(out, call.text);
    if (collective)
        std::fprintf(out, "\tnumber=%d", wait.tag);
    if (std::strcmp(role, "call") != 0 && wait.count >= 0)
        std::fprintf(out, "\twithheld=%lld", static_cast<long long>(wait.count));
    if (wait.direction == (SENNIT_NOTICE_SEND | SENNIT_NOTICE_RECEIVE))
        std::fprintf(out, "\tto=%d,%d", call.text.send_peer, wait.send_tag);
    std::fputc('\n', out);
}

void write_collectives(std::FILE *out, const CollectivesMade &all) {
    std::fprintf(out, "-\t0\t-1\t-1\t%s\tmade", all.text.group);
    write_group(out, all.text);
    std::fprintf(out, "\tnumber=%d\tlatest=", all.made.calls);
    for (int i = 0; i < SENNIT_COLLECTIVES_KEPT && all.made.names[i]; ++i)
        std::fprintf(out, "%s%s:%d", i == 0 ? "" : ",", all.made.names[i], all.made.roots[i]);
    std::fputc('\n', out);
}

void write_calls(std::FILE *out, const Survey &survey) {
    bool all = survey.complete();
    for (const Waiter &waiter : survey.waiters()) {
        if (!waiter.in_call())
            continue;
        if (std::ftell(out) > kMostBytes) {
            all = false;
            break;
        }
        write_call(out, waiter.call, "call");
        all = all && waiter.handles == waiter.call.wait.requests;
        for (std::size_t i = 0; i < waiter.operations; ++i) {
            const Call &operation = survey.operation(waiter, i);
            if (operation.wait.call)
                write_call(out, operation, waiter.certain ? "operation" : "perhaps");
            else
                all = false;
        }
    }
    for (const Call &call : survey.under_way().operations) {
        if (std::ftell(out) > kMostBytes) {
            all = false;
            break;
        }
        write_call(out, call, survey.under_way().certain ? "posted" : "noted");
    }
    for (const CollectivesMade &made : survey.collectives()) {
        if (std::ftell(out) > kMostBytes) {
            all = false;
            break;
        }
        write_collectives(out, made);
    }
    if (!all)
        std::fputs("...\t0\t-1\t-1\t\tmore\n", out);
}

} // namespace

Report::Report(const Survey &survey) : certain(survey.certain()) {
    std::size_t size = 0;
    if (std::FILE *out = open_memstream(&text, &size)) {
        Writer(survey, out).write(&cycle);
        std::fclose(out);
    }
    if (std::FILE *out = open_memstream(&calls, &size)) {
        write_calls(out, survey);
        std::fclose(out);
    }
}

Report::~Report() {
    std::free(text);
    std::free(calls);
}

namespace {

constexpr std::size_t kSearched = 8192; // bytes of stack

// Does a call instruction end before the bytes' end?
bool is_behind_call(const unsigned char *end) {
#if defined(__x86_64__)
    if (end[-5] == 0xe8) // call rel32
        return true;
    for (int length = 2; length <= 7; ++length) // call r/m64: ff /2
        if (end[-length] == 0xff && (end[-length + 1] & 0x38) == 0x10)
            return true;
    return false;
#elif defined(__aarch64__)
    std::uint32_t instruction;
    std::memcpy(&instruction, end - 4, 4);
    return (instruction >> 26) == 0x25 || (instruction & 0xfffffc1f) == 0xd63f0000; // bl, blr
#endif
}

} // namespace

CallSites::CallSites(bool (*others)(const char *path)) {
    each_object([=, this](const LoadedObject &object) {
        const char *path = *object.path() ? object.path() : program_invocation_name;
        if (*object.path() && others(path))
            return 0;
        for (const LoadedObject::Segment &segment : object.segments()) {
            if (count_ == kMostSegments)
                break;
            if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
                continue;
            Code &code = code_[count_++];
            code.base = object.base();
            code.low = object.address_of(segment);
            code.high = code.low + segment.p_memsz;
            std::snprintf(code.name, sizeof code.name, "%s", basename(path));
        }
        return 0;
    });
}

const CallSites::Code *CallSites::code_of(std::uintptr_t address) const {
    for (int i = 0; i < count_; ++i)
        if (address >= code_[i].low && address < code_[i].high)
            return &code_[i];
    return nullptr;
}

const void *CallSites::find(const VolatileMemory &memory, const void *frame) const {
    if (!frame)
        return nullptr;
    std::uintptr_t words[kSearched / sizeof(std::uintptr_t)];
    const auto start = reinterpret_cast<std::uintptr_t>(frame) & ~(sizeof(std::uintptr_t) - 1);
    const std::size_t got = memory.read(reinterpret_cast<const void *>(start), words, sizeof words);
    for (std::size_t i = 0; i < got / sizeof *words; ++i) {
        const Code *code = code_of(words[i]);
        if (!code || words[i] - code->low < 8)
            continue;
        unsigned char bytes[8];
        if (memory.read(reinterpret_cast<const void *>(words[i] - sizeof bytes), bytes,
                        sizeof bytes) == sizeof bytes &&
            is_behind_call(bytes + sizeof bytes))
            return reinterpret_cast<const void *>(words[i] - 1);
    }
    return nullptr;
}

void CallSites::describe(const void *site, char *text, std::size_t size) const {
    const auto address = reinterpret_cast<std::uintptr_t>(site);
    const Code *code = code_of(address);
    std::snprintf(text, size, "[%s+0x%lx]", code ? code->name : "?",
                  static_cast<unsigned long>(address - (code ? code->base : 0)));
}

} // namespace sennit::watch

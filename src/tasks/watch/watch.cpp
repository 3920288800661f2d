// SPDX-License-Identifier: Apache-2.0
#include "tasks/watch/watch.h"

#include "base/agreements.h"
#include "base/config.h"
#include "base/hash.h"
#include "base/held_signals.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/rank.h"
#include "base/source_lines.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/worker.h"
#include "tasks/trace/trace.h"
#include "tasks/watch/blocked.h"
#include "tasks/watch/report.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace sennit::watch {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLooks = 4; // in the grace time

} // namespace

// What every thread shows at a moment.
struct Watch::Glance {
    bool still = true;         // nobody is at work
    std::uint64_t trail = 0;   // the same at two glances: nobody was in between
    std::uint64_t waiters = 0; // threads that do not just wait for a region to begin

    // Also the number of words counts: small ones must not cancel each other.
    void add(std::uint64_t word) {
        trail = hash_after(trail, word + 1);
        trail ^= trail >> 32;
    }
};

Watch::Glance Watch::glance() {
    Glance seen;
    const int ticker =
        gettid(); // who is a worker when it has found a callback's operation complete
    for (const sched::Worker &worker : sched::Worker::all()) {
        if (worker.activity.away() || worker.thread.id() == ticker)
            continue;
        seen.add(static_cast<std::uint64_t>(worker.id()));
        if (const std::uint64_t since = worker.activity.idle_since()) {
            seen.add(since);
        } else if (sleep_of(worker.thread.id()).in == Sleep::In::futex) {
            seen.add(sleeps_of(worker.thread.id()));
        } else if (!is_blocked(worker.thread.id())) {
            seen.still = false;
        }
    }
    each_blocked(
        [](void *arg, const Blocked &thread) {
            auto &sum = *static_cast<Glance *>(arg);
            sum.add(thread.calls);
            ++sum.waiters;
        },
        &seen);
    const poll::PollActivity activity = poll::activity([](int thread_id) {
        return is_blocked(thread_id) || sleep_of(thread_id).in == Sleep::In::futex;
    });
    seen.add(activity.completions);
    if (activity.busy || poll::timers_pending())
        seen.still = false;
    return seen;
}

// A thread that was woken and has not run since looks like one that nobody has woken.
bool Watch::anyone_starves() {
    starved_.begin_look();
    bool found = false;
    auto look_at = [&](int thread_id) {
        found |= starved_.starves(thread_id, used_by(thread_id),
                                  [&] { return state_of(thread_id).runs; });
    };
    const int ticker = gettid();
    for (const sched::Worker &worker : sched::Worker::all())
        if (!worker.activity.away() && worker.thread.id() != ticker)
            look_at(worker.thread.id());
    each_blocked(
        [](void *arg, const Blocked &thread) {
            (*static_cast<decltype(look_at) *>(arg))(thread.thread_id);
        },
        &look_at);
    return found;
}

void Watch::forget() {
    std::free(stillness_.message);
    std::free(stillness_.calls);
    stillness_ = Stillness{};
}

const char *Watch::who() {
    if (rank_ >= 0)
        std::snprintf(name_, sizeof name_, "rank %d (process %d)", rank_, getpid());
    else
        std::snprintf(name_, sizeof name_, "process %d", getpid());
    return name_;
}

// One write, so that the lines of several ranks do not mix.
void Watch::print(const char *headline, const Report &report) {
    char *all = nullptr;
    const int size =
        asprintf(&all, "sennit: %s: %s\n%s", who(), headline, report.text ? report.text : "");
    const HeldSignals held({SIGPIPE, SIGXFSZ}); // the program does not die of a report
    char *shown = nullptr;
    std::size_t length = 0;
    if (std::FILE *const out = size > 0 ? open_memstream(&shown, &length) : nullptr) {
        char *const with_lines = with_source_lines(all);
        // Names of symbols and files do nothing to a terminal.
        put_printable(with_lines ? with_lines : all, Lines::many, [out](std::string_view piece) {
            std::fwrite(piece.data(), 1, piece.size(), out);
        });
        std::free(with_lines);
        std::fclose(out);
        [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, shown, length);
    }
    std::free(shown);
    std::free(all);
}

// What the launcher is told of a rank that waits for others, anew at every look: a message may be
// on its way, and what is complete by then is no more waited for. Returns whether that is so.
bool Watch::has_moved(const Survey &survey, const Report &report) {
    if (report.certain && stillness_.calls && report.calls &&
        std::strcmp(report.calls, stillness_.calls) != 0)
        return true;
    if (stillness_.message && !report.certain)
        return false; // what was said before is as good
    std::free(stillness_.message);
    std::free(stillness_.calls);
    stillness_.calls = report.certain && report.calls ? strdup(report.calls) : nullptr;
    stillness_.outside = survey.waits_outside() || others_.load(std::memory_order_relaxed);
    if (asprintf(&stillness_.message, "%s\n%s%s", report.calls ? report.calls : "", foreign_.note(),
                 report.text ? report.text : "") < 0)
        stillness_.message = nullptr;
    return false;
}

// What this process can say by itself, after the grace time, or tell the launcher, before. Returns
// false when something has moved.
bool Watch::judge(std::uint64_t now) {
    Survey survey(*regions_, *names_);
    survey.take();
    // A thread that sleeps in a futex waits for any thread. One that sleeps in another call may do
    // its part when that returns.
    if (!survey.tells() || survey.waits_for_files() ||
        (survey.sleeps_for_anybody() && foreign_.naps() && !asked_for_)) {
        stillness_.silent = true;
        return true;
    }
    const Report report(survey);
    if (glance().trail != stillness_.trail)
        return true; // it went on while we looked: the next look tells
    const bool certain = report.cycle || (!survey.waits_outside() && !survey.waits_for_ranks());
    char headline[256];
    const auto seconds = static_cast<unsigned long long>((now - stillness_.since) / kSecond);
    if (certain)
        std::snprintf(headline, sizeof headline,
                      "nothing can go on since %llu s, and nobody outside can change that",
                      seconds);
    else if (!survey.waits_for_ranks())
        std::snprintf(headline, sizeof headline,
                      "nothing has moved for %llu s: everything waits for an event from outside",
                      seconds);
    else
        std::snprintf(headline, sizeof headline,
                      "nothing has moved for %llu s: everything waits for other ranks, which may "
                      "be at work",
                      seconds);
    if (!certain && survey.waits_for_ranks()) {
        if (link_.connected())
            return !has_moved(survey, report);
        stillness_.silent = !asked_for_;
    }
    if (stillness_.silent || now - stillness_.since < grace_)
        return true;
    print(headline, report);
    stillness_.told = true;
    if (certain && config().hang == HangMode::abort)
        fatal("ended because of SENNIT_HANG=abort");
    return true;
}

// Something moved: the time begins anew, unless something still moves.
void Watch::begin_anew(const Glance &seen, std::uint64_t before) {
    if (stillness_.told && seen.trail != stillness_.trail)
        warn("%s: it goes on", who());
    if (stillness_.message)
        link_.send_moves(rank_);
    forget();
    stillness_.trail = seen.trail;
    if (seen.still)
        stillness_.since = poll::now_ns();
    stillness_.last_look = before;
}

// The launcher's queue of messages may be full: then at the next look.
void Watch::introduce() {
    if (!introduced_ && rank_ >= 0 && link_.connected())
        introduced_ = link_.send_here(rank_);
}

void Watch::look() {
    introduce();
    const std::uint64_t before = poll::now_ns();
    const Glance seen = glance();
    const std::uint64_t period = grace_ / kLooks;
    // A look that comes late (the process was stopped, or starved) proves nothing about the time
    // since the last one.
    const bool late = before - stillness_.last_look > 2 * period;
    const bool starves = anyone_starves();
    if (!seen.still || !stillness_.since || seen.trail != stillness_.trail || late || starves ||
        foreign_.at_work(before, stillness_.last_look)) {
        begin_anew(seen, before);
        return;
    }
    stillness_.last_look = before;
    const std::uint64_t still = before - stillness_.since;
    // Half of the grace time is enough for the launcher, which wants all of it from all ranks.
    if (still < (link_.connected() ? grace_ / 2 : grace_) || stillness_.told || stillness_.silent)
        return;
    if (!judge(before))
        begin_anew(seen, before);
    else if (stillness_.message && link_.connected())
        link_.send(rank_, stillness_.since, before, grace_, stillness_.outside, stillness_.message);
}

void Watch::start(const Regions &regions, const CallNames &names) {
    if (config().hang == HangMode::off)
        return;
    regions_ = &regions;
    names_ = &names;
    grace_ = static_cast<std::uint64_t>(config().hang_grace) * kSecond;
    asked_for_ = is_given("SENNIT_HANG");
    rank_ = rank_of_environment();
    link_.connect(config().hang_link);
    introduce();
    poll::set_watch(
        poll::Watcher::hangs, [](void *self) { static_cast<Watch *>(self)->look(); }, this,
        grace_ / kLooks);
}

void Watch::after_fork_in_child() {
    forget();
    forget_threads_after_fork();
    link_.disconnect(); // the child is no rank
}

void LauncherLink::connect(const char *address) {
    address_ = address;
    if (address && *address)
        socket_ = connect_to_launcher(address, 1);
}

// A listener that was killed may have a successor (tools/sennit/launch/neighbours.h), which hears
// the next message.
bool LauncherLink::tell(const char *message, int size) {
    const ssize_t sent =
        ::send(socket_, message, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == ECONNREFUSED)
        if (const int other = connect_to_launcher(address_, 1); other >= 0) {
            close(socket_);
            socket_ = other;
        }
    return sent == size;
}

void LauncherLink::disconnect() {
    if (socket_ >= 0)
        close(socket_);
    socket_ = -1;
}

void LauncherLink::send(int rank, std::uint64_t since, std::uint64_t now, std::uint64_t grace,
                        bool outside, const char *text) {
    constexpr int kMost = 32 * 1024; // below every system's limit for a datagram
    char *message = nullptr;
    int size = asprintf(
        &message, "hang\t%d\t%d\t%llu\t%llu\t%llu\t%d\t%d\n%s", rank, getpid(),
        static_cast<unsigned long long>(since), static_cast<unsigned long long>(now),
        static_cast<unsigned long long>(grace), config().hang == HangMode::abort, outside, text);
    if (size < 0)
        return;
    if (size > kMost)
        size = kMost;
    tell(message, size);
    std::free(message);
}

void LauncherLink::send_moves(int rank) {
    char message[32];
    const int size = std::snprintf(message, sizeof message, "move\t%d", rank);
    tell(message, size);
}

bool LauncherLink::send_here(int rank) {
    char message[48];
    const int size = std::snprintf(message, sizeof message, "here\t%d\t%d", rank, getpid());
    return tell(message, size);
}

} // namespace sennit::watch

// SPDX-License-Identifier: Apache-2.0
#include "watch/watch.h"

#include "base/config.h"
#include "base/message.h"
#include "base/rank.h"
#include "poll/poll.h"
#include "sched/worker.h"
#include "trace/trace.h"
#include "watch/blocked.h"
#include "watch/foreign.h"
#include "watch/link.h"
#include "watch/report.h"
#include "watch/thread_state.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sennit::watch {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLooks = 4; // in the grace time

// What every thread shows at a moment.
struct Glance {
    bool still = true;         // nobody is at work
    std::uint64_t trail = 0;   // the same at two glances: nobody was in between
    std::uint64_t waiters = 0; // threads that do not just wait for a region to begin

    // Also the number of words counts: small ones must not cancel each other.
    void add(std::uint64_t word) {
        trail = (trail + word + 1) * 0x9E3779B97F4A7C15ull;
        trail ^= trail >> 32;
    }
};

Glance glance() {
    Glance seen;
    const int ticker =
        gettid(); // who is a worker when it has found a callback's operation complete
    for (const sched::Worker &worker : sched::Worker::all()) {
        if (worker.away() || worker.thread_id() == ticker)
            continue;
        seen.add(static_cast<std::uint64_t>(worker.id()));
        if (const std::uint64_t since = worker.idle_since()) {
            seen.add(since);
        } else if (sleep_of(worker.thread_id()).in == Sleep::In::futex) {
            seen.add(sleeps_of(worker.thread_id()));
        } else if (!is_blocked(worker.thread_id())) {
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
    const poll::Activity activity = poll::activity([](int thread_id) {
        return is_blocked(thread_id) || sleep_of(thread_id).in == Sleep::In::futex;
    });
    seen.add(activity.completions);
    if (activity.busy || poll::timers_pending())
        seen.still = false;
    return seen;
}

// The time in which nothing moved, and what was said about it.
struct Stillness {
    std::uint64_t trail = 0;
    std::uint64_t since = 0; // 0: something moved at the last look
    std::uint64_t last_look = 0;
    bool told = false;
    bool silent = false; // judged, and not to be told
    bool outside = false;
    char *message = nullptr; // for `sennit run`, without its first line
    char *calls = nullptr;   // if they are certain
};

Stillness g_stillness;
Foreign g_foreign;
Link g_link;
const Regions *g_regions = nullptr;
std::uint64_t g_grace = 0;
bool g_asked_for = false; // SENNIT_HANG is set
int g_rank = -1;
std::atomic<bool> g_others{false};

void forget() {
    std::free(g_stillness.message);
    std::free(g_stillness.calls);
    g_stillness = Stillness{};
}

const char *who() {
    static char name[64];
    if (g_rank >= 0)
        std::snprintf(name, sizeof name, "rank %d (process %d)", g_rank, getpid());
    else
        std::snprintf(name, sizeof name, "process %d", getpid());
    return name;
}

// One write, so that the lines of several ranks do not mix.
void print(const char *headline, const Report &report) {
    char *all = nullptr;
    const int size =
        asprintf(&all, "sennit: %s: %s\n%s", who(), headline, report.text ? report.text : "");
    if (size > 0) [[maybe_unused]]
        const ssize_t ignored = write(STDERR_FILENO, all, static_cast<std::size_t>(size));
    std::free(all);
}

// What the launcher is told of a rank that waits for others, anew at every look: a message may be
// on its way, and what is complete by then is no more waited for. Returns whether that is so.
bool has_moved(const Survey &survey, const Report &report) {
    if (report.certain && g_stillness.calls && report.calls &&
        std::strcmp(report.calls, g_stillness.calls) != 0)
        return true;
    if (g_stillness.message && !report.certain)
        return false; // what was said before is as good
    std::free(g_stillness.message);
    std::free(g_stillness.calls);
    g_stillness.calls = report.certain && report.calls ? strdup(report.calls) : nullptr;
    g_stillness.outside = survey.waits_outside() || g_others.load(std::memory_order_relaxed);
    if (asprintf(&g_stillness.message, "%s\n%s%s", report.calls ? report.calls : "",
                 g_foreign.note(), report.text ? report.text : "") < 0)
        g_stillness.message = nullptr;
    return false;
}

// What this process can say by itself, after the grace time, or tell the launcher, before. Returns
// false when something has moved.
bool judge(std::uint64_t now) {
    Survey survey(*g_regions);
    survey.take();
    // Who sleeps in a futex waits for any thread. One that sleeps in another call may do its part
    // when that returns.
    if (!survey.tells() || survey.waits_for_files() ||
        (survey.sleeps_for_anybody() && g_foreign.naps() && !g_asked_for)) {
        g_stillness.silent = true;
        return true;
    }
    const Report report(survey);
    if (glance().trail != g_stillness.trail)
        return true; // it went on while we looked: the next look tells
    const bool certain = report.cycle || (!survey.waits_outside() && !survey.waits_for_ranks());
    char headline[256];
    const auto seconds = static_cast<unsigned long long>((now - g_stillness.since) / kSecond);
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
        if (g_link.connected())
            return !has_moved(survey, report);
        g_stillness.silent = !g_asked_for;
    }
    if (g_stillness.silent || now - g_stillness.since < g_grace)
        return true;
    print(headline, report);
    g_stillness.told = true;
    if (certain && config().hang == HangMode::abort)
        fatal("ended because of SENNIT_HANG=abort");
    return true;
}

// Something moved: the time begins anew, unless something still moves.
void begin_anew(const Glance &seen, std::uint64_t before) {
    if (g_stillness.told && seen.trail != g_stillness.trail)
        warn("%s: it goes on", who());
    if (g_stillness.message)
        g_link.send_moves(g_rank);
    forget();
    g_stillness.trail = seen.trail;
    if (seen.still)
        g_stillness.since = poll::now_ns();
    g_stillness.last_look = before;
}

void look() {
    const std::uint64_t before = poll::now_ns();
    const Glance seen = glance();
    const std::uint64_t period = g_grace / kLooks;
    // A look that comes late (the process was stopped, or starved) proves nothing about the time
    // since the last one.
    const bool late = before - g_stillness.last_look > 2 * period;
    if (!seen.still || !g_stillness.since || seen.trail != g_stillness.trail || late ||
        g_foreign.at_work(before, g_stillness.last_look)) {
        begin_anew(seen, before);
        return;
    }
    g_stillness.last_look = before;
    const std::uint64_t still = before - g_stillness.since;
    // Half of the grace time is enough for the launcher, which wants all of it from all ranks.
    if (still < (g_link.connected() ? g_grace / 2 : g_grace) || g_stillness.told ||
        g_stillness.silent)
        return;
    if (!judge(before))
        begin_anew(seen, before);
    else if (g_stillness.message)
        g_link.send(g_rank, g_stillness.since, before, g_grace, g_stillness.outside,
                    g_stillness.message);
}

} // namespace

void setup(const Regions &regions) {
    if (config().hang == HangMode::off)
        return;
    g_regions = &regions;
    g_grace = static_cast<std::uint64_t>(config().hang_grace) * kSecond;
    g_asked_for = is_given("SENNIT_HANG");
    g_rank = rank_of_environment();
    g_link.connect(config().hang_link);
    poll::set_watch(look, g_grace / kLooks);
}

void note_others() {
    g_others.store(true, std::memory_order_relaxed);
}

void after_fork_in_child() {
    forget();
    forget_threads_after_fork();
    g_link.disconnect(); // the child is no rank
}

} // namespace sennit::watch

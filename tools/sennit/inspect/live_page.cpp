// SPDX-License-Identifier: Apache-2.0
#include "inspect/live_page.h"

#include "inspect/live_template.h"
#include "inspect/page_server.h"

#include "base/clock.h"
#include "base/signal_queue.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

namespace sennit::tool {
namespace {

constexpr int kPeriodMs = 500;
constexpr int kSampleMs = 20; // while somebody looks: loans may be short
constexpr int kLastMs = 3000; // after the end, for pages that are open

sigset_t block_ends() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return set;
}

} // namespace

int serve_live_page(const std::function<Snapshot()> &look,
                    const std::function<BoardFacts()> &facts) {
    const SignalQueue signals(block_ends());
    PageServer server;
    Served served{kPageTemplate, ""};
    fmt::print("{}\n", server.address());
    std::fflush(stdout);
    Period period;
    period.add(look());
    const std::int64_t begin = monotonic_ns();
    bool seen = !period.last().members.empty();
    bool told = false;
    std::int64_t over_ns = 0;
    for (;;) {
        const double at = static_cast<double>(monotonic_ns() - begin) * 1e-9;
        served.data = live_json(facts(), period, at, over_ns != 0);
        const int step = server.is_watched() ? kSampleMs : kPeriodMs;
        period.restart();
        for (int waited = 0; waited < kPeriodMs; waited += step) {
            server.serve(served, signals.patience(step), signals.descriptor());
            for (ArrivedSignal arrived = {}; signals.next(arrived);)
                return 0;
            if (over_ns == 0)
                period.add(look());
        }
        const bool anybody = !period.last().members.empty();
        if (!anybody && !seen && !told) {
            told = true;
            fmt::print("no process takes part yet\n");
            std::fflush(stdout);
        }
        seen = seen || anybody;
        if (seen && !anybody && over_ns == 0) {
            over_ns = monotonic_ns();
            fmt::print("the last process has ended\n");
            std::fflush(stdout);
        }
        if (over_ns != 0 && (monotonic_ns() - over_ns > std::int64_t{kLastMs} * 1'000'000 ||
                             (!server.is_watched() && !server.is_busy())))
            return 0;
    }
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// What a trace has as numbers over time, for viewers that draw curves. Names and numbers of curves
// are for good: viewers keep settings by them.
#include "analysis.h"

#include <algorithm>
#include <cstring>

namespace sennit::report {

using namespace trace;

namespace {

constexpr int kReady = 1, kPolls = 2, kCompletions = 3, kWindows = 4, kRefusals = 5,
              kWaits = 10; // and the reason

// Of tasks that wait, by WaitReason; null: these are no tasks'.
constexpr const char *kWaiting[] = {nullptr,
                                    "tasks waiting for children",
                                    "tasks waiting for a taskgroup",
                                    "tasks waiting for dependences",
                                    nullptr,
                                    "tasks waiting for MPI or an event",
                                    "tasks waiting for their events",
                                    "tasks waiting for a lock",
                                    "tasks waiting for a time",
                                    "tasks waiting for their turn",
                                    "tasks waiting in libc"};
static_assert(std::size(kWaiting) == static_cast<std::size_t>(WaitReason::count));

class Curves {
  public:
    explicit Curves(const Process &process) : process_(process) {}

    std::vector<Curve> all() {
        add_counters();
        add_polls();
        add_level("ready tasks", kReady, process_.ready);
        for (std::size_t reason = 0; reason < std::size(kWaiting); ++reason)
            if (kWaiting[reason])
                add_waiting(static_cast<WaitReason>(reason), kWaiting[reason]);
        add_shortages();
        return std::move(curves_);
    }

  private:
    void add(Curve curve) {
        if (!curve.points.empty())
            curves_.push_back(std::move(curve));
    }

    // Those of a thread follow each other. What is no worker has no row in any viewer.
    template <class Record, class Value>
    void add_of_threads(const std::string &name, int number, const std::vector<Record> &records,
                        Value value) {
        for (auto first = records.begin(); first != records.end();) {
            const std::uint32_t thread = first->thread;
            const auto last = std::find_if(first, records.end(),
                                           [&](const Record &one) { return one.thread != thread; });
            Curve curve{name, number, thread, true, {}};
            for (; first != last; ++first)
                curve.points.push_back(value(*first));
            if (process_.threads[thread].row >= 0)
                add(std::move(curve));
        }
    }

    void add_counters() {
        const auto &names = process_.file.header.counters;
        for (std::size_t i = 0; i < std::size(names) && *names[i]; ++i)
            add_of_threads(
                {names[i], strnlen(names[i], sizeof names[i])}, 0, process_.counts,
                [&](const CountedSince &one) { return Curve::Point{one.at, one.values[i]}; });
    }

    void add_polls() {
        add_of_threads("rounds of polling", kPolls, process_.polls,
                       [](const Polled &one) { return Curve::Point{one.end, one.runs}; });
        add_of_threads("completions found by polling", kCompletions, process_.polls,
                       [](const Polled &one) { return Curve::Point{one.end, one.completions}; });
    }

    // `changes`: by time.
    void add_level(const std::string &name, int number, const std::vector<ReadyChange> &changes) {
        Curve curve{name, number, kNone, false, {}};
        std::int64_t level = 0;
        for (const ReadyChange &change : changes) {
            level += change.change;
            if (curve.points.empty() || curve.points.back().at != change.at)
                curve.points.push_back({change.at, 0});
            curve.points.back().value =
                static_cast<std::uint64_t>(std::max<std::int64_t>(0, level));
        }
        add(std::move(curve));
    }

    void add_waiting(WaitReason reason, const char *name) {
        std::vector<ReadyChange> changes;
        for (const WaitSpan &wait : process_.waits)
            if (wait.reason == reason && wait.task != 0) {
                changes.push_back({wait.begin, 1});
                changes.push_back({wait.end, -1});
            }
        std::ranges::sort(changes, {}, &ReadyChange::at);
        add_level(name, kWaits + static_cast<int>(reason), changes);
    }

    void add_shortages() {
        Curve windows{"creators that made too many tasks", kWindows, kNone, true, {}};
        for (const Ns at : process_.windows)
            windows.points.push_back({at, 1});
        std::ranges::sort(windows.points, {}, &Curve::Point::at);
        add(std::move(windows));
        Curve refusals{"stacks that were refused", kRefusals, kNone, true, {}};
        for (const Refusal &refusal : process_.refusals)
            refusals.points.push_back({refusal.at, 1});
        add(std::move(refusals));
    }

    const Process &process_;
    std::vector<Curve> curves_;
};

} // namespace

std::vector<Curve> curves_of(const Process &process) {
    return Curves(process).all();
}

} // namespace sennit::report

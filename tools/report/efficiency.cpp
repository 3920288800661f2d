// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace sennit::report {

using namespace trace;

bool is_mpi_call(const std::string &name) {
    return name.starts_with("MPI_") || name.starts_with("MPIX_") || name.starts_with("TAMPI_");
}

// ---- how threads spent their time --------------------------------------------------------------

namespace {

// Something begins (+1) or ends (-1).
enum class What : std::uint8_t { runs, in_mpi, ready, waits, region };
struct Change {
    Ns at;
    What what;
    std::uint32_t thread; // of runs and in_mpi
    std::int32_t by;
};

class Changes {
  public:
    Changes(const Process &process, Ns begin) : process_(process) {
        add_intervals(begin);
        add_calls();
        add_completions();
        for (const ReadyChange &change : process.ready)
            list_.push_back({change.at, What::ready, 0, change.change});
        for (const Part &one : process.parts)
            if (one.workers > 1)
                add(one.begin, one.end, What::region);
        std::stable_sort(list_.begin(), list_.end(),
                         [](const Change &a, const Change &b) { return a.at < b.at; });
    }
    const std::vector<Change> &list() const { return list_; }

  private:
    struct Piece {
        Ns begin, end;
        std::uint32_t thread;
    };

    void add(Ns begin, Ns end, What what, std::uint32_t thread = 0) {
        if (end <= begin)
            return;
        list_.push_back({begin, what, thread, 1});
        list_.push_back({end, what, thread, -1});
    }

    void add_program(Ns begin, Ns end, std::uint32_t thread) {
        add(begin, end, What::runs, thread);
        program_[thread].push_back({begin, end, thread});
    }

    void add_intervals(Ns window_begin) {
        in_task_.resize(process_.tasks.size());
        program_.resize(process_.threads.size());
        for (std::uint32_t i = 0; i < process_.threads.size(); ++i) {
            if (process_.threads[i].row < 0)
                continue;
            // A thread is known from its first event on. The initial one was in the program before.
            const std::vector<Interval> &known = process_.threads[i].intervals;
            if (process_.threads[i].row == 0 && !known.empty() && known[0].begin > window_begin)
                add_program(window_begin, known[0].begin, i);
            for (const Interval &one : known) {
                if (one.state == State::program)
                    add_program(one.begin, one.end, i);
                if (one.state != State::task)
                    continue;
                add(one.begin, one.end, What::runs, i);
                in_task_[one.task].push_back({one.begin, one.end, i});
            }
        }
        for (std::vector<Piece> &pieces : in_task_) // of several threads
            std::sort(pieces.begin(), pieces.end(),
                      [](const Piece &a, const Piece &b) { return a.begin < b.begin; });
    }

    bool is_mpi(std::uint64_t name) {
        const auto [at, fresh] = mpi_.try_emplace(name);
        if (fresh)
            at->second = is_mpi_call(process_.file.name_of(name));
        return at->second;
    }

    // A call holds its thread while its task, or the program, is on it. A task that waits for
    // messages is elsewhere for the rest of the call.
    void add_calls() {
        for (const Call &call : process_.calls) {
            if (call.post || !is_mpi(call.name))
                continue;
            const bool in_task = call.task != 0 && process_.tasks[call.task].ran();
            const std::vector<Piece> &pieces =
                in_task ? in_task_[call.task] : program_[call.thread];
            auto at = std::lower_bound(pieces.begin(), pieces.end(), call.begin,
                                       [](const Piece &one, Ns begin) { return one.end <= begin; });
            Ns left = call.begin; // the last piece's end
            for (; at != pieces.end() && at->begin < call.end; ++at) {
                const Ns begin = std::max(at->begin, call.begin);
                const Ns end = std::min(at->end, call.end);
                add(begin, end, What::in_mpi, at->thread);
                if (in_task)
                    add(left, begin, What::waits);
                left = std::max(left, end);
            }
            if (in_task)
                add(left, call.end, What::waits);
        }
    }

    // A task whose body has returned may still wait for what was bound to its completion.
    void add_completions() {
        std::vector<char> bound(process_.tasks.size());
        for (const Call &call : process_.calls)
            if (call.bound != 0 && is_mpi(call.name))
                bound[call.bound] = 1;
        for (std::size_t t = 1; t < bound.size(); ++t) {
            const Task &task = process_.tasks[t];
            if (bound[t] && task.ended != kNever)
                add(task.ended, std::min(task.completed, process_.end), What::waits);
        }
    }

    const Process &process_;
    std::vector<std::vector<Piece>> in_task_; // by task
    std::vector<std::vector<Piece>> program_; // by thread
    std::unordered_map<std::uint64_t, bool> mpi_;
    std::vector<Change> list_;
};

// What holds of a process from one change to the next.
class Replayed {
  public:
    Replayed(std::size_t rows, int threads) : rows_(rows) { now_.threads = threads; }

    void apply(const Change &change) {
        switch (change.what) {
        case What::runs:
        case What::in_mpi: {
            Row &row = rows_[change.thread];
            count(row, -1);
            (change.what == What::runs ? row.runs : row.in_mpi) += change.by;
            count(row, 1);
            return;
        }
        case What::ready:
            now_.ready += change.by;
            return;
        case What::waits:
            now_.waits += change.by;
            return;
        case What::region:
            now_.regions += change.by;
            return;
        }
    }
    Spent doing() const { return now_.doing(); }

  private:
    struct Row {
        int runs = 0, in_mpi = 0;
    };
    void count(const Row &row, int by) {
        if (row.runs > 0)
            (row.in_mpi > 0 ? now_.mpi : now_.useful) += by;
    }

    std::vector<Row> rows_;
    Moment now_;
};

} // namespace

SpentTime::SpentTime(const Process &process, Ns begin) {
    for (const ThreadModel &thread : process.threads)
        threads_ += thread.row >= 0 && !thread.intervals.empty() ? 1 : 0;
    Replayed moment(process.threads.size(), threads_);
    const Changes changes(process, begin);
    const std::vector<Change> &list = changes.list();
    const Ns first = list.empty() ? begin : std::min(begin, list.front().at);
    points_.push_back({first, {}, moment.doing()});
    for (std::size_t i = 0; i < list.size();) {
        const Ns now = list[i].at;
        for (; i < list.size() && list[i].at == now; ++i)
            moment.apply(list[i]);
        if (const Spent doing = moment.doing(); !(doing == points_.back().from))
            points_.push_back({now, until(now), doing});
    }
}

Spent SpentTime::until(Ns at) const {
    auto point = std::upper_bound(points_.begin(), points_.end(), at,
                                  [](Ns t, const Point &one) { return t < one.at; });
    if (point == points_.begin())
        return {};
    --point;
    Spent spent = point->before;
    return spent.add(point->from, at - point->at);
}

Spent SpentTime::between(Ns begin, Ns end) const {
    Spent spent = until(std::max(begin, end));
    spent -= until(begin);
    return spent;
}

// ---- the job, its ranks, phases and regions ----------------------------------------------------

namespace {

// What a name stands for, in each process.
struct Named {
    std::vector<Spent> spent;
    Ns all() const {
        Ns sum = 0;
        for (const Spent &one : spent)
            sum += one.total();
        return sum;
    }
};

class Measured {
  public:
    Measured(const Job &job, const Window &window) : job_(job), window_(window) {
        for (const Process &process : job.processes)
            times_.emplace_back(process, window.begin);
    }

    Efficiencies find() {
        Efficiencies found;
        Named whole = named();
        for (std::size_t p = 0; p < times_.size(); ++p) {
            whole.spent[p] = times_[p].between(window_.begin, window_.end);
            const std::string name = "rank " + std::to_string(job_.processes[p].rank);
            found.ranks.push_back({name, whole.spent[p], 1, whole.spent[p].mpi_part()});
        }
        found.job = efficiency_of("all", whole);
        std::map<std::string, Named> all_phases = phases();
        for (auto &[name, what] : all_phases)
            wait_for_the_longest(what);
        found.phases = sorted(all_phases);
        found.regions = sorted(regions());
        divide(found, whole);
        return found;
    }

  private:
    Named named() const { return {std::vector<Spent>(times_.size())}; }

    // Of a thread, outside of MPI.
    double outside_mpi(const Named &what, std::size_t p) const {
        return times_[p].threads() == 0
                   ? 0
                   : static_cast<double>(what.spent[p].outside_mpi()) / times_[p].threads();
    }

    Efficiency efficiency_of(const std::string &name, const Named &what) const {
        Efficiency result;
        result.name = name;
        double most = 0;
        int threads = 0;
        for (std::size_t p = 0; p < times_.size(); ++p) {
            result.spent += what.spent[p];
            threads += what.spent[p].total() > 0 ? times_[p].threads() : 0;
            most = std::max(most, outside_mpi(what, p));
        }
        const MpiFactors factors = mpi_factors(result.spent, most, threads);
        result.rank_balance = factors.rank_balance;
        result.communication = factors.communication;
        return result;
    }

    std::vector<Efficiency> sorted(const std::map<std::string, Named> &all) const {
        std::vector<std::pair<Ns, Efficiency>> order;
        order.reserve(all.size());
        for (const auto &[name, what] : all)
            order.emplace_back(what.all(), efficiency_of(name, what));
        std::stable_sort(order.begin(), order.end(),
                         [](const auto &a, const auto &b) { return a.first > b.first; });
        std::vector<Efficiency> result;
        result.reserve(order.size());
        for (auto &[all_time, one] : order)
            result.push_back(std::move(one));
        return result;
    }

    // Spans of the program's own, outside of tasks. Those of several threads at once are one.
    std::map<std::string, Named> phases() const {
        std::map<std::string, Named> found;
        for (std::size_t p = 0; p < times_.size(); ++p) {
            const Process &process = job_.processes[p];
            std::map<std::string, Ns> ends;
            for (const Call &call : process.calls) { // by begin
                if (call.post || (call.task != 0 && process.tasks[call.task].ran()))
                    continue;
                const std::string name = process.file.name_of(call.name);
                if (is_mpi_call(name))
                    continue;
                const Ns begin = std::max(call.begin, ends[name]);
                if (call.end <= begin)
                    continue;
                ends[name] = call.end;
                const auto at = found.try_emplace("phase " + name, named()).first;
                at->second.spent[p] += times_[p].between(begin, call.end);
            }
        }
        return found;
    }

    // A rank that is through a phase sooner than another one waits for it.
    void wait_for_the_longest(Named &what) const {
        Ns longest = 0; // of a thread
        for (std::size_t p = 0; p < times_.size(); ++p)
            if (times_[p].threads() > 0)
                longest = std::max(longest, what.spent[p].total() / times_[p].threads());
        for (std::size_t p = 0; p < times_.size(); ++p)
            if (const Ns total = what.spent[p].total(); total > 0)
                what.spent[p].mpi += longest * times_[p].threads() - total;
    }

    std::map<std::string, Named> regions() const {
        std::map<std::string, Named> found;
        for (std::size_t p = 0; p < times_.size(); ++p)
            for (const RegionRun &run : region_runs(job_.processes[p])) {
                if (run.workers < 2)
                    continue;
                const auto at =
                    found.try_emplace(region_name(job_.processes[p], run.function), named()).first;
                at->second.spent[p] += times_[p].between(run.begin, run.end);
            }
        return found;
    }

    void divide(Efficiencies &found, const Named &whole) const {
        std::vector<double> outside;
        outside.reserve(times_.size());
        for (std::size_t p = 0; p < times_.size(); ++p)
            outside.push_back(outside_mpi(whole, p));
        const IdealTime ideal = ideal_time(job_, window_, outside);
        found.undivided = ideal.why;
        if (ideal.length < 0)
            return;
        found.transfer =
            part_of(static_cast<double>(ideal.length), static_cast<double>(window_.length()));
        found.serialization = part_of(found.job.communication, *found.transfer);
    }

    const Job &job_;
    const Window window_;
    std::vector<SpentTime> times_;
};

} // namespace

Efficiencies efficiencies_of(const Job &job, const Window &window) {
    return Measured(job, window).find();
}

} // namespace sennit::report

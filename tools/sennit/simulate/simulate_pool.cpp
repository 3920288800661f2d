// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate_pool.h"

#include "common/failure.h"
#include "common/result_file.h"
#include "simulate/sweep.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace sennit::tool {
namespace {

using Json = nlohmann::ordered_json;
using sim::PoolProgram;
using sim::PoolResult;

constexpr int kMostSplits = 50'000;

std::string split_name(const std::vector<int> &split) {
    return fmt::format("split {}", fmt::join(split, "/"));
}

std::vector<std::string> policy_list(const std::string &text) {
    if (text == "all")
        return {node::policy_names().begin(), node::policy_names().end()};
    std::vector<std::string> names = split(text, ',');
    for (const std::string &name : names)
        if (!node::policy_of(name))
            fail("--policy '{}' is unknown: use some of {}, or all", name,
                 fmt::join(node::policy_names(), ", "));
    return names;
}

} // namespace

SimulatePool::SimulatePool(CLI::App &simulate)
    : app_(simulate.add_subcommand("pool", "several programs that share the cores of one node")) {
    app_->add_option("--program", programs_,
                     "bt.A, lu.C, ft.C, mg.C (all four by default), or NAME:work=20,ranks=4,...; "
                     "again for each program");
    app_->add_option(
            "--policy", policies_,
            fmt::format("comma-separated, of {} or all", fmt::join(node::policy_names(), ", ")))
        ->capture_default_str();
    app_->add_option("--split", splits_,
                     "12/36: so many cores for each program, for good; again for other splits");
    app_->add_option("--splits", step_, "all splits whose numbers are multiples of this")
        ->check(CLI::Range(1, 1024));
    app_->add_option("--cores", node_.cores, "of the node")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    app_->add_option("--domains", node_.domains, "of its memory (NUMA)")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app_->add_option("--point", point_us_, "between two scheduling points of a thread (us)")
        ->capture_default_str()
        ->check(CLI::Range(1., 1e9))
        ->check(refuse_no_number);
    app_->add_option("--move", move_us_, "cost of a core's move to another rank (us)")
        ->capture_default_str()
        ->check(CLI::Range(0., 1e9))
        ->check(refuse_no_number);
    app_->add_option("--json", json_, "write the results to this file; - is stdout");
}

std::vector<PoolProgram> SimulatePool::read_programs() const {
    std::vector<PoolProgram> programs;
    for (const std::string &text : programs_.empty() ? sim::paper_programs() : programs_)
        programs.push_back(sim::parse_pool_program(text));
    if (std::all_of(programs.begin(), programs.end(),
                    [](const PoolProgram &one) { return one.leftover; }))
        fail("all programs are services (leftover=1): nothing tells when to end");
    if (static_cast<int>(programs.size()) > node_.cores)
        fail("there are more programs ({}) than cores ({})", programs.size(), node_.cores);
    return programs;
}

std::vector<int> SimulatePool::read_split(const std::string &text, std::size_t programs) const {
    std::vector<int> cores;
    for (const std::string &one : split(text, '/'))
        cores.push_back(parse_whole("--split " + text, one, 1, node_.cores));
    if (cores.size() != programs)
        fail("--split {} is for {} programs, there are {}", text, cores.size(), programs);
    if (std::accumulate(cores.begin(), cores.end(), 0) > node_.cores)
        fail("--split {}: there are {} cores only", text, node_.cores);
    return cores;
}

// Every split of all cores in steps: the fastest, the slowest, the one in the middle, and for each
// number of cores of the program with the most work the fastest.
std::vector<SimulatePool::Row>
SimulatePool::simulate_splits(const std::vector<PoolProgram> &programs) const {
    std::vector<std::vector<int>> all;
    std::vector<int> now(programs.size());
    const std::function<void(std::size_t, int)> place = [&](std::size_t one, int left) {
        if (one + 1 == now.size()) {
            now[one] = left;
            all.push_back(now);
            if (all.size() > kMostSplits)
                fail("--splits {}: these are more than {} splits", step_, kMostSplits);
            return;
        }
        const int others = static_cast<int>(now.size() - one) - 1;
        for (now[one] = step_; now[one] <= left - others * step_; now[one] += step_)
            place(one + 1, left - now[one]);
    };
    place(0, node_.cores);
    if (all.empty())
        fail("--splits {}: {} programs with {} cores each at least are more than {} cores", step_,
             now.size(), step_, node_.cores);
    std::vector<Row> rows;
    rows.reserve(all.size());
    for (const std::vector<int> &one : all)
        rows.push_back({split_name(one),
                        sim::simulate_pool(node_, programs, *node::policy_of("static"), one)});
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return rows[a].result.makespan_s < rows[b].result.makespan_s;
    });
    const auto longest = std::max_element(programs.begin(), programs.end(),
                                          [](const PoolProgram &a, const PoolProgram &b) {
                                              return a.work_s() < b.work_s();
                                          }) -
                         programs.begin();
    std::vector<Row> shown;
    for (int cores = step_; cores < node_.cores; cores += step_) {
        const auto best = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
            return all[i][static_cast<std::size_t>(longest)] == cores;
        });
        if (best != order.end())
            shown.push_back(rows[*best]);
    }
    const auto add = [&](const char *what, std::size_t i) {
        shown.push_back({fmt::format("{} {}", what, rows[i].name), rows[i].result});
    };
    add("fastest", order.front());
    add("median", order[order.size() / 2]);
    add("slowest", order.back());
    return shown;
}

double SimulatePool::ideal_s(const std::vector<PoolProgram> &programs) const {
    double work = 0;
    for (const PoolProgram &one : programs)
        work += one.leftover ? 0 : one.work_s();
    return work / node_.cores;
}

void SimulatePool::print(const std::vector<PoolProgram> &programs, const std::vector<Row> &rows,
                         double alone_s) const {
    const double ideal = ideal_s(programs);
    std::size_t width = 20;
    for (const Row &row : rows)
        width = std::max(width, row.name.size());
    fmt::print("{:<{}}{:>11}{:>8}{:>10}{:>7}{:>7}{:>9}  ", "", width, "makespan s", "/ideal",
               "/in turn", "used", "lent", "moves");
    for (const PoolProgram &one : programs)
        fmt::print(" {:>8}", one.name);
    fmt::print("\n{:<{}}{:>11.3f}{:>8.3f}{:>10.3f}\n", "one after the other", width, alone_s,
               alone_s / ideal, 1.);
    for (const Row &row : rows) {
        const PoolResult &result = row.result;
        fmt::print("{:<{}}{:>11.3f}{:>8.3f}{:>10.3f}{:>7.1f}{:>7.1f}{:>9}  ", row.name, width,
                   result.makespan_s, result.makespan_s / ideal, result.makespan_s / alone_s,
                   result.used, result.lent, result.moves);
        for (std::size_t i = 0; i < programs.size(); ++i)
            if (programs[i].leftover)
                fmt::print(" {:>8}", "-");
            else
                fmt::print(" {:>8.3f}", result.end_s[i]);
        fmt::print("\n");
    }
    fmt::print("\nideal: all work / all cores = {:.3f} s. used, lent: cores in the mean, lent ones "
               "not by their owner. The last columns: when each program ends.\n",
               ideal);
}

std::string SimulatePool::to_json(const std::vector<PoolProgram> &programs,
                                  const std::vector<Row> &rows, double alone_s) const {
    Json document;
    document["cores"] = node_.cores;
    document["ideal_s"] = ideal_s(programs);
    document["one_after_the_other_s"] = alone_s;
    for (const PoolProgram &one : programs) {
        Json entry;
        entry["name"] = one.name;
        entry["work_s"] = one.work_s();
        for (int cores = 1; cores <= node_.cores; ++cores)
            entry["time_s"].push_back(one.time_s(cores));
        document["programs"].push_back(std::move(entry));
    }
    document["results"] = Json::array();
    for (const Row &row : rows) {
        Json entry;
        entry["policy"] = row.name;
        entry["makespan_s"] = row.result.makespan_s;
        entry["end_s"] = row.result.end_s;
        entry["used"] = row.result.used;
        entry["lent"] = row.result.lent;
        entry["moves"] = row.result.moves;
        document["results"].push_back(std::move(entry));
    }
    return json_text(document);
}

int SimulatePool::run() {
    node_.point_s = point_us_ * 1e-6;
    node_.move_s = move_us_ * 1e-6;
    const std::vector<PoolProgram> programs = read_programs();
    const std::vector<std::string> names = policy_list(policies_);
    std::vector<std::vector<int>> splits;
    splits.reserve(splits_.size());
    for (const std::string &text : splits_)
        splits.push_back(read_split(text, programs.size()));
    std::vector<Row> rows;
    if (step_ > 0)
        rows = simulate_splits(programs);
    for (const std::vector<int> &one : splits)
        rows.push_back({split_name(one),
                        sim::simulate_pool(node_, programs, *node::policy_of("static"), one)});
    for (const std::string &name : names)
        rows.push_back({name, sim::simulate_pool(node_, programs, *node::policy_of(name))});
    const double alone_s = sim::one_after_the_other_s(node_, programs);
    if (json_ != "-")
        print(programs, rows, alone_s);
    write_result(json_, to_json(programs, rows, alone_s));
    return 0;
}

} // namespace sennit::tool

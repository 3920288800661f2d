// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.h"

#include "common/command_text.h"
#include "common/failure.h"
#include "common/installation.h"
#include "common/result_file.h"
#include "common/standard_output.h"
#include "report.h"
#include "sim/cholesky.h"
#include "sim/gauss_seidel.h"
#include "sim/replay.h"
#include "sim/simulation.h"
#include "sim/trace_writer.h"
#include "simulate/advise.h"
#include "simulate/machine_options.h"
#include "simulate/progress_bar.h"
#include "simulate/simulate_front.h"
#include "simulate/simulate_pool.h"
#include "simulate/sweep.h"

#include "base/printable.h"
#include "trace/replay.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <unistd.h>
#include <variant>

namespace sennit::tool {
namespace {

using sim::Machine;
using sim::Result;
using Json = nlohmann::ordered_json;

double seconds(sim::Time time) {
    return static_cast<double>(time) * 1e-9;
}

struct Row {
    std::vector<double> swept;
    std::string policy;
    Result result;
    double path = 0;  // seconds, 0: not known
    double spent = 0; // processor time of the simulation
};

// Of a trace without tasks all is 0.
double part(double of, double whole) {
    return whole > 0 ? of / whole : 0;
}

double bound_of(const Row &row) {
    return std::max({row.path, row.result.busiest_rank, row.result.busiest_card});
}

std::string count_text(std::uint64_t count) {
    if (count < 1000)
        return fmt::format("{}", count);
    return fmt::format("{},{:03}", count_text(count / 1000), count % 1000);
}

} // namespace

struct Simulate::State {
    CLI::App *app = nullptr;
    CLI::App *cholesky = nullptr;
    CLI::App *gauss_seidel = nullptr;
    CLI::App *trace = nullptr;
    std::unique_ptr<SimulatePool> pool;
    std::unique_ptr<SimulateFront> front;

    std::string unknown; // what is given in place of a workload
    std::string folder;
    std::shared_ptr<const sim::Replay> replay;
    Machine machine;
    sim::CholeskyOptions cholesky_options;
    sim::GaussSeidelOptions gauss_seidel_options;
    std::string policies = "fifo,sa,fa", order = "auto", json, csv, html, weak, traces,
                network = "loggp", variant = "interop-blocking", version = "interop-blk";
    struct Traced {
        std::string title;
        std::filesystem::path folder;
    };
    std::vector<Traced> traced;
    std::vector<std::string> sweeps;
    std::uint64_t seed = 1;
    sim::MakeFabric *fabric = nullptr;
    bool quiet = false, no_path = false, own_buffers = false;

    void add_options(CLI::App &command) {
        command
            .add_option(
                "--policy", policies,
                fmt::format("comma-separated, of {} or all", fmt::join(sim::known_choices(), ", ")))
            ->capture_default_str();
        command
            .add_option("--order", order, "age of equals: auto, creation or ready (SENNIT_ORDER)")
            ->capture_default_str();
        command.add_option(
            "--sweep", sweeps,
            "NAME=1,2,4 or NAME=1..64*2 or NAME=1..9+2: every value of an option; several "
            "make all combinations");
        command.add_option("--seed", seed, "of --noise")->capture_default_str();
        command.add_option("--json", json, "write the results to this file; - is stdout");
        command.add_option("--csv", csv, "the same as comma-separated values");
        command.add_option(
            "--trace", traces,
            "DIR: write what was simulated as a trace, for sennit report; of several runs, "
            "each into a folder in there");
        command.add_option("--html", html,
                           "write a page with the timelines of all runs, as sennit report does");
        command
            .add_option("--network", network,
                        "loggp; or simgrid: links that messages share, as SimGrid models them")
            ->capture_default_str()
            ->group("Machine");
        command
            .add_option("--platform", machine.platform,
                        "FILE: SimGrid's description of the network, a host for each card")
            ->group("Machine");
        command.add_flag("--no-path", no_path, "do not look for the critical path (twice as fast)");
        command.add_flag("--quiet", quiet, "no progress bar");
        add_machine_options(command, machine);
    }

    // The numbers of the workload; those of the machine are rows of a table of their own.
    std::map<std::string, std::variant<int *, double *>> numbers() {
        if (*cholesky)
            return {{"n", &cholesky_options.n},
                    {"block", &cholesky_options.block},
                    {"grid-rows", &cholesky_options.rows},
                    {"gflops", &cholesky_options.gflops},
                    {"trsm", &cholesky_options.trsm},
                    {"syrk", &cholesky_options.syrk},
                    {"potrf", &cholesky_options.potrf}};
        if (*gauss_seidel)
            return {{"cells", &gauss_seidel_options.cells},
                    {"block", &gauss_seidel_options.block},
                    {"iterations", &gauss_seidel_options.iterations},
                    {"cell-ns", &gauss_seidel_options.cell_ns}};
        return {};
    }
    void set(const std::string &name, double value) {
        if (const sim::Parameter *parameter = sim::find_parameter(name)) {
            machine.*parameter->field = value;
            return;
        }
        const auto known = numbers();
        const auto found = known.find(name);
        if (found == known.end())
            fail("--sweep {}: there is no such number; see sennit simulate --help-all", name);
        if (double *const *field = std::get_if<double *>(&found->second)) {
            **field = value;
            return;
        }
        if (value != std::floor(value) || std::abs(value) > 1e9)
            fail("--sweep {}={:g} is not a whole number", name, value);
        *std::get<int *>(found->second) = static_cast<int>(value);
    }

    std::shared_ptr<const sim::Workload> workload() const {
        if (replay)
            return replay;
        if (*gauss_seidel) {
            sim::GaussSeidelOptions options = gauss_seidel_options;
            options.version = sim::find_seidel_version(version);
            if (!sim::has_tasks(options.version) && machine.thread_count() != 1)
                fail("--version {} is MPI alone, a rank for each core: give --threads 1", version);
            return std::make_shared<sim::GaussSeidel>(options, machine.rank_count());
        }
        sim::CholeskyOptions options = cholesky_options;
        options.reuse = !own_buffers;
        options.exchange = variant == "detach"     ? sim::Part::detached
                           : variant == "blocking" ? sim::Part::undeferred
                                                   : sim::Part::whole;
        return std::make_shared<sim::Cholesky>(options, machine.rank_count());
    }

    std::vector<std::string> policy_names() const {
        return policies == "all" ? sim::known_choices() : split(policies, ',');
    }
    std::size_t count_runs(const std::vector<Sweep> &lists) const {
        std::size_t count = policy_names().size();
        for (const Sweep &list : lists)
            count *= list.values.size();
        return count;
    }
    std::string workload_name() const {
        return replay ? "trace" : *cholesky ? "cholesky" : "gauss-seidel";
    }
    std::vector<Row> simulate_all(const std::vector<Sweep> &lists);
    void simulate_one(const std::vector<Sweep> &lists, const std::vector<double> &swept,
                      std::vector<Row> &rows, ProgressBar &bar);
    std::unique_ptr<sim::TraceWriter> trace_writer(const std::vector<Sweep> &lists,
                                                   const std::vector<double> &swept,
                                                   const std::string &policy,
                                                   const sim::Workload &work);
    int order_for_same_work(int ranks) const;
    void refuse_too_many_threads() const;
    void refuse_variant() const;
    void write_html() const;
    void print(const std::vector<Sweep> &lists, const std::vector<Row> &rows) const;
    Json to_json(const std::vector<Sweep> &lists, const std::vector<Row> &rows) const;
    std::string to_csv(const std::vector<Sweep> &lists, const std::vector<Row> &rows) const;
};

Simulate::Simulate(CLI::App &app, sim::MakeFabric *fabric) : state_(std::make_unique<State>()) {
    State &state = *state_;
    state.fabric = fabric;
    state.app = app.add_subcommand(
        "simulate", "what a policy, more ranks or another network would do, on a virtual machine");
    state.app->require_subcommand(0, 1); // refuse_without_workload() says it
    state.app->add_option("what", state.unknown)->group("");

    state.cholesky = state.app->add_subcommand("cholesky", "a distributed blocked factorization");
    auto &cholesky = state.cholesky_options;
    state.cholesky->add_option("--n", cholesky.n, "order of the matrix")->capture_default_str();
    state.cholesky->add_option("--block", cholesky.block, "of a tile")->capture_default_str();
    state.cholesky
        ->add_option("--grid-rows", cholesky.rows, "rows of the grid of ranks; 0: near the root")
        ->capture_default_str();
    state.cholesky->add_option("--gflops", cholesky.gflops, "of a core in dgemm")
        ->capture_default_str();
    state.cholesky->add_option("--trsm", cholesky.trsm, "its speed, as a share of that")
        ->capture_default_str();
    state.cholesky->add_option("--syrk", cholesky.syrk, "its speed, as a share of that")
        ->capture_default_str();
    state.cholesky->add_option("--potrf", cholesky.potrf, "its speed, as a share of that")
        ->capture_default_str();
    state.cholesky->add_flag("--own-buffers", state.own_buffers,
                             "a receive buffer for each tile, not for each row");
    state.cholesky
        ->add_option("--variant", state.variant,
                     "how data is exchanged, as in apps/cholesky: interop-blocking, detach, or "
                     "blocking: by the thread that creates the tasks")
        ->check(CLI::IsMember({"interop-blocking", "detach", "blocking"}))
        ->capture_default_str();
    state.cholesky->add_option("--weak", state.weak,
                               "RANKS: --n is for so many; others get the same work each");
    state.add_options(*state.cholesky);

    state.gauss_seidel = state.app->add_subcommand("gauss-seidel", "an iterative solver in blocks");
    auto &seidel = state.gauss_seidel_options;
    state.gauss_seidel->add_option("--cells", seidel.cells, "in a row")->capture_default_str();
    state.gauss_seidel->add_option("--block", seidel.block, "cells in a block's row")
        ->capture_default_str();
    state.gauss_seidel->add_option("--iterations", seidel.iterations)->capture_default_str();
    state.gauss_seidel->add_option("--cell-ns", seidel.cell_ns, "a core's time for a cell")
        ->capture_default_str();
    state.gauss_seidel
        ->add_option("--version", state.version,
                     "as in apps/gauss-seidel: pure or nbuffer: MPI alone, with --threads 1; "
                     "forkjoin, sentinel, interop-blk or detach, which is also interop-nonblk")
        ->check(CLI::IsMember(sim::seidel_versions()))
        ->capture_default_str();
    state.gauss_seidel->add_flag_callback(
        "--sentinel", [&state] { state.version = "sentinel"; }, "the same as --version sentinel");
    state.add_options(*state.gauss_seidel);

    state.trace = state.app->add_subcommand(
        "trace", "what `sennit run --trace` recorded, on another machine or under another policy");
    state.trace->add_option("folder", state.folder)->required();
    state.add_options(*state.trace);
    state.pool = std::make_unique<SimulatePool>(*state.app);
    state.front = std::make_unique<SimulateFront>(*state.app);
}

Simulate::~Simulate() = default;

bool Simulate::chosen() const {
    return state_->app->parsed();
}

// --weak: each of `ranks` has the work that each of those has for which --n is.
int Simulate::State::order_for_same_work(int ranks) const {
    constexpr int kMostRanks = 1'000'000;
    const int of = parse_whole("--weak", weak, 1, kMostRanks);
    return static_cast<int>(std::min<long>(
        std::lround(cholesky_options.n * std::cbrt(static_cast<double>(ranks) / of)), INT_MAX));
}

// The recorder knows messages that a task waits for in MPI, or that another one completes.
void Simulate::State::refuse_variant() const {
    const char *const asked = html.empty() ? "--trace" : "--html";
    if (*cholesky && variant != "interop-blocking")
        fail("{} is for --variant interop-blocking, this is {}: leave one of them out", asked,
             variant);
    if (*gauss_seidel && version != "interop-blk" && version != "sentinel")
        fail("{} is for --version interop-blk or sentinel, this is {}: leave one of them out",
             asked, version);
}

void Simulate::State::refuse_too_many_threads() const {
    constexpr double kMostThreads = 16384; // 128 KiB each, in memory and in files
    if (machine.ranks * machine.threads > kMostThreads)
        fail("{} is for at most {:g} threads, these are {:g}", html.empty() ? "--trace" : "--html",
             kMostThreads, machine.ranks * machine.threads);
}

// The only run's is in the folder itself, others are in ranks=4-fifo and the like in there.
std::unique_ptr<sim::TraceWriter> Simulate::State::trace_writer(const std::vector<Sweep> &lists,
                                                                const std::vector<double> &swept,
                                                                const std::string &policy,
                                                                const sim::Workload &work) {
    if (traces.empty())
        return nullptr;
    std::string name;
    bool only = policy_names().size() == 1;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        name += fmt::format("{}={:g}-", lists[i].name, swept[i]);
        only &= lists[i].values.size() == 1;
    }
    const std::filesystem::path all(traces), folder = only ? all : all / (name + policy);
    traced.push_back({name + policy, folder});
    return std::make_unique<sim::TraceWriter>(
        folder, machine,
        sim::TraceWriter::About{fmt::format("sennit simulate {}", workload_name()), policy,
                                work.functions()});
}

void Simulate::State::simulate_one(const std::vector<Sweep> &lists,
                                   const std::vector<double> &swept, std::vector<Row> &rows,
                                   ProgressBar &bar) {
    const std::string fault = sim::fault_of(machine);
    if (!fault.empty())
        fail("{}", fault);
    const int given_n = cholesky_options.n;
    if (!weak.empty() && *cholesky)
        cholesky_options.n = order_for_same_work(machine.rank_count());
    if (!traces.empty()) {
        refuse_too_many_threads();
        refuse_variant();
    }
    const std::shared_ptr<const sim::Workload> work = workload();
    cholesky_options.n = given_n;
    double path = 0;
    for (const std::string &name : policy_names()) {
        sim::Setting setting;
        setting.machine = machine;
        setting.choice = sim::parse_choice(name, order);
        setting.seed = seed;
        setting.make_fabric = fabric;
        setting.progress = [&](const sim::Progress &progress) { bar.show(progress); };
        constexpr std::uint64_t kMostForPath = 20'000'000; // it has all tasks in memory at once
        const bool bounded = machine.network == sim::Network::loggp && !no_path;
        if (path == 0 && bounded && work->task_count() < kMostForPath) {
            bar.begin("critical path");
            path = seconds(sim::critical_path(*work, setting));
        }
        bar.begin(fmt::format("{} of {}: {} ranks, {}", rows.size() + 1, count_runs(lists),
                              machine.rank_count(), name));
        const std::unique_ptr<sim::TraceWriter> writer = trace_writer(lists, swept, name, *work);
        setting.recorder = writer.get();
        const std::clock_t began = std::clock();
        Row row{swept, name, sim::simulate(*work, setting), path, 0};
        row.spent = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        if (writer)
            writer->finish(row.result.time);
        rows.push_back(std::move(row));
    }
}

std::vector<Row> Simulate::State::simulate_all(const std::vector<Sweep> &lists) {
    std::vector<Row> rows;
    ProgressBar bar(!quiet && isatty(STDERR_FILENO));
    std::vector<std::size_t> at(lists.size());
    for (;;) {
        std::vector<double> swept;
        for (std::size_t i = 0; i < lists.size(); ++i) {
            swept.push_back(lists[i].values[at[i]]);
            set(lists[i].name, swept.back());
        }
        simulate_one(lists, swept, rows, bar);
        std::size_t i = lists.size();
        while (i > 0 && ++at[i - 1] == lists[i - 1].values.size())
            at[--i] = 0;
        if (i == 0)
            return rows;
    }
}

void Simulate::State::write_html() const {
    std::vector<report::Titled> runs;
    runs.reserve(traced.size());
    for (const Traced &one : traced)
        runs.push_back({one.title, trace::read_job(one.folder), {}});
    for (report::Titled &run : runs)
        run.found = report::Findings(run.job);
    report::write_page(runs, html);
}

void Simulate::State::print(const std::vector<Sweep> &lists, const std::vector<Row> &rows) const {
    for (const Sweep &list : lists)
        fmt::print("{:>12} ", list.name);
    fmt::print("{:<7}{:>11}{:>8}{:>9}{:>9}{:>9}{:>11}{:>11}{:>11}{:>8}\n", "policy", "time s",
               "vs 1st", "in task", "overhead", "idle", "path s", "busiest s", "card s", "/bound");
    double first = 0;
    const std::string first_policy = rows.empty() ? "" : rows[0].policy;
    for (const Row &row : rows) {
        const Result &result = row.result;
        const double all = result.in_task + result.overhead + result.idle;
        const double time = seconds(result.time);
        if (row.policy == first_policy)
            first = time;
        for (const double value : row.swept)
            fmt::print("{:>12g} ", value);
        fmt::print(
            "{:<7}{:>11.4f}{:>+7.1f}%{:>8.1f}%{:>8.1f}%{:>8.1f}%{:>11}{:>11.4f}{:>11.4f}{:>8.3f}\n",
            row.policy, time, 100 * part(time - first, first), 100 * part(result.in_task, all),
            100 * part(result.overhead, all), 100 * part(result.idle, all),
            row.path > 0 ? fmt::format("{:.4f}", row.path) : "-", result.busiest_rank,
            result.busiest_card, part(time, bound_of(row)));
    }
    double spent = 0, tasks = 0;
    for (const Row &row : rows) {
        spent += row.spent;
        tasks += static_cast<double>(row.result.tasks);
    }
    if (rows.empty())
        return;
    const Result &last = rows.back().result;
    fmt::print("\n{} tasks ({} compute, {} send, {} receive), {} suspended, {:.2f} GB in messages; "
               "at most {} unfinished in a rank\n",
               count_text(last.tasks), count_text(last.compute), count_text(last.sends),
               count_text(last.receives), count_text(last.suspended),
               static_cast<double>(last.bytes) * 1e-9, count_text(last.most_unfinished));
    fmt::print(
        "in task, overhead, idle: shares of all threads' time. path: no schedule is shorter. "
        "busiest: work of the busiest rank / its threads. card: messages of the busiest network "
        "card. "
        "/bound: time / the largest of the three.\n");
    fmt::print("simulated {:.2f} million tasks per second of processor time\n",
               spent > 0 ? tasks / spent * 1e-6 : 0);
}

Json Simulate::State::to_json(const std::vector<Sweep> &lists, const std::vector<Row> &rows) const {
    Json document;
    document["workload"] = workload_name();
    if (*cholesky) {
        document["options"] = {{"n", cholesky_options.n},
                               {"block", cholesky_options.block},
                               {"gflops", cholesky_options.gflops},
                               {"variant", variant},
                               {"own_buffers", own_buffers}};
    } else if (replay) {
        document["options"] = {{"trace", folder},
                               {"recorded_s", replay->recorded_seconds()},
                               {"recorded_tasks", replay->tasks()},
                               {"recorded_messages", replay->messages()},
                               {"notes", replay->notes()}};
    } else {
        document["options"] = {{"cells", gauss_seidel_options.cells},
                               {"block", gauss_seidel_options.block},
                               {"iterations", gauss_seidel_options.iterations},
                               {"cell_ns", gauss_seidel_options.cell_ns},
                               {"version", version}};
    }
    document["network"] = network;
    if (!machine.platform.empty())
        document["platform"] = machine.platform;
    document["seed"] = seed;
    document["order"] = order;
    for (const sim::Parameter &parameter : sim::parameters())
        document["machine"][std::string(parameter.name)] = machine.*parameter.field;
    document["results"] = Json::array();
    for (const Row &row : rows) {
        const Result &r = row.result;
        Json entry;
        for (std::size_t i = 0; i < lists.size(); ++i)
            entry["sweep"][lists[i].name] = row.swept[i];
        entry["policy"] = row.policy;
        entry["time_s"] = seconds(r.time);
        entry["in_task_s"] = r.in_task;
        entry["overhead_s"] = r.overhead;
        entry["idle_s"] = r.idle;
        entry["idle_of_rank_s"] = r.idle_of;
        if (row.path > 0)
            entry["critical_path_s"] = row.path;
        entry["busiest_rank_s"] = r.busiest_rank;
        entry["busiest_card_s"] = r.busiest_card;
        entry["mean_work_s"] = r.mean_work;
        entry["tasks"] = r.tasks;
        entry["compute"] = r.compute;
        entry["sends"] = r.sends;
        entry["receives"] = r.receives;
        entry["suspended"] = r.suspended;
        entry["bytes"] = r.bytes;
        entry["raises"] = r.raises;
        entry["passes"] = r.passes;
        entry["most_unfinished"] = r.most_unfinished;
        entry["schedule"] = fmt::format("{:016x}", r.checksum);
        document["results"].push_back(std::move(entry));
    }
    return document;
}

std::string Simulate::State::to_csv(const std::vector<Sweep> &lists,
                                    const std::vector<Row> &rows) const {
    std::string text;
    for (const Sweep &list : lists)
        text += fmt::format("{},", list.name);
    text += "policy,time_s,in_task_s,overhead_s,idle_s,critical_path_s,busiest_rank_s,busiest_card_"
            "s,tasks,sends\n";
    for (const Row &row : rows) {
        for (const double value : row.swept)
            text += fmt::format("{:g},", value);
        const Result &r = row.result;
        text += fmt::format("{},{:.9f},{:.6f},{:.6f},{:.6f},{:.9f},{:.9f},{:.9f},{},{}\n",
                            row.policy, seconds(r.time), r.in_task, r.overhead, r.idle, row.path,
                            r.busiest_rank, r.busiest_card, r.tasks, r.sends);
    }
    return text;
}

namespace {

// Of the programs in lib/, this one lies beside us.
[[noreturn]] void go_on_with_simgrid(char **arguments) {
    const std::string program =
        std::filesystem::path(own_executable()).replace_filename("sennit-simgrid");
    execv(program.c_str(), arguments);
    if (errno == ENOENT)
        fail("this Sennit was built without SimGrid: install libsimgrid-dev, configure and build "
             "again, or use --network loggp");
    fail("{} cannot be started: {}", program, std::strerror(errno));
}

[[noreturn]] void refuse_without_workload(const std::string &given) {
    if (std::filesystem::is_directory(given))
        fail("what was recorded in a folder is simulated by: sennit simulate trace {}", given);
    const std::string what =
        given.empty() ? "simulate what?" : fmt::format("'{}' is unknown:", given);
    fail("{} use cholesky, gauss-seidel, trace FOLDER, pool or front", what);
}

} // namespace

int Simulate::run(char **arguments) {
    State &state = *state_;
    if (state.pool->chosen())
        return state.pool->run();
    if (state.front->chosen())
        return state.front->run();
    if (state.app->get_subcommands().empty())
        refuse_without_workload(state.unknown);
    if (state.network == "simgrid")
        state.machine.network = sim::Network::simgrid;
    else if (state.network != "loggp")
        fail("--network '{}' is unknown: use loggp or simgrid", state.network);
    if (state.machine.network == sim::Network::simgrid && !state.fabric)
        go_on_with_simgrid(arguments);
    std::vector<Sweep> lists;
    lists.reserve(state.sweeps.size());
    for (const std::string &text : state.sweeps)
        lists.push_back(parse_sweep(text));
    for (const std::string &name : state.policy_names()) // before the first has run
        sim::parse_choice(name, state.order);
    const bool talks = state.json != "-" && state.csv != "-";
    if (*state.trace) {
        state.replay = std::make_shared<sim::Replay>(state.folder);
        const int ranks = state.replay->ranks();
        if (state.trace->count("--ranks") && state.machine.rank_count() != ranks)
            fail("the trace has {} ranks: --ranks cannot be another number", ranks);
        for (const Sweep &list : lists)
            if (list.name == "ranks")
                fail("the trace has {} ranks: they cannot be swept", ranks);
        state.machine.ranks = ranks;
        if (!state.trace->count("--threads"))
            state.machine.threads = state.replay->threads();
        for (const std::string &note : state.replay->notes())
            fmt::print(stderr, "sennit: note: {}\n", printable(note));
        if (talks)
            fmt::print("{}: {} ranks, {} threads, {} tasks, {} messages between them, {:.4f} s "
                       "from the first "
                       "task to the last\n",
                       state.folder, ranks, state.replay->threads(),
                       count_text(state.replay->tasks()), count_text(state.replay->messages()),
                       state.replay->recorded_seconds());
    }
    std::optional<ScratchFolder> scratch; // for traces that only --html needs
    if (!state.html.empty() && state.traces.empty())
        state.traces = scratch.emplace().path();
    const std::vector<Row> rows = state.simulate_all(lists);
    if (!state.html.empty())
        state.write_html();
    if (talks)
        state.print(lists, rows);
    if (!state.json.empty())
        write_result(state.json, json_text(state.to_json(lists, rows)));
    if (!state.csv.empty())
        write_result(state.csv, state.to_csv(lists, rows));
    return 0;
}

int simulator_main(int count, char **arguments, sim::MakeFabric *fabric) {
    hold_standard_numbers();
    signal(SIGXFSZ, SIG_IGN); // the call that makes a file too long says so
    try {
        CLI::App app("", "sennit");
        app.set_help_all_flag("--help-all", "help of every workload");
        Simulate simulate(app, fabric);
        Advise advise(app);
        if (std::string_view(count > 1 ? arguments[1] : "") == "describe") { // man simulate
            print_man(commands_of(app), count > 3 ? arguments[3] : "simulate");
            return after_output(0);
        }
        try {
            app.parse(count, arguments);
        } catch (const CLI::Success &success) {
            return after_output(app.exit(success)); // help
        } catch (const CLI::ParseError &error) {
            fail("{}: see sennit {} --help-all", error.what(),
                 advise.chosen() ? "advise" : "simulate");
        }
        return after_output(advise.chosen() ? advise.run() : simulate.run(arguments));
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "sennit: %s\n", printable(error.what(), Lines::many).c_str());
        return refused;
    }
}

} // namespace sennit::tool

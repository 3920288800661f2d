// SPDX-License-Identifier: Apache-2.0
#include "simulate/advise.h"

#include "analysis.h"
#include "common/failure.h"
#include "common/result_file.h"
#include "report.h"
#include "sim/replay.h"
#include "sim/simulation.h"
#include "sim/trace_writer.h"
#include "simulate/machine_options.h"
#include "trace/replay.h"

#include "base/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace sennit::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostAdvice = 3;
constexpr double kWorthAdvice = 0.01;   // of the run's time
constexpr int kRepeats = 5;             // of each run, with other chances
constexpr double kChance = 0.03;        // a task takes longer or shorter by up to this share
constexpr double kFaithful = 0.05;      // the replay is as far from the recorded time at most
constexpr double kStillUseful = 0.15;   //
constexpr double kUnknown = 1;          // as far off as twice the time
constexpr std::size_t kLargerTasks = 4; // times

// What is simulated: the unchanged run, or one with a change.
struct Trial {
    std::shared_ptr<const sim::Replay> work;
    sim::Machine machine;
    std::string policy;
    std::string order = "auto";
};

enum class Takes { setting, change_of_code, other_machine };

// Changes that do not add up, because they gain from the same: one of them is advice.
enum class Family { order, order_of_equals, window, machine, last_calls, buffers, balance, size };

struct Change {
    Family family;
    std::string what;  // a few words
    std::string how;   // what to type or to write
    std::string costs; // empty: nothing
    Takes takes;
    Trial trial;
    std::size_t number;                   // in a family the cheapest first
    double gain = 0, least = 0, most = 0; // shares of the unchanged run's time
};

struct Omitted {
    const char *what, *why;
};
constexpr Omitted g_omitted[] = {
    {"lending and pools of cores", "the simulator's ranks keep their cores; sennit simulate pool"},
    {"virtual ranks and rank fibers", "what a wait of a rank costs the others is not modelled"},
    {"--split", "loops are not in a trace, only tasks are"},
    {"how often objects are balanced", "it is not modelled with tasks; sennit simulate front"},
};

double seconds(sim::Time time) {
    return static_cast<double>(time) * 1e-9;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

sim::Setting setting_of(const Trial &trial) {
    sim::Setting setting;
    setting.machine = trial.machine;
    setting.choice = sim::parse_choice(trial.policy, trial.order);
    return setting;
}

std::string signed_percent(double share) {
    return fmt::format("{:+.1f}%", 100 * share);
}

} // namespace

struct Advise::State {
    CLI::App *app = nullptr;
    std::string folder, json, html;
    bool all = false;
    sim::Machine machine;

    std::shared_ptr<const sim::Replay> recorded;
    Trial base;
    std::vector<double> base_times; // s
    double replayed = 0;            // s, without chance
    std::vector<Change> changes;    // the best first
    std::vector<std::string> left_out;

    void choose_machine();
    void choose_policy();
    void add(Family family, Takes takes, std::string what, std::string how, std::string costs,
             Trial trial);
    void add_policies();
    void add_machines();
    void add_programs();
    std::shared_ptr<sim::Replay> changed_program() const {
        return std::make_shared<sim::Replay>(*recorded);
    }
    std::vector<double> times_of(const Trial &trial) const;
    void simulate();
    double distance() const;
    const char *confidence(const Change &change) const;
    std::vector<const Change *> advice() const;
    void print() const;
    Json to_json() const;
    void write_html() const;
};

Advise::Advise(CLI::App &app) : state_(std::make_unique<State>()) {
    State &state = *state_;
    state.app = app.add_subcommand("advise", "what would help a recorded run most: another policy, "
                                             "another program, another machine");
    state.app->add_option("folder", state.folder, "what `sennit run --trace` has recorded")
        ->required();
    state.app->add_flag("--all", state.all, "print all that was tried, and what was not, and why");
    state.app->add_option("--json", state.json, "write the numbers to this file; - is stdout");
    state.app->add_option(
        "--html", state.html,
        "write a page with the timelines of the run and of what helps most, as sennit report does");
    add_machine_options(*state.app, state.machine);
}

Advise::~Advise() = default;

bool Advise::chosen() const {
    return state_->app->parsed();
}

// What the command line does not say is as the trace tells it; it does not tell SENNIT_ORDER,
// SENNIT_WINDOW and which ranks share a machine, if not all do.
void Advise::State::choose_machine() {
    const auto is_given = [&](const char *option) { return app->count(option) > 0; };
    if (is_given("--ranks") && machine.rank_count() != recorded->ranks())
        fail("the trace has {} ranks: --ranks cannot be another number", recorded->ranks());
    machine.ranks = recorded->ranks();
    if (!is_given("--threads"))
        machine.threads = recorded->threads();
    if (!is_given("--known")) // the paper's way is to watch; Sennit looks at the code
        machine.known = 1;
    const sim::RecordedNetwork &network = recorded->network();
    if (network.one_machine && !is_given("--ranks-per-card"))
        machine.ranks_per_card = machine.ranks;
    const bool by_memory = machine.ranks_per_card >= machine.ranks;
    if (network.latency > 0 && !is_given(by_memory ? "--memory-latency" : "--latency"))
        (by_memory ? machine.memory_latency : machine.latency) = network.latency;
    if (network.bandwidth > 0 && !is_given(by_memory ? "--memory-bandwidth" : "--bandwidth"))
        (by_memory ? machine.memory_bandwidth : machine.bandwidth) = network.bandwidth;
    if (const std::string fault = sim::fault_of(machine); !fault.empty())
        fail("{}", fault);
}

// "global" is fa, where receivers say what is urgent.
void Advise::State::choose_policy() {
    base = {recorded, machine, recorded->policy()};
    if (base.policy == "global") {
        base.policy = "fa";
        base.machine.urgent_first = 1;
    }
    const std::vector<std::string> known = sim::known_choices();
    if (std::find(known.begin(), known.end(), base.policy) == known.end()) {
        fmt::print(stderr,
                   "sennit: note: the trace does not name a policy that can be simulated "
                   "('{}'): steal is taken\n",
                   printable(base.policy));
        base.policy = "steal";
    }
}

void Advise::State::add(Family family, Takes takes, std::string what, std::string how,
                        std::string costs, Trial trial) {
    changes.push_back({family, std::move(what), std::move(how), std::move(costs), takes,
                       std::move(trial), changes.size()});
}

void Advise::State::add_policies() {
    for (const char *const policy : {"steal", "fifo", "lifo", "fa"})
        if (policy != base.policy) {
            Trial trial = base;
            trial.policy = policy;
            trial.machine.urgent_first = machine.urgent_first; // what only global has
            add(Family::order, Takes::setting, fmt::format("policy {}", policy),
                fmt::format("sennit run --policy {}", policy), "", trial);
        }
    if (base.policy != "steal" && base.policy != "lifo") {
        Trial trial = base;
        trial.order = "creation";
        add(Family::order_of_equals, Takes::setting, "of equal tasks the one that was made first",
            "SENNIT_ORDER=creation", "", trial);
        trial.order = "ready";
        add(Family::order_of_equals, Takes::setting,
            "of equal tasks the one that became ready first", "SENNIT_ORDER=ready", "", trial);
    }
    if (base.machine.urgent_first == 0) {
        Trial trial = base;
        trial.policy = "fa";
        trial.machine.urgent_first = 1;
        add(Family::order, Takes::setting, "receivers say which messages are urgent",
            "sennit run --policy global, on all ranks", "short messages between ranks", trial);
    }
    Trial trial = base;
    trial.policy = "sa";
    trial.machine.urgent_first = machine.urgent_first;
    if (base.policy != "sa")
        add(Family::order, Takes::change_of_code, "policy sa",
            "priority(1) at tasks that send; --policy sa", "every task that sends has to be marked",
            trial);
    trial = base;
    trial.machine.window *= 4;
    add(Family::window, Takes::setting, "more unfinished tasks",
        fmt::format("SENNIT_WINDOW={:.0f}", trial.machine.window),
        "memory for four times as many tasks", trial);
}

void Advise::State::add_machines() {
    Trial trial = base;
    trial.machine.latency /= 2;
    trial.machine.memory_latency /= 2;
    trial.machine.bandwidth *= 2;
    trial.machine.memory_bandwidth *= 2;
    add(Family::machine, Takes::other_machine, "a network twice as fast", "", "", trial);
    trial = base;
    trial.machine.threads *= 2;
    if (sim::fault_of(trial.machine).empty())
        add(Family::machine, Takes::other_machine, "twice as many threads a rank, each with a core",
            fmt::format("sennit run --threads {:.0f}", trial.machine.threads), "cores", trial);
    if (machine.threads >= 2) {
        trial = base;
        trial.machine.threads = std::floor(machine.threads / 2);
        add(Family::machine, Takes::other_machine,
            "half of the threads, so half of the cores are free",
            fmt::format("sennit run --threads {:.0f}", trial.machine.threads), "", trial);
    }
    if (machine.card_count() > 1 && machine.ranks_per_card > 1) {
        trial = base;
        trial.machine.round_robin = trial.machine.round_robin > 0 ? 0 : 1;
        add(Family::machine, Takes::setting,
            trial.machine.round_robin > 0 ? "rank after rank on the next machine"
                                          : "neighbouring ranks on one machine",
            trial.machine.round_robin > 0 ? "sennit run --map-by node" : "sennit run --map-by slot",
            "", trial);
    }
}

void Advise::State::add_programs() {
    auto every = changed_program();
    std::size_t callers = 0;
    for (const std::string &function : recorded->functions()) {
        if (every->bind_last_calls(function) == 0)
            continue;
        ++callers;
        auto one = changed_program();
        one->bind_last_calls(function);
        Trial trial = base;
        trial.work = one;
        add(Family::last_calls, Takes::change_of_code,
            fmt::format("no thread waits in the last call of {}", function),
            "TAMPI_Iwait there, or compile its file with sennit cc", "", trial);
    }
    if (callers > 1) {
        Trial trial = base;
        trial.work = every;
        add(Family::last_calls, Takes::change_of_code,
            fmt::format("no thread waits in the last call of a task ({} functions)", callers),
            "compile the program with sennit cc", "", trial);
    }
    if (callers == 0)
        left_out.emplace_back("last calls of tasks: none waits in MPI");

    auto buffers = changed_program();
    Trial trial = base;
    if (buffers->add_second_buffers() > 0) {
        trial.work = buffers;
        add(Family::buffers, Takes::change_of_code, "a second buffer where tasks receive",
            "let every other receive use another buffer", "memory for the buffers", trial);
    } else {
        left_out.emplace_back("a second receive buffer: no receive waits for tasks that read");
    }
    auto equal = changed_program();
    if (equal->make_ranks_equal() > 0) {
        trial.work = equal;
        add(Family::balance, Takes::change_of_code, "the same work for each rank",
            "divide the data anew, sennit_balance.h, or sennit run --pool", "data that move",
            trial);
    } else {
        left_out.emplace_back("the same work for each rank: it is the same");
    }
    auto larger = changed_program();
    const std::uint64_t tasks = larger->tasks();
    trial = base;
    // Of k tasks that become one, k - 1 are gone. If most are left, the trial is of the program as
    // it is.
    if (2 * larger->merge_tasks(kLargerTasks) >= tasks - tasks / kLargerTasks) {
        trial.work = larger;
        add(Family::size, Takes::change_of_code,
            fmt::format("tasks {} times as large", kLargerTasks),
            "larger blocks, or taskloop grainsize(...)", "less can run at once", trial);
    } else {
        left_out.emplace_back("larger tasks: few only compute and are created in a row");
    }
}

// Equal numbers of chances in each trial: what they have in common cancels out.
std::vector<double> Advise::State::times_of(const Trial &trial) const {
    std::vector<double> times;
    for (std::uint64_t seed = 1; seed <= kRepeats; ++seed) {
        sim::Setting setting = setting_of(trial);
        if (app->count("--noise") == 0)
            setting.machine.noise = kChance;
        setting.seed = seed;
        times.push_back(seconds(sim::simulate(*trial.work, setting).time));
    }
    return times;
}

void Advise::State::simulate() {
    replayed = seconds(sim::simulate(*recorded, setting_of(base)).time);
    base_times = times_of(base);
    if (*std::min_element(base_times.begin(), base_times.end()) <= 0)
        fail("{}: the tasks of this trace take no time", folder);
    std::erase_if(changes, [&](Change &change) {
        std::vector<double> times, gains;
        try {
            times = times_of(change.trial);
        } catch (const sim::Stuck &) { // without the change it is not
            left_out.push_back(fmt::format("{}: tasks would wait for each other", change.what));
            return true;
        }
        for (std::size_t i = 0; i < times.size(); ++i)
            gains.push_back(1 - times[i] / base_times[i]);
        change.gain = median(gains);
        change.least = *std::min_element(gains.begin(), gains.end());
        change.most = *std::max_element(gains.begin(), gains.end());
        return false;
    });
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change &a, const Change &b) { return a.gain > b.gain; });
}

// Of the replay from what was recorded, as a share of that.
double Advise::State::distance() const {
    const double was = recorded->recorded_seconds();
    return was > 0 ? replayed / was - 1 : kUnknown;
}

const char *Advise::State::confidence(const Change &change) const {
    const double off = std::abs(distance());
    if (off > kStillUseful)
        return "a guess";
    return off <= kFaithful && change.least > change.gain / 2 ? "likely" : "possible";
}

namespace {
bool helps(const Change &change) {
    return change.takes != Takes::other_machine && change.gain >= kWorthAdvice && change.least > 0;
}
} // namespace

// The best first. Of a family the one that takes least, if no other gains noticeably more.
std::vector<const Change *> Advise::State::advice() const {
    std::vector<const Change *> best;
    for (const Change &first : changes) { // the best of its family, if none of it is there yet
        const auto is_kin = [&](const Change *other) { return other->family == first.family; };
        if (!helps(first) || std::find_if(best.begin(), best.end(), is_kin) != best.end())
            continue;
        const Change *cheapest = &first;
        for (const Change &other : changes)
            if (helps(other) && is_kin(&other) && other.number < cheapest->number &&
                other.gain + kWorthAdvice > first.gain)
                cheapest = &other;
        best.push_back(cheapest);
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Change *a, const Change *b) { return a->gain > b->gain; });
    best.resize(std::min(best.size(), kMostAdvice));
    return best;
}

void Advise::State::print() const {
    fmt::print("{}: {} ranks, {:.0f} threads each, policy {}, {} tasks, {} messages\n",
               printable(folder), recorded->ranks(), machine.threads, recorded->policy(),
               recorded->tasks(), recorded->messages());
    fmt::print("recorded {:.4f} s, replayed {:.4f} s ({})", recorded->recorded_seconds(), replayed,
               signed_percent(distance()));
    if (std::abs(distance()) > kStillUseful)
        fmt::print(": the simulator does not see what took the time, so all below is a guess.\n"
                   "If the network is not as the messages show it, name it: --latency, "
                   "--bandwidth, ...");
    fmt::print("\n\n");
    const auto line = [&](const Change &change) {
        fmt::print("  {:>7} of the time ({} to {}), {}: {}\n", signed_percent(-change.gain),
                   signed_percent(-change.most), signed_percent(-change.least), confidence(change),
                   change.what);
        if (!change.how.empty())
            fmt::print("          {}{}\n", change.how,
                       change.costs.empty() ? "" : fmt::format("; costs {}", change.costs));
    };
    const std::vector<const Change *> best = advice();
    if (best.empty())
        fmt::print("Nothing that was tried makes this run surely more than {:.0f}% shorter.\n",
                   100 * kWorthAdvice);
    else
        fmt::print("What helps most, each by itself:\n");
    for (const Change *change : best)
        line(*change);
    fmt::print("\nOther machines, to compare:\n");
    for (const Change &change : changes)
        if (change.takes == Takes::other_machine)
            line(change);
    if (!all)
        return;
    fmt::print("\nTried, too:\n");
    for (const Change &change : changes)
        if (change.takes != Takes::other_machine &&
            std::find(best.begin(), best.end(), &change) == best.end())
            line(change);
    fmt::print("\nNot tried:\n");
    for (const std::string &text : left_out)
        fmt::print("  {}\n", text);
    for (const Omitted &one : g_omitted)
        fmt::print("  {}: {}\n", one.what, one.why);
}

Json Advise::State::to_json() const {
    Json document;
    document["trace"] = folder;
    document["policy"] = recorded->policy();
    document["recorded_s"] = recorded->recorded_seconds();
    document["replayed_s"] = replayed;
    document["notes"] = recorded->notes();
    for (const sim::Parameter &parameter : sim::parameters())
        document["machine"][std::string(parameter.name)] = base.machine.*parameter.field;
    document["advice"] = Json::array();
    for (const Change *change : advice())
        document["advice"].push_back(change->what);
    document["changes"] = Json::array();
    constexpr std::array names{"setting", "change of code", "other machine"};
    for (const Change &change : changes)
        document["changes"].push_back({{"what", change.what},
                                       {"how", change.how},
                                       {"costs", change.costs},
                                       {"takes", names[static_cast<std::size_t>(change.takes)]},
                                       {"gain", change.gain},
                                       {"least", change.least},
                                       {"most", change.most},
                                       {"confidence", confidence(change)}});
    document["not_tried"] = left_out;
    for (const Omitted &one : g_omitted)
        document["not_tried"].push_back(fmt::format("{}: {}", one.what, one.why));
    return document;
}

// The unchanged run, then what helps most.
void Advise::State::write_html() const {
    const ScratchFolder scratch;
    std::vector<report::Titled> runs;
    const auto record = [&](const std::string &title, const Trial &trial) {
        const std::filesystem::path to =
            std::filesystem::path(scratch.path()) / std::to_string(runs.size());
        sim::TraceWriter writer(to, trial.machine,
                                {"sennit advise", trial.policy, trial.work->functions()});
        sim::Setting setting = setting_of(trial);
        setting.recorder = &writer;
        writer.finish(sim::simulate(*trial.work, setting).time);
        runs.push_back({title, trace::read_job(to), {}});
    };
    record("as it was", base);
    for (const Change *change : advice())
        record(change->what, change->trial);
    for (report::Titled &run : runs)
        run.found = report::Findings(run.job);
    report::write_page(runs, html);
}

int Advise::run() {
    State &state = *state_;
    trace::Job job = trace::read_job(state.folder);
    if (!job.missing.empty())
        fail("{}: {}: advice is about the whole job; record all of its ranks",
             printable(state.folder), job.missing);
    report::name_by_source(job); // functions of GCC have no names of their own
    state.recorded = std::make_shared<sim::Replay>(job);
    for (const std::string &note : state.recorded->notes())
        fmt::print(stderr, "sennit: note: {}\n", printable(note));
    if (state.recorded->tasks() == 0)
        fail("{}: there are no tasks in this trace, and advice is about tasks", state.folder);
    state.choose_machine();
    state.choose_policy();
    state.add_policies();
    state.add_machines();
    state.add_programs();
    state.simulate();
    if (state.json != "-")
        state.print();
    if (!state.json.empty())
        write_result(state.json, json_text(state.to_json()));
    if (!state.html.empty())
        state.write_html();
    return 0;
}

} // namespace sennit::tool

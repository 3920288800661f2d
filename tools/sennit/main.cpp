// SPDX-License-Identifier: Apache-2.0
// sennit: the command. Options are read and checked here, the work is done in run.cpp and
// doctor.cpp.
#include "bench.h"
#include "doctor.h"
#include "failure.h"
#include "policy.h"
#include "report.h"
#include "run.h"
#include "simulate.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace {

using namespace sennit::tool;

constexpr int most_ranks = 1000000;
constexpr int most_threads = 65536;

constexpr const char *footer = R"(
Exit code: that of the program; 128 + S if signal S ended a rank or the job was interrupted by it;
2 if Sennit refuses to start it (one line on stderr says why).
The runtime's own options: sennit doctor --options. SENNIT_HOME: where Sennit's lib/ is.)";

// Option texts as typed.
struct RunOptions {
    std::string ranks, threads, policy, trace, mpi = "auto", watch;
    bool dry_run = false, verbose = false;

    void add_to(CLI::App &command) {
        command.add_option("--threads", threads, "threads of each rank (OMP_NUM_THREADS)");
        command.add_option("--policy", policy,
                           fmt::format("which ready task runs next (SENNIT_POLICY): {}",
                                       fmt::join(known_policies(), ", ")));
        command.add_option("--mpi", mpi, "the MPI it uses: auto (look), mpich, openmpi");
        command.add_option("--trace", trace,
                           "record a trace into this folder (SENNIT_TRACE); "
                           "--trace alone: into sennit-trace. Look at it with sennit report");
        command.add_flag("--dry-run", dry_run,
                         "print what would be set and started, start nothing");
        command.add_flag("--verbose", verbose, "print it, then start it");
        command.footer(footer);
    }

    Request request(std::vector<std::string> program) const {
        Request result;
        if (program.empty())
            fail("no program given: sennit run [options] ./app [arguments]");
        result.command = std::move(program);
        result.mpi = parse_mpi(mpi);
        if (!ranks.empty())
            result.ranks = parse_count("-n", ranks, most_ranks);
        if (!threads.empty())
            result.threads = parse_count("--threads", threads, most_threads);
        if (!policy.empty())
            result.policy = parse_policy(policy);
        if (!trace.empty())
            result.trace = std::filesystem::absolute(trace).string();
        result.dry_run = dry_run;
        result.verbose = verbose;
        return result;
    }
};

// After `--trace`: the program, or a folder to record to?
bool is_program(const std::string &word) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(word, ignored);
}

struct CommandLine {
    std::vector<std::string> options; // of this command, for CLI11
    std::vector<std::string> program; // with its arguments, which are nobody's business
};

// `words` follow the name of `command`: its options, then, from the first word that is none or
// behind a "--", the program.
CommandLine split_command_line(const CLI::App &command, std::vector<std::string> words) {
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
        std::string &word = words[at];
        if (word == "--trace" &&
            (at + 2 >= words.size() || words[at + 1].starts_with('-') || is_program(words[at + 1])))
            word = "--trace=sennit-trace";
        if (word == "-np") // as many launchers spell it
            word = "-n";
        const bool is_long = word.starts_with("--");
        const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
        const CLI::Option *option = command.get_option_no_throw(name);
        if (!option)
            fail("unknown option '{}': see sennit --help-all", word);
        if (name == word && option->get_items_expected_min() > 0)
            ++at; // its value is the next word
    }
    at = std::min(at, words.size());
    const auto middle = words.begin() + static_cast<std::ptrdiff_t>(at);
    const bool separated = middle != words.end() && *middle == "--";
    return {{words.begin(), middle}, {middle + (separated ? 1 : 0), words.end()}};
}

int run_command(int count, char **arguments) {
    CLI::App app(
        "Sennit runs unmodified MPI + OpenMP programs as one: tasks that block in MPI give "
        "their core away.",
        "sennit");
    app.set_version_flag("--version", "sennit " SENNIT_VERSION);
    app.set_help_all_flag("--help-all", "help of every subcommand");
    app.require_subcommand(1);
    app.footer(footer);

    RunOptions run_options;
    CLI::App *run = app.add_subcommand("run", "start a program: sennit run -n 4 ./app arguments");
    run->add_option("-n,--ranks", run_options.ranks, "number of MPI ranks (default 1)");
    run_options.add_to(*run);

    RunOptions exec_options;
    CLI::App *exec = app.add_subcommand(
        "exec", "become the program, as one rank of a job: mpiexec -n 4 sennit exec ./app");
    exec_options.add_to(*exec);
    exec->add_option("--watch", exec_options.watch, "used by `sennit run`")->group("");

    Request doctor_request;
    std::string doctor_program;
    std::string doctor_mpi = "auto";
    bool list_options = false;
    int doctor_process = 0;
    CLI::App *doctor =
        app.add_subcommand("doctor", "what is here, what would happen, what is missing");
    doctor->add_option("program", doctor_program, "a program to look at");
    doctor->add_option("--mpi", doctor_mpi, "the MPI it uses: auto (look), mpich, openmpi");
    doctor->add_option("--pid", doctor_process,
                       "list the tasks of a running process that wait, and for what (needs gdb)");
    doctor->add_flag("--options", list_options, "the runtime's environment options");

    Simulate simulate(app);
    sennit::report::Request report_request;
    CLI::App *report = app.add_subcommand(
        "report", "what a trace shows: where the time went, who waited for whom");
    report
        ->add_option("folder", report_request.folders,
                     "folders with traces; of several runs the first is compared with the others")
        ->required();
    report->add_flag("--threads", report_request.by_thread, "a line for each thread, too");
    report->add_option("--html", report_request.page, "write a page with timelines and graphs");
    report->add_option("--perfetto", report_request.perfetto,
                       "write the (first) run in Chrome's format, for ui.perfetto.dev");
    report->add_option("--paraver", report_request.paraver,
                       "write the (first) run as PREFIX.prv, .pcf and .row");
    report->add_flag("--check", report_request.check, "only say whether the traces are sound");

    std::vector<std::string> words(arguments + 1, arguments + count);
    app.add_subcommand("bench", "measure: sennit bench cholesky [--quick]; --help says more");
    if (!words.empty() && words[0] == "bench")
        run_bench({words.begin() + 1, words.end()}, Installation::locate());
    std::vector<std::string> program;
    for (const CLI::App *command : {run, exec}) {
        if (words.empty() || words[0] != command->get_name())
            continue;
        CommandLine line = split_command_line(*command, {words.begin() + 1, words.end()});
        program = std::move(line.program);
        words.assign({words[0]});
        words.insert(words.end(), line.options.begin(), line.options.end());
    }
    try {
        std::reverse(words.begin(), words.end()); // CLI11 takes them from the back
        app.parse(std::move(words));
    } catch (const CLI::Success &success) {
        return app.exit(success); // help and version
    } catch (const CLI::ParseError &error) {
        fail("{}: see sennit --help-all", error.what());
    }
    if (*run)
        return run_program(run_options.request(program), Installation::locate());
    if (*exec)
        return exec_program(exec_options.request(program), Installation::locate(),
                            exec_options.watch);
    if (simulate.chosen())
        return simulate.run(arguments);
    if (*report)
        return sennit::report::run_report(report_request);
    if (list_options)
        return print_options();
    if (doctor_process != 0)
        examine_process(doctor_process, Installation::locate());
    if (!doctor_program.empty())
        doctor_request.command = {doctor_program};
    doctor_request.mpi = parse_mpi(doctor_mpi);
    return run_doctor(doctor_request);
}

} // namespace

int main(int count, char **arguments) {
    try {
        return run_command(count, arguments);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "sennit: %s\n", error.what());
        return sennit::tool::refused;
    }
}

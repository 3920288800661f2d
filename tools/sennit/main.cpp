// SPDX-License-Identifier: Apache-2.0
// sennit: the command. Its subcommands and their options; command_line.cpp reads what several of
// them share, the work is done in run.cpp, doctor.cpp and the like.
#include "command_line.h"
#include "common/failure.h"
#include "common/installation.h"
#include "common/nearest.h"
#include "common/standard_output.h"
#include "describe.h"
#include "inspect/commands.h"
#include "launch/apart.h"
#include "launch/bench.h"
#include "launch/compile.h"
#include "launch/policy.h"
#include "launch/run.h"
#include "launch/shims.h"
#include "options.h"
#include "pool/pool.h"
#include "report.h"

#include "base/printable.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace sennit::tool;

bool is_of_simulator(const std::string &command) {
    return command == "simulate" || command == "advise";
}

// lib/sennit-simulate reads the command line itself. Who runs programs need not build it.
[[noreturn]] void become_simulator(char **arguments) {
    const std::string program = Installation::locate().library_folder() + "/sennit-simulate";
    execv(program.c_str(), arguments);
    fail("{} cannot be started ({}): build it by ./dev build", program, std::strerror(errno));
}

// lib/sennit-otf2 needs a library that few machines have.
[[noreturn]] void become_otf2_writer(std::string trace, std::string folder) {
    std::string program = Installation::locate().library_folder() + "/sennit-otf2";
    char *const arguments[] = {program.data(), trace.data(), folder.data(), nullptr};
    std::fflush(stdout);
    execv(program.c_str(), arguments);
    if (errno == ENOENT)
        fail("--otf2: this Sennit was built without libotf2: install libotf2-trace-dev, configure "
             "and build again");
    fail("{} cannot be started ({})", program, std::strerror(errno));
}

// Every subcommand with its options: made, parsed, then run. Of `exec`, which each rank of a job
// calls, no other one is made: all of them take longer than the rest of what it does.
class Command {
  public:
    explicit Command(const std::vector<std::string> &words);
    int run(std::vector<std::string> words, char **arguments);

  private:
    void add_exec();
    void add_all();
    void add_pool();
    void add_top();
    void add_doctor();
    void add_report();
    void parse(std::vector<std::string> words);
    int start_chosen();
    static int start(const JobSpec &spec);
    int start_doctor();

    CLI::App app_;
    CommandLine line_; // of a subcommand that takes a program

    CLI::App *run_ = nullptr;
    RunOptions run_options_;
    CLI::App *python_ = nullptr;
    RunOptions python_options_;
    CLI::App *exec_ = nullptr;
    RunOptions exec_options_;
    std::string watch_;
    CLI::App *doctor_ = nullptr;
    RunOptions doctor_options_;
    std::string options_form_;
    int process_ = 0;
    int host_ = 0; // of virtual ranks, or one of them
    OtherUser other_user_ = OtherUser::refused;
    CLI::App *pool_start_ = nullptr;
    CLI::App *pool_list_ = nullptr;
    CLI::App *pool_move_ = nullptr;
    CLI::App *pool_stop_ = nullptr;
    PoolRequest pool_request_;
    CLI::App *top_ = nullptr;
    TopRequest top_request_;
    CLI::App *describe_ = nullptr;
    std::string described_form_, described_command_;
    CLI::App *report_ = nullptr;
    sennit::report::ReportSpec report_spec_;
    std::string otf2_;
};

Command::Command(const std::vector<std::string> &words)
    : app_("Sennit runs unmodified MPI + OpenMP programs as one: a task that waits in MPI is "
           "suspended, and its thread runs other tasks.",
           "sennit") {
    app_.set_version_flag("--version", "sennit " SENNIT_VERSION);
    app_.set_help_all_flag("--help-all", "help of every subcommand");
    app_.require_subcommand(1);
    app_.footer(help_footer);
    if (!words.empty() && words[0] == "exec")
        add_exec();
    else
        add_all();
}

void Command::add_exec() {
    exec_ = app_.add_subcommand(
        "exec", "become the program, as one rank of a job: mpiexec -n 4 sennit exec ./app");
    exec_options_.add_to(*exec_, false);
    exec_->add_option("--watch", watch_, "used by `sennit run`")->group("");
}

void Command::add_all() {
    run_ = app_.add_subcommand(
        "run", "start a program: sennit run -n 4 ./app arguments; several as one "
               "job: sennit run -n 4 ./a : -n 2 ./b; also sennit mpiexec, and sennit "
               "./app");
    run_->alias("mpiexec");
    run_options_.add_to(*run_, true);
    python_ = app_.add_subcommand(
        "python", "`sennit run` of python3: sennit python -n 4 --mpi openmpi job.py arguments");
    python_options_.add_to(*python_, true);
    add_exec();
    add_pool();
    add_top();
    add_doctor();
    app_.add_subcommand("simulate", "what a policy, more ranks or another network would do, on a "
                                    "virtual machine; sennit simulate --help-all says more");
    add_report();
    app_.add_subcommand("advise", "what would help a recorded run most: another policy, another "
                                  "program, another machine");
    app_.add_subcommand("bench",
                        "measure: sennit bench cholesky, front or papers; --help says more");
    app_.add_subcommand("cc", "compile so that tasks need not wait in MPI: sennit cc [compiler] "
                              "arguments; also sennit c++ and sennit ftn");
    describe_ = app_.add_subcommand(
        "describe", "these commands and options, for the completion of a shell or as man page: "
                    "source <(sennit describe bash)");
    describe_->add_option("form", described_form_, "bash, zsh, fish or man")->required();
    describe_->add_option("command", described_command_,
                          "whose man page: sennit describe man run is sennit-run(1)");
    for (const char *name : {"c++", "ftn"})
        app_.add_subcommand(name, "as sennit cc, for C++ and Fortran")->group("");
}

void Command::add_pool() {
    PoolRequest &to = pool_request_;
    CLI::App *const pool =
        app_.add_subcommand("pool", "cores that several programs share: sennit pool start NAME, "
                                    "then sennit run --pool NAME ./app");
    pool->require_subcommand(1);
    pool_start_ = pool->add_subcommand("start", "make a pool; it stays until it is stopped");
    pool_list_ = pool->add_subcommand("ls", "the pools of this user on this machine");
    pool_move_ = pool->add_subcommand("move", "give a program more or fewer cores of its own");
    pool_stop_ = pool->add_subcommand("stop", "end a pool when its last program has ended");
    for (CLI::App *const action : {pool_start_, pool_move_, pool_stop_})
        action->add_option("name", to.name)->required();
    pool_start_->add_option("--cores", to.cores,
                            "its cores, such as 0-3,8 (all that this shell may use)");
    pool_start_->add_option("--policy", to.policy, "who gets which core: " + pool_policies());
    pool_move_->add_option("program", to.program, "NAME or NAME:JOB, as sennit top shows it")
        ->required();
    pool_move_->add_option("cores", to.amount, "+1, -1, or their number")->required();
    pool_stop_->add_flag("--now", to.now, "end its programs, too");
}

void Command::add_top() {
    top_ = app_.add_subcommand("top", "who uses which core, live: sennit top --pool NAME");
    top_->add_option("--pool", top_request_.pool,
                     "of this pool; without it: of programs in no pool");
    top_->add_flag("--once", top_request_.once, "print one table and end");
    top_->add_flag("--json", top_request_.json, "the same for programs");
    top_->add_flag("--html", top_request_.html,
                   "serve a page that a browser on this machine can follow, and print its address");
}

void Command::add_doctor() {
    doctor_ = app_.add_subcommand("doctor", "what is here, what would happen, what is missing: "
                                            "sennit doctor ./app arguments");
    doctor_options_.add_doctor_to(*doctor_);
    doctor_->add_option("--pid", process_,
                        "list the tasks of a running process that wait, and for what (needs gdb)");
    doctor_->add_option(
        "--gdb", host_,
        "print gdb's commands for the symbols of a virtual rank and those beside it");
    doctor_->add_flag_callback(
        "--other-user", [this] { other_user_ = OtherUser::allowed; },
        "with --pid or --gdb, for root: also a process of another user");
    doctor_
        ->add_option("--options", options_form_,
                     "the environment variables; as text, markdown or man (--options=man)")
        ->expected(0, 1)
        ->default_str("text");
}

void Command::add_report() {
    report_ = app_.add_subcommand("report",
                                  "what a trace shows: where the time went, who waited for whom");
    report_
        ->add_option("folder", report_spec_.folders,
                     "folders with traces; of several runs the first is compared with the others")
        ->required();
    report_->add_flag("--threads", report_spec_.by_thread, "a line for each thread, too");
    report_->add_option("--html", report_spec_.page, "write a page with timelines and graphs");
    report_->add_option("--json", report_spec_.numbers,
                        "write the numbers of the tables for other programs");
    report_->add_option("--perfetto", report_spec_.perfetto,
                        "write the (first) run in Chrome's format, for ui.perfetto.dev");
    report_->add_option("--paraver", report_spec_.paraver,
                        "write the (first) run as PREFIX.prv, .pcf and .row");
    report_->add_option("--otf2", otf2_,
                        "write the (first) run into this new folder as an OTF2 archive, for Vampir "
                        "and others");
    report_->add_flag("--check", report_spec_.check, "only say whether the traces are sound");
}

// `words`: the whole command line.
void Command::parse(std::vector<std::string> words) {
    for (const CLI::App *command : {run_, python_, exec_, doctor_}) {
        if (!command || words.empty() || !command->check_name(words[0]))
            continue;
        line_ = split_command_line(*command, {words.begin() + 1, words.end()});
        words.assign({words[0]});
        words.insert(words.end(), line_.options.begin(), line_.options.end());
    }
    protect_numbers(words);
    std::reverse(words.begin(), words.end()); // CLI11 takes them from the back
    app_.parse(std::move(words));
}

// The command that the first words name, and those words: "sennit pool start".
struct Named {
    const CLI::App *command;
    std::string words = "sennit";
};

// CLI11 would only say that a command is required.
Named named_command(const CLI::App &app, const std::vector<std::string> &words) {
    Named named{&app};
    for (std::size_t at = 0; at == words.size() || !words[at].starts_with('-'); ++at) {
        std::vector<std::string> names;
        const CLI::App *next = nullptr;
        for (const CLI::App *const inner : named.command->get_subcommands(
                 [](const CLI::App *one) { return !one->get_group().empty(); })) {
            names.push_back(inner->get_name());
            if (at < words.size() && inner->check_name(words[at]))
                next = inner;
        }
        if (names.empty())
            break;
        const std::string known = fmt::format("{}", fmt::join(names, ", "));
        if (at == words.size())
            fail("{} what? use {}", named.words, known);
        if (!next)
            fail("'{}' is no command of {}{}: use {}{}", words[at], named.words,
                 meant_instead(words[at], names), known,
                 at == 0 ? fmt::format("; a program is started by sennit run {}", words[at]) : "");
        named.words += " " + words[at];
        named.command = next;
    }
    return named;
}

[[noreturn]] void refuse(const CLI::ParseError &error, const Named &named,
                         const std::vector<std::string> &words) {
    const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    for (const std::string &word : words)
        if (is_extra && word.starts_with("--") &&
            !named.command->get_option_no_throw(word.substr(0, word.find('='))))
            fail("unknown option '{}'{}: see {} --help", word, meant_option(*named.command, word),
                 named.words);
    fail("{}: see {} --help", error.what(), named.words);
}

constexpr const char *first_steps =
    R"(Sennit runs unmodified MPI + OpenMP programs. In front of a program, or of what mpiexec is told:

    sennit run ./app                  one process
    sennit run -n 4 ./app arguments   four ranks, by the mpiexec of the program's MPI
    sennit doctor ./app               what would happen, what is missing
    sennit help run                   the options; sennit help: all commands
)";

// "help run" is "run --help", "version" is "--version"; a program's path, or an option of `run`, is
// what `run` is for.
std::vector<std::string> in_full(const CLI::App &app, std::vector<std::string> words) {
    const std::string first = words[0];
    if (first == "version")
        words[0] = "--version";
    if (first == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    } else if (first.find('/') != std::string::npos ||
               (first.starts_with('-') && !app.get_option_no_throw(first))) {
        words.insert(words.begin(), "run");
    }
    return words;
}

int Command::run(std::vector<std::string> words, char **arguments) {
    if (words.empty()) {
        std::fputs(first_steps, stderr);
        return refused;
    }
    words = in_full(app_, std::move(words));
    if (words[0] == "bench")
        return run_bench({words.begin() + 1, words.end()}, Installation::locate());
    if (is_of_simulator(words[0]) || (words.size() == 3 && words[0] == "describe" &&
                                      words[1] == "man" && is_of_simulator(words[2])))
        become_simulator(arguments);
    if (is_compiler_command(words[0]))
        run_compiler(words, Installation::locate());
    const Named named = named_command(app_, words);
    try {
        parse(words);
    } catch (const CLI::Success &success) {
        return app_.exit(success); // help and version
    } catch (const CLI::ParseError &error) {
        refuse(error, named, words);
    }
    return start_chosen();
}

int Command::start(const JobSpec &spec) {
    warn_of_misspelt_variables();
    const auto begun = std::filesystem::file_time_type::clock::now();
    const int code = spec.apart ? run_apart(spec, Installation::locate())
                                : run_program(spec, Installation::locate());
    const bool interrupted = code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP;
    if (spec.trace && !spec.dry_run && !interrupted)
        sennit::report::print_hints_of(*spec.trace, begun);
    return code;
}

int Command::start_chosen() {
    if (*exec_) {
        if (watch_.empty()) // else `sennit run` has
            warn_of_misspelt_variables();
        return exec_program(exec_options_.spec(line_), Installation::locate(), watch_);
    }
    if (*run_)
        return start(run_options_.spec(line_));
    if (*python_) {
        line_.program.insert(line_.program.begin(), "python3");
        return start(python_options_.spec(line_));
    }
    if (*pool_start_)
        return start_pool(pool_request_);
    if (*pool_list_)
        return list_pools();
    if (*pool_move_)
        return move_cores(pool_request_);
    if (*pool_stop_)
        return stop_pool(pool_request_);
    if (*describe_)
        return describe(app_, described_form_, described_command_);
    if (*top_)
        return run_top(top_request_);
    if (*report_) {
        signal(SIGXFSZ, SIG_IGN); // the call that makes a file too long says so
        const int code = sennit::report::run_report(report_spec_);
        if (code == 0 && !otf2_.empty())
            become_otf2_writer(report_spec_.folders[0], otf2_);
        return code;
    }
    return start_doctor();
}

int Command::start_doctor() {
    if (doctor_->count("--options") > 0)
        return print_options(options_form_.empty() ? "text" : options_form_);
    if (doctor_->count("--gdb") > 0)
        return print_symbol_commands(host_, other_user_);
    if (doctor_->count("--pid") > 0)
        examine_process(process_, other_user_, Installation::locate());
    warn_of_misspelt_variables();
    return run_doctor(line_.program.empty() ? JobSpec() : doctor_options_.spec(line_));
}

std::vector<std::string> words_of(int count, char **arguments) {
    if (count == 0)
        return {};
    return words_for_name(std::filesystem::path(arguments[0]).filename(),
                          {arguments + 1, arguments + count});
}

} // namespace

int main(int count, char **arguments) {
    hold_standard_numbers();
    try {
        std::vector<std::string> words = words_of(count, arguments);
        Command command(words);
        return after_output(command.run(std::move(words), arguments));
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "sennit: %s\n",
                     sennit::printable(error.what(), sennit::Lines::many).c_str());
        return sennit::tool::refused;
    }
}

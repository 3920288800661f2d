// SPDX-License-Identifier: Apache-2.0
#include "inspect/commands.h"

#include "base/printable.h"
#include "common/failure.h"
#include "common/process_owner.h"
#include "inspect/rank_map.h"
#include "job/rank_report.h"
#include "launch/mpiexec.h"
#include "launch/processors.h"
#include "launch/run.h"

#include <fmt/ranges.h>

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sennit::tool {
namespace {

const char *read_environment(const char *name) {
    return std::getenv(name);
}

void say(std::string_view subject, const std::string &text) {
    // Names in ELF files and of folders, what an mpiexec says of itself: others have made them.
    fmt::print("  {:<11} {}\n", subject, printable(text));
}

std::string describe_processors() {
    const int usable = usable_processors();
    const int at_once = processors_at_once();
    return fmt::format("{} usable of {}{}", usable, sysconf(_SC_NPROCESSORS_ONLN),
                       at_once < usable
                           ? fmt::format(", of which {} can run at once (cgroup, cpu.max)", at_once)
                           : "");
}

std::string describe_job() {
    const auto job = find_job_context(read_environment);
    if (!job)
        return "this shell is not inside a job";
    return fmt::format("this is rank {} of {}, started by {}: `run` only sets the environment",
                       job->rank ? std::to_string(*job->rank) : "?",
                       job->world_size ? std::to_string(*job->world_size) : "?", job->launcher);
}

// What a build may leave out; the files that are missing of what it has are added to `missing`.
std::string describe_parts(const Installation &installation, std::vector<std::string> &missing) {
    std::vector<std::string> here, left_out;
    for (const Installation::Part &part : installation.parts()) {
        if (part.missing.size() == part.files) {
            left_out.push_back(part.words);
            continue;
        }
        here.push_back(part.words);
        missing.insert(missing.end(), part.missing.begin(), part.missing.end());
    }
    return fmt::format("{}{}{}", fmt::join(here, ", "),
                       left_out.empty() ? "" : "; left out: ", fmt::join(left_out, ", "));
}

bool report_installation(const Installation &installation) {
    say("home", fmt::format("{} ({})", installation.home(),
                            std::getenv("SENNIT_HOME") ? "SENNIT_HOME says so"
                                                       : "this command lies in its bin/"));
    std::vector<std::string> missing = installation.missing_files(nullptr);
    for (const MpiKind kind : {MpiKind::mpich, MpiKind::openmpi})
        if (access(installation.mpi_library(kind).c_str(), R_OK) != 0)
            missing.push_back(installation.mpi_library(kind));
    const std::string parts = describe_parts(installation, missing);
    say("libraries",
        missing.empty() ? "complete" : fmt::format("MISSING: {}", fmt::join(missing, ", ")));
    say("parts", parts);
    say("processors", describe_processors());
    for (const MpiKind kind : {MpiKind::mpich, MpiKind::openmpi}) {
        std::string found;
        try {
            const Mpiexec launcher = find_mpiexec(kind, nullptr, Asking::only_safe_ones);
            found = fmt::format("{}, {}", launcher.path, launcher.version);
        } catch (const Failure &failure) {
            found = failure.what(); // an MPI that nobody uses is nothing wrong
        }
        say(traits(kind).name, found);
    }
    say("job", describe_job());
    return missing.empty();
}

constexpr const char *later = "none seen: it may come with what it loads or starts";

// Nothing in it throws for a program that cannot be run: what can be told is told first.
void report_program(const Program &program) {
    say("file", program.path);
    for (const std::string &step : program.way)
        say("way", step);
    if (program.starts_ranks)
        say("way", "there is an mpiexec in it, or the like: it starts its ranks itself");
    for (const MpiUse &use : program.mpi_libraries)
        say("MPI", fmt::format("{}: {} => {}", use.kind ? traits(*use.kind).name : "unsupported",
                               use.library.name, use.library.path));
    if (program.mpi_libraries.empty())
        say("MPI", program.imports.brings_more ? later : "none");
    for (const OpenMpUse &use : program.openmp_libraries)
        say("OpenMP", fmt::format("{} => {}, called through {}", use.library.name, use.library.path,
                                  use.runtime->abi));
    if (program.openmp_libraries.empty())
        say("OpenMP", program.imports.brings_more ? later : "none");
    for (const LoadedLibrary &library : program.libraries)
        if (const Accelerator *const its = classify_accelerator_library(library.name))
            say("accelerator", fmt::format("{}: {} => {}", its->name, library.name, library.path));
    for (const LoadedLibrary &library : program.libraries)
        if (library.path.empty())
            say("MISSING", fmt::format("{} (needed by {}): install it or add its folder to "
                                       "LD_LIBRARY_PATH",
                                       library.name, library.needed_by));
}

omp::CpuSet processors_here() {
    omp::CpuSet set;
    sched_getaffinity(0, omp::CpuSet::kBytes, reinterpret_cast<cpu_set_t *>(set.data()));
    return set;
}

// What the program is going to have in this variable.
std::string value_in(const Plan &plan, const char *name) {
    std::string value;
    if (const char *const text = std::getenv(name))
        value = text;
    for (const Setting &setting : plan.settings)
        if (setting.name == name)
            value = setting.value;
    return value;
}

// Which threads of which rank run where, as far as that is said before they are started.
void report_places(const Plan &plan, const JobSpec &spec) {
    const int ranks = ranks_of_all(spec);
    const std::string bind = value_in(plan, "OMP_PROC_BIND");
    const std::string places = value_in(plan, "OMP_PLACES");
    if (!processors_to_share(spec))
        return say("places", "mpiexec decides where the ranks run");
    if (!value_in(plan, "SENNIT_POOL").empty() || value_in(plan, "SENNIT_LENDING") == "on" ||
        spec.pool)
        return say("places", "cores move between ranks or programs, no thread is bound");
    const bool is_bound = bind.empty() ? !places.empty() : bind != "false";
    if (!is_bound)
        return say("places", "no thread is bound (--bind core binds them)");
    say("places",
        fmt::format("threads are bound, OMP_PLACES={}; each rank to its share, unless that "
                    "lists processors of its own",
                    places.empty() ? "threads" : places));
    const std::vector<std::string> lines = rank_map(processors_here(), ranks);
    for (std::size_t rank = 0; rank < lines.size(); ++rank)
        say(fmt::format("rank {}", rank), lines[rank]);
    if (lines.size() < static_cast<std::size_t>(ranks))
        say("", fmt::format("and {} more", ranks - static_cast<int>(lines.size())));
}

// What Sennit changes for the program, as far as its file tells.
std::string describe_tasks(const Plan &plan) {
    if (plan.only_watched ||
        (plan.program.openmp_libraries.empty() && !plan.program.imports.brings_more))
        return "none: it has no OpenMP";
    if (!plan.program.imports.makes_tasks)
        return plan.program.imports.brings_more
                   ? later
                   : "none are created: loops and other constructs run on "
                     "Sennit's OpenMP runtime, calls of MPI are bare";
    return plan.mpi ? "one that waits in MPI is suspended, and its thread runs other tasks"
                    : "run on Sennit's OpenMP runtime";
}

bool report_plan(const JobSpec &spec, const Installation &installation) {
    Plan plan = make_plan(spec, installation, read_environment);
    fmt::print("{}\n", shell_words(spec.command));
    report_program(plan.program);
    say("tasks", describe_tasks(plan));
    for (const std::string &note : plan.notes)
        say("note", note);
    if (plan.warning)
        say("note", *plan.warning);
    if (!plan.runs_as_it_is)
        set_local_ranks(plan, ranks_of_all(spec), processors_to_share(spec), read_environment);
    const std::vector<std::string> command = launch_command(plan, spec, "");
    report_places(plan, spec);
    fmt::print("`sennit run` would set\n");
    for (const Setting &setting : plan.settings)
        fmt::print("  {}\n", shell_words({setting.name + "=" + setting.value}));
    fmt::print("and start\n  {}\n", shell_words(command));
    for (const LoadedLibrary &library : plan.program.libraries)
        if (library.path.empty())
            return false;
    return true;
}

} // namespace

int run_doctor(const JobSpec &spec) {
    fmt::print("Sennit {}\n", SENNIT_VERSION);
    const Installation installation = Installation::locate();
    bool well = report_installation(installation);
    if (!spec.command.empty()) {
        std::fflush(stdout);
        well = report_plan(spec, installation) && well;
    }
    return well ? 0 : refused;
}

namespace {

// What gdb reads must run nothing: no script that stands in or beside a program or library of the
// process, no libthread_db beside its libc, no start files, no downloads. The files of another
// user's process are those of this command's file system, not of one that the process has made.
std::vector<std::string> gdb_command(int process, bool is_other_user) {
    std::vector<std::string> command = {"gdb", "-nx", "-q", "-batch"};
    for (const char *setting :
         {"set auto-load off", "set debuginfod enabled off", "set libthread-db-search-path $sdir",
          "set print thread-events off"})
        command.insert(command.end(), {"-iex", setting});
    if (is_other_user)
        command.insert(command.end(), {"-iex", "set sysroot /"});
    command.insert(command.end(), {"-p", std::to_string(process)});
    return command;
}

} // namespace

void examine_process(int process, OtherUser other_user, const Installation &installation) {
    const std::string script = installation.home() + "/share/sennit/gdb/sennit.py";
    if (access(script.c_str(), R_OK) != 0)
        fail("'{}' is missing: build or install Sennit again", script);
    const bool is_other_user = require_own_process(process, other_user);
    std::string gdb;
    try {
        gdb = resolve_command("gdb");
    } catch (const Failure &) {
        fail("gdb is not in PATH: install it (the package gdb)");
    }
    std::vector<std::string> command = gdb_command(process, is_other_user);
    command.insert(command.end(), {"-x", script, "-ex", "sennit tasks"});
    std::fflush(stdout);
    execute(gdb, command);
}

} // namespace sennit::tool

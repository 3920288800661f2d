// SPDX-License-Identifier: Apache-2.0
#include "launch/run.h"

#include "common/failure.h"
#include "common/host_name.h"
#include "hang/hang_watch.h"
#include "job/job.h"
#include "job/rank_report.h"
#include "launch/job_folder.h"
#include "launch/mpiexec.h"
#include "launch/neighbours.h"
#include "launch/processors.h"
#include "launch/virtual_rank.h"
#include "pool/core_list.h"
#include "pool/pool_board.h"

#include "base/agreements.h"
#include "base/printable.h"
#include "node/identity.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <signal.h>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

namespace sennit::tool {
namespace {

const char *read_environment(const char *name) {
    return std::getenv(name);
}

void explain(const Plan &plan, const std::vector<std::string> &command, std::FILE *to) {
    std::string text;
    for (const std::string &note : plan.notes)
        text += fmt::format("# {}\n", printable(note));
    for (const Setting &setting : plan.settings)
        text += shell_words({setting.name + "=" + setting.value}) + "\n";
    text += shell_words(command) + "\n";
    std::fputs(text.c_str(), to); // may be closed
}

// Another program of a job whose first one has `plan` and `mpi`: they have to have the same MPI.
Plan plan_other(const Plan &plan, MpiKind mpi, const JobSpec &other) {
    Plan result = make_plan(other, Installation::locate(), read_environment);
    const std::string &path = result.program.path;
    if (result.mpi.has_value() != plan.mpi.has_value())
        fail("'{}' has no MPI in it: it cannot be in a job with '{}'",
             result.mpi ? plan.program.path : path, result.mpi ? path : plan.program.path);
    if (result.mpi && *result.mpi != mpi)
        fail("'{}' uses {} and '{}' {}: programs of one job have the same MPI; --apart makes a job "
             "of each",
             plan.program.path, traits(mpi).name, path, traits(*result.mpi).name);
    if (other.as_virtual)
        refuse_virtual(result, read_environment);
    return result;
}

// `sennit exec` with everything that `sennit run` was asked for, and the program that it has found:
// what PATH says to a rank may be another.
std::vector<std::string> exec_command(const Plan &plan, const JobSpec &spec,
                                      const std::string &watch_address, bool is_other = false) {
    std::vector<std::string> line = {own_executable(), "exec"};
    if (!watch_address.empty())
        line.insert(line.end(), {"--watch", watch_address});
    if (spec.mpi)
        line.insert(line.end(), {"--mpi", traits(*spec.mpi).word});
    if (spec.threads)
        line.insert(line.end(), {"--threads", std::to_string(*spec.threads)});
    if (spec.split)
        line.insert(line.end(), {"--split", *spec.split});
    if (spec.policy)
        line.insert(line.end(), {"--policy", *spec.policy});
    if (spec.bind)
        line.insert(line.end(), {"--bind", spec.bind->word});
    if (spec.trace)
        line.push_back("--trace=" + *spec.trace);
    if (spec.talp)
        line.push_back("--talp");
    if (spec.pool)
        line.push_back("--pool=" + *spec.pool);
    if (spec.share)
        line.push_back("--share=" + *spec.share);
    if (spec.priority)
        line.push_back("--priority=" + *spec.priority);
    if (spec.as_virtual)
        line.push_back(spec.as_fibers ? "--virtual=fibers" : "--virtual");
    line.push_back("--");
    if (is_other)
        for (const Setting &setting : spec.settings) // not in the job's environment
            line.push_back(setting.name + "=" + setting.value);
    line.push_back(plan.program.path);
    line.insert(line.end(), spec.command.begin() + 1, spec.command.end());
    return line;
}

// Of the nodes that a batch system has given to this job, mpiexec may take all. Only Slurm says in
// a word how many they are. HYDRA_HOST_FILE is for MPICH's mpiexec alone.
bool has_several_nodes() {
    constexpr const char *lists[] = {"PBS_NODEFILE",   "LSB_HOSTS",   "LSB_DJOB_HOSTFILE",
                                     "LSB_MCPU_HOSTS", "PE_HOSTFILE", "HYDRA_HOST_FILE"};
    const char *const nodes = read_environment("SLURM_JOB_NUM_NODES");
    return (nodes && std::string_view(nodes) != "1") ||
           std::any_of(std::begin(lists), std::end(lists),
                       [](const char *name) { return !text_of(read_environment(name)).empty(); });
}

bool may_span_nodes(const JobSpec &spec) {
    return has_several_nodes() || has_effect(spec.launcher_options, LauncherEffect::hosts) ||
           has_effect(spec.launcher_options, LauncherEffect::hostfile) ||
           std::any_of(spec.others.begin(), spec.others.end(), may_span_nodes);
}

// Shells may drop variables whose names are none for them, such as those of the functions that bash
// hands on; dash does. bash keeps them, and with -p it neither takes such functions for its own nor
// reads BASH_ENV.
std::vector<std::string> shell_that_keeps_variables() {
    const auto is_for_shells = [](std::string_view name) {
        constexpr std::string_view digits = "0123456789";
        constexpr std::string_view others = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        return !name.empty() && digits.find(name[0]) == std::string_view::npos &&
               std::all_of(name.begin(), name.end(), [&](char c) {
                   return digits.find(c) != std::string_view::npos ||
                          others.find(c) != std::string_view::npos;
               });
    };
    bool keeps = true;
    for (char **variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        keeps = keeps && is_for_shells(text.substr(0, text.find('=')));
    }
    if (keeps || access("/bin/bash", X_OK) != 0)
        return {"/bin/sh", "-c"};
    return {"/bin/bash", "-p", "-c"};
}

// Where `sennit` itself is missing, the first rank there says so. A signal ends it, for MPICH's
// mpiexec waits for ever for the others where a rank could not be started.
std::vector<std::string> or_say_what_is_missing(std::vector<std::string> line) {
    std::vector<std::string> command = shell_that_keeps_variables();
    command.emplace_back(R"(test -x "$0" && exec "$0" "$@"; )"
                         R"(test "${MPI_LOCALRANKID:-${OMPI_COMM_WORLD_LOCAL_RANK:-0}}" = 0 && )"
                         R"(echo "sennit: '$0' is not there on $(uname -n): )"
                         R"(install Sennit there in the same folder" >&2; kill -TERM $$)");
    command.insert(command.end(), line.begin(), line.end());
    return command;
}

void make_trace_folder(const JobSpec &spec) {
    if (!spec.trace)
        return;
    std::error_code error;
    std::filesystem::create_directories(*spec.trace, error);
    if (error)
        fail("cannot make the folder '{}' of --trace: {}", *spec.trace, error.message());
}

void warn(const Plan &plan) {
    if (plan.warning)
        tell("sennit: {}\n", printable(*plan.warning));
}

void apply(const Plan &plan) {
    for (const Setting &setting : plan.settings)
        setenv(setting.name.c_str(), setting.value.c_str(), 1);
}

// Of an earlier run: its ranks may have been others. Only who starts the job may do so.
void clear_trace_folder(const JobSpec &spec) {
    if (!spec.trace)
        return;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(*spec.trace, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("rank-") && name.ends_with(".sennit"))
            std::filesystem::remove(entry.path(), error);
    }
}

// The pool has to be there, on each node.
Pool find_pool(const std::string &name) {
    try {
        return Pool::find(name);
    } catch (const Failure &failure) {
        if (!find_job_context(read_environment))
            throw;
        fail("{}, on {}: a job needs a pool of this name on each of its nodes", failure.what(),
             host_name());
    }
}

// Its cores that this process may use.
std::optional<node::Cores> join_pool(Plan &plan, const JobSpec &spec) {
    if (!spec.pool)
        return std::nullopt;
    const Pool pool = find_pool(*spec.pool);
    if (pool.stops())
        fail("pool '{}' is about to stop: no program joins it any more", pool.name());
    const node::Cores cores = both(pool.cores(), node::allowed_cores());
    if (cores.count() == 0)
        fail("pool '{}' has cores {}, and this process may use {} only", pool.name(),
             core_list(pool.cores()), core_list(node::allowed_cores()));
    set_pool(plan, spec, cores.count(), read_environment);
    return cores;
}

void stay_in_pool(const std::optional<node::Cores> &cores) {
    if (cores && !run_on(*cores))
        fail("cannot run on the cores {} of the pool", core_list(*cores));
}

// Will the ranks do so, with their threads, here? Each rank decides for itself in MPI_Init; this is
// only about how it is started.
bool outnumber_processors(const Plan &plan, const JobSpec &spec) {
    const auto setting = [&](const char *name) -> std::string {
        for (const Setting &one : plan.settings)
            if (one.name == name)
                return one.value;
        const char *text = std::getenv(name);
        return text ? text : "";
    };
    const int threads = std::max(1, std::atoi(setting("OMP_NUM_THREADS").c_str()));
    return setting("SENNIT_DOORBELLS") != "off" &&
           std::int64_t{ranks_of_all(spec)} * threads > processors_at_once();
}

void keep_one_session() {
    const std::string library = Installation::locate().session_library();
    const char *before = std::getenv("LD_PRELOAD");
    if (access(library.c_str(), R_OK) == 0)
        setenv("LD_PRELOAD", (library + ":" + (before ? before : "")).c_str(), 1);
}

// Where ranks cannot meet in /dev/shm, this process keeps the memory for it.
void keep_board(const JobSpec &spec) {
    char path[64];
    const char *const given = std::getenv("SENNIT_BOARD");
    if (!spec.pool && !(given && *given) && node::provide_board(path, sizeof path))
        setenv("SENNIT_BOARD", path, 1);
}

// Where the ranks share cores.
std::string board_file(const JobSpec &spec) {
    char path[node::kPathRoom];
    node::board_path(path, sizeof path);
    return spec.pool ? pool_file(*spec.pool) : path;
}

// What ranks that were killed have left of it. One of them may be on its way out, and have it open
// still: after a failure, up to 0.2 s.
void remove_board(bool failed) {
    constexpr int kTries = 20;
    char path[node::kPathRoom];
    node::board_path(path, sizeof path);
    for (int tries = 1;; ++tries) {
        node::remove_unused(path);
        if (!failed || tries == kTries || access(path, F_OK) != 0)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

// The rank whose end has ended the job, in a line for people, if mpiexec has not said it.
void explain_end(const JobEnd &end, const RankEnds &ranks, const Plan &plan, bool spans_nodes) {
    const std::optional<RankReport> &failure = ranks.failure();
    const bool is_early = failure && failure->code != 0 && !ranks.has_begun(failure->rank) &&
                          (ranks.uses_mpi() || !plan.program.mpi_libraries.empty());
    if (failure && is_request(failure->signal) && spans_nodes && !ranks.hears_all())
        tell("sennit: {}, perhaps by mpiexec because a rank on another node has failed; the job "
             "has ended\n",
             describe(*failure)); // what has failed there is told there
    else if (failure && failure->signal != 0)
        tell("sennit: {}; the job has ended\n", describe(*failure));
    else if (is_early && !ranks.has_told() && !failure->is_explained)
        tell("sennit: {}; the job has ended\n", describe_early_end(*failure));
    else if (end.ended_by != 0 && !ranks.has_told())
        tell("sennit: mpiexec was ended by {}; its ranks were ended\n", signal_text(end.ended_by));
}

int start_job(const Plan &plan, MpiKind mpi, const JobSpec &spec) {
    const JobFolder folder;
    const MpiKind launcher = find_mpiexec(mpi, &plan, Asking::all).kind;
    const std::vector<std::string> command = launch_command(plan, spec, folder.socket());
    if (spec.verbose)
        explain(plan, command, stderr);
    warn(plan);
    make_trace_folder(spec);
    clear_trace_folder(spec);
    if (spec.as_virtual && !spec.pool) // else the pool names it
        setenv(virtual_job_variable, new_job_name().c_str(), 1);
    if (launcher == MpiKind::mpich && outnumber_processors(plan, spec))
        keep_one_session();
    keep_board(spec);
    const bool is_open_mpi = launcher == MpiKind::openmpi;
    HangWatch watch(folder.socket(), ranks_of_all(spec), board_file(spec), is_open_mpi);
    const JobEnd end = run_job(command, {is_open_mpi, spec.is_one_of_several}, watch);
    const RankEnds &ranks = watch.ends();
    remove_board(end.code != 0 || ranks.failure());

    const std::optional<RankReport> &failure = ranks.failure();
    const int code = failure ? failure->code : end.code;
    if (end.interrupted != 0)
        return code != 0 ? 128 + end.interrupted : 0;
    explain_end(end, ranks, plan, may_span_nodes(spec));
    return code;
}

// The command that this process becomes, its settings applied.
std::vector<std::string> rank_command(const Plan &plan, const JobSpec &spec,
                                      const Installation &installation) {
    return spec.as_virtual ? virtual_command(plan, spec, installation, read_environment)
                           : spec.command;
}

[[noreturn]] void become(const Plan &plan, const JobSpec &spec, const Installation &installation) {
    const std::vector<std::string> command = rank_command(plan, spec, installation);
    execute(spec.as_virtual ? command[0] : plan.program.path, command);
}

// Says how the program ends: itself, if nobody hears it.
int run_as_parent(const std::string &watch_address, const Plan &plan, const JobSpec &spec,
                  const Installation &installation, const WatchedRank &rank,
                  Hearer *hearer = nullptr) {
    const std::vector<std::string> command = rank_command(plan, spec, installation);
    return run_watched(spec.as_virtual ? command[0] : plan.program.path, command, rank,
                       watch_address, hearer);
}

// Heard, as the program is.
int run_under(const std::string &watch_address, const Plan &plan, const JobSpec &spec,
              const Installation &installation, const WatchedRank &rank, Hearer *hearer = nullptr) {
    setenv("SENNIT_HANG_LINK", watch_address.c_str(), 1);
    return run_as_parent(watch_address, plan, spec, installation, rank, hearer);
}

[[noreturn]] void refuse_ranks(const Plan &plan, const JobSpec &spec) {
    const std::string &path = plan.program.path;
    const bool has_options = !spec.launcher_options.empty();
    if (plan.program.starts_ranks)
        fail("'{}' starts the ranks itself ({}): leave {} away, and tell it in its own way", path,
             plan.program.starts_ranks_by, has_options ? spec.launcher_options[0].typed : "-n");
    fail("which MPI '{}' is going to load cannot be seen: name it for {}, --mpi mpich or --mpi "
         "openmpi",
         path,
         has_options ? spec.launcher_options[0].typed
                     : fmt::format("{} ranks", ranks_of_all(spec)));
}

// A program without MPI has the first mpiexec that is there.
MpiKind any_launcher(Asking asking) {
    std::string problem;
    for (const MpiKind kind : {MpiKind::mpich, MpiKind::openmpi})
        try {
            return find_mpiexec(kind, nullptr, asking).kind;
        } catch (const Failure &failure) {
            problem = failure.what();
        }
    fail("there is no mpiexec to start it by: {}", problem);
}

// The MPI whose mpiexec starts the program. nullopt: it needs none; one that starts its ranks
// itself hands our settings on to them. Throws Failure for what only an mpiexec can do.
std::optional<MpiKind> launcher_of(const Plan &plan, const JobSpec &spec, Asking asking) {
    if (plan.mpi && !plan.program.starts_ranks)
        return plan.mpi;
    if (ranks_of_all(spec) == 1 && spec.launcher_options.empty())
        return std::nullopt;
    if (plan.program.starts_ranks || plan.program.imports.brings_more)
        refuse_ranks(plan, spec);
    return any_launcher(asking);
}

// What one rank of a node cannot do, the others cannot either, as a rule. Open MPI's launcher ends
// a job when one of its ranks has failed. So the others give the first one time to say why. If they
// are still there then, they say it, too: with MPICH's launcher, always.
void let_first_rank_say_why() {
    const std::optional<JobContext> job = find_job_context(read_environment);
    if (job && job->local_rank.value_or(0) > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

// The others may wait in MPI_Init for this rank.
void tell_that_it_is_refused(const std::string &watch_address) {
    const std::optional<JobContext> job = find_job_context(read_environment);
    if (!watch_address.empty() && job)
        send_report(watch_address, {job->rank.value_or(-1), getpid(), 0, refused, true});
}

// Is the rank looked after together with its neighbours? Not where `sennit run` does that. And not
// where a signal of the launcher's may be for its first process alone, unless somebody asks for it:
// that process would not hand it on to the program. Nor if the launcher has started something else,
// such as a script: that may send signals to what it starts, and start several programs, whose ends
// are not the rank's.
bool has_neighbours(const JobSpec &spec, const std::optional<JobContext> &job) {
    const std::string hang = given_text(spec, read_environment, "SENNIT_HANG");
    return job && job->rank && job->world_size && hang != "off" &&
           (job->signals_all || !hang.empty()) &&
           text_of(read_environment("SENNIT_HANG_LINK")).empty() &&
           find_launcher(*job) == getppid();
}

// The parent is the launcher, see has_neighbours().
Neighbours neighbours_of(const JobContext &job, const JobSpec &spec) {
    return Neighbours({getppid(), job.job, *job.world_size, job.launcher_kind == MpiKind::openmpi,
                       board_file(spec)});
}

// A job of several nodes is not judged. Who asks for reports is told of the ranks of each node
// alone.
int ranks_told_alone(const JobSpec &spec, const std::optional<JobContext> &job) {
    const std::string hang = given_text(spec, read_environment, "SENNIT_HANG");
    const bool is_asked = !hang.empty() && hang != "off";
    return is_asked && job && job->local_size && job->world_size &&
                   *job->local_size < *job->world_size
               ? *job->local_size
               : 0;
}

// Not from another node.
bool reaches(const std::string &watch_address) {
    const int link = connect_to_launcher(watch_address.c_str(), 0);
    if (link >= 0)
        close(link);
    return link >= 0;
}

// Does a process hear this rank and its neighbours?
bool has_joined(Neighbours &neighbours, const JobContext &job) {
    if (neighbours.join())
        return true;
    if (job.local_rank.value_or(0) == 0)
        tell("sennit: the ranks of this node cannot be looked after together: {}\n",
             neighbours.reason());
    return false;
}

int become_rank(const JobSpec &spec, const Installation &installation,
                const std::string &watch_address) {
    JobSpec rank = spec;
    const std::optional<JobContext> job = find_job_context(read_environment);
    const bool is_heard = reaches(watch_address);
    const bool beside = !is_heard && has_neighbours(spec, job);
    const WatchedRank watched = {job ? job->rank.value_or(-1) : -1, ranks_told_alone(spec, job)};
    rank.watched =
        is_heard || (beside && (watched.told_alone > 0 || job->local_size == job->world_size));
    Plan plan = make_plan(rank, installation, read_environment);
    if (spec.as_virtual) {
        refuse_virtual(plan, read_environment);
        set_for_virtual(plan, read_environment);
    }
    const std::optional<node::Cores> cores = join_pool(plan, spec);
    if (job) {
        check_job_context(*job, plan.mpi, spec.ranks);
        if (job->local_size && !plan.runs_as_it_is)
            set_local_ranks(plan, *job->local_size,
                            may_use_what_launcher_may(*job) ? std::optional(processors_at_once())
                                                            : std::nullopt,
                            read_environment);
    }
    if (spec.dry_run || spec.verbose)
        explain(plan, spec.command, spec.dry_run ? stdout : stderr);
    if (spec.dry_run)
        return 0;
    make_trace_folder(spec);
    if (watch_address.empty()) // else the command that starts it says so
        warn(plan);
    apply(plan);
    stay_in_pool(cores);
    if (is_heard)
        return run_under(watch_address, plan, spec, installation, watched);
    if (beside && !plan.runs_as_it_is && !plan.program.starts_ranks)
        if (Neighbours neighbours = neighbours_of(*job, spec); has_joined(neighbours, *job))
            return run_under(neighbours.socket(), plan, spec, installation, watched, &neighbours);
    if (!watch_address.empty()) // of `sennit run` on another node
        return run_as_parent(watch_address, plan, spec, installation, watched);
    become(plan, spec, installation);
}

// For its ranks, and for what is said of them: the ranks of each program, if each has a world.
void name_worlds(const JobSpec &spec) {
    std::string ranks = std::to_string(spec.ranks.value_or(1));
    for (const JobSpec &other : spec.others)
        ranks += fmt::format(",{}", other.ranks.value_or(1));
    if (spec.worlds && !spec.others.empty())
        setenv("SENNIT_WORLDS", ranks.c_str(), 1);
    else
        unsetenv("SENNIT_WORLDS"); // of an outer job
}

// By this a trace knows its ranks from those of another job.
void name_traced_job(const JobSpec &spec) {
    if (spec.trace || !text_of(read_environment("SENNIT_TRACE")).empty())
        setenv("SENNIT_TRACE_JOB", new_job_name().c_str(), 1);
}

// As bash and zsh write what a terminal cannot show.
std::string in_escapes(const std::string &word) {
    std::string text = "$'";
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7f)
            text += fmt::format("\\x{:02x}", byte);
        else
            text += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
    return text + "'";
}

} // namespace

std::string shell_words(const std::vector<std::string> &words) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-+=./:,@%^";
    std::string line;
    for (const std::string &word : words) {
        if (!line.empty())
            line += ' ';
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            line += word;
            continue;
        }
        if (printable(word) != word) {
            line += in_escapes(word);
            continue;
        }
        line += '\'';
        for (const char c : word)
            line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::vector<std::string> launch_command(const Plan &plan, const JobSpec &spec,
                                        const std::string &watch_address) {
    const Asking asking = watch_address.empty() ? Asking::only_safe_ones : Asking::all;
    const std::optional<MpiKind> mpi = launcher_of(plan, spec, asking);
    if (!mpi)
        return spec.command;
    const Mpiexec launcher = find_mpiexec(*mpi, &plan, asking);
    std::vector<Launch> programs = {{spec.ranks.value_or(1),
                                     exec_command(plan, spec, watch_address), spec.launcher_options,
                                     plan.program.imports.spawns_several}};
    for (const JobSpec &other : spec.others) {
        const Plan its = plan_other(plan, *mpi, other);
        programs.push_back({other.ranks.value_or(1), exec_command(its, other, watch_address, true),
                            other.launcher_options, its.program.imports.spawns_several});
    }
    if (may_span_nodes(spec))
        for (Launch &program : programs)
            program.command = or_say_what_is_missing(std::move(program.command));
    return compose_launch(launcher, programs);
}

int ranks_of_all(const JobSpec &spec) {
    int ranks = spec.ranks.value_or(1);
    for (const JobSpec &other : spec.others)
        ranks += other.ranks.value_or(1);
    return ranks;
}

std::optional<int> processors_to_share(const JobSpec &spec) {
    if (may_span_nodes(spec) || has_effect(spec.launcher_options, LauncherEffect::binds))
        return std::nullopt;
    return processors_at_once();
}

int run_program(const JobSpec &spec, const Installation &installation) {
    if (const auto job = find_job_context(read_environment)) {
        if (!spec.launcher_options.empty())
            fail("{} is for mpiexec, and this is inside a job already: no mpiexec is started here",
                 spec.launcher_options[0].typed);
        if (spec.worlds)
            fail("this is a rank already, started by {}: --worlds starts a job, leave it away",
                 job->launcher);
        return exec_program(spec, installation, "");
    }
    name_worlds(spec);
    name_traced_job(spec);
    Plan plan = make_plan(spec, installation, read_environment);
    if (spec.worlds && !plan.mpi)
        fail("'{}' has no MPI in it: --worlds is for programs of MPI (--mpi names what cannot be "
             "seen)",
             plan.program.path);
    if (spec.as_virtual) {
        refuse_virtual(plan, read_environment);
        set_for_virtual(plan, read_environment);
    }
    const std::optional<node::Cores> cores = join_pool(plan, spec);
    const std::optional<MpiKind> mpi =
        launcher_of(plan, spec, spec.dry_run ? Asking::only_safe_ones : Asking::all);
    if (!plan.program.starts_ranks && !plan.runs_as_it_is)
        set_local_ranks(plan, ranks_of_all(spec), processors_to_share(spec), read_environment);
    if (spec.dry_run) {
        explain(plan, launch_command(plan, spec, ""), stdout);
        return 0;
    }
    if (mpi) {
        // The launchers of both MPIs fail there, MPICH's with a crash.
        std::error_code error;
        if (std::filesystem::current_path(error).empty())
            fail("the working folder cannot be named ({}): go to another one", error.message());
        return start_job(plan, *mpi, spec);
    }
    if (spec.verbose)
        explain(plan, spec.command, stderr);
    make_trace_folder(spec);
    clear_trace_folder(spec);
    warn(plan);
    apply(plan);
    stay_in_pool(cores);
    become(plan, spec, installation);
}

int exec_program(const JobSpec &spec, const Installation &installation,
                 const std::string &watch_address) {
    try {
        return become_rank(spec, installation, watch_address);
    } catch (const Failure &failure) {
        let_first_rank_say_why();
        if (!watch_address.empty() && !reaches(watch_address)) {
            tell("sennit: {}, on {}\n", printable(failure.what()), host_name());
            end_by(SIGTERM); // or MPICH's mpiexec waits for ever, see or_say_what_is_missing()
        }
        tell_that_it_is_refused(watch_address);
        throw;
    }
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "launch/job_context.h"

#include "common/elf_image.h"
#include "common/failure.h"

#include "base/rank.h"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace sennit::tool {
namespace {

template <typename Number>
std::optional<Number> parse(const char *text) {
    if (!text)
        return std::nullopt;
    Number value{};
    const std::string_view view = text;
    const auto result = std::from_chars(view.data(), view.data() + view.size(), value);
    if (result.ec != std::errc{} || result.ptr != view.data() + view.size())
        return std::nullopt;
    return value;
}

// A rank is recognized by `rank_variable`, if `marker` is there, too.
struct LauncherRow {
    const char *launcher;
    std::optional<MpiKind> kind;
    const char *marker;
    const char *rank_variable;
    const char *world_variable;
    const char *local_variable;
    bool signals_all;
};

// Most specific first: every one of them may set the PMI variables.
const LauncherRow launchers[] = {
    {"Open MPI's mpiexec", MpiKind::openmpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", true},
    {"MPICH's mpiexec", MpiKind::mpich, "MPI_LOCALNRANKS", "PMI_RANK", "PMI_SIZE",
     "MPI_LOCALNRANKS", true},
    // An instance of Flux may have been started by srun, so it comes first.
    {"Flux", std::nullopt, "FLUX_TASK_RANK", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_SIZE",
     true},
    {"PALS", std::nullopt, "PALS_RANKID", "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_SIZE", false},
    {"Slurm's srun", std::nullopt, "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
     "SLURM_STEP_TASKS_PER_NODE", true},
    {"a PMIx launcher", std::nullopt, "PMIX_RANK", "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE",
     false},
    {"a PMI launcher", std::nullopt, "PMI_RANK", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_SIZE", false},
};

// Slurm gives its batch script and its interactive shell a rank, too; their steps have numbers at
// the top of the range.
constexpr std::uint32_t first_special_slurm_step = 0xfffffff0;

bool is_rank(const LauncherRow &row, const EnvironmentReader &environment) {
    if (!environment(row.marker) || !environment(row.rank_variable))
        return false;
    if (std::string_view(row.marker) != "SLURM_STEP_ID")
        return true;
    const auto step = parse<std::uint32_t>(environment(row.marker));
    return step && *step < first_special_slurm_step;
}

// Slurm writes the tasks of each node as "2(x3),1": 2, 2, 2, 1. Plain numbers are the same format.
std::optional<int> tasks_of_node(const char *text, unsigned node) {
    if (!text)
        return std::nullopt;
    for (const std::string &part : split_path_list(text, ",")) {
        const std::size_t open = part.find("(x");
        const auto tasks = parse<int>(part.substr(0, open).c_str());
        unsigned times = 1;
        if (open != std::string::npos) {
            const auto repeat =
                parse<unsigned>(part.substr(open + 2, part.size() - open - 3).c_str());
            if (!repeat)
                return std::nullopt;
            times = *repeat;
        }
        if (node < times)
            return tasks;
        node -= times;
    }
    return std::nullopt;
}

// Flux says how many ranks and how many nodes there are, and not how many ranks each node has.
std::optional<int> local_size(const LauncherRow &row, const EnvironmentReader &environment) {
    const std::string_view variable = row.local_variable;
    if (variable == "FLUX_JOB_SIZE" && parse<int>(environment("FLUX_JOB_NNODES")) != 1)
        return std::nullopt;
    const bool by_node = variable == "SLURM_STEP_TASKS_PER_NODE";
    const unsigned node = parse<unsigned>(environment("SLURM_NODEID")).value_or(0);
    return tasks_of_node(environment(row.local_variable), by_node ? node : 0);
}

std::optional<int> local_rank(const EnvironmentReader &environment) {
    for (const char *variable : kLocalRankVariables)
        if (const char *const text = environment(variable))
            return parse<int>(text);
    return std::nullopt;
}

// Hydra's has none: its proxy starts the ranks of one job alone.
std::string name_of_job(const EnvironmentReader &environment) {
    std::string name;
    for (const char *variable : kJobVariables)
        name += text_of(environment(variable)) + '/';
    return name;
}

} // namespace

std::optional<JobContext> find_job_context(const EnvironmentReader &environment) {
    for (const LauncherRow &row : launchers) {
        if (!is_rank(row, environment))
            continue;
        return JobContext{row.launcher,
                          row.kind,
                          parse<int>(environment(row.rank_variable)),
                          parse<int>(environment(row.world_variable)),
                          local_size(row, environment),
                          local_rank(environment),
                          name_of_job(environment),
                          row.signals_all,
                          row.rank_variable};
    }
    return std::nullopt;
}

void check_job_context(const JobContext &job, std::optional<MpiKind> kind,
                       std::optional<int> ranks) {
    if (kind && job.launcher_kind && !launches(*job.launcher_kind, *kind))
        fail("this is a rank started by {}, but the program uses {}: each rank would be a job of "
             "its own; start it with {}'s mpiexec",
             job.launcher, traits(*kind).name, traits(*kind).name);
    if (ranks && job.world_size && *ranks != *job.world_size)
        fail("already inside a job of {} ranks (started by {}), -n {} cannot start another in it: "
             "leave -n away",
             *job.world_size, job.launcher, *ranks);
}

} // namespace sennit::tool

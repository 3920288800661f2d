// SPDX-License-Identifier: Apache-2.0
// Is this process already a rank of a job, and what does the launcher say about it?
#pragma once

#include "common/mpi_kind.h"

#include <functional>
#include <optional>
#include <string>

namespace sennit::tool {

// getenv, or a test's stand-in for it.
using EnvironmentReader = std::function<const char *(const char *)>;
// What it has said; empty, too, where that is null.
inline std::string text_of(const char *value) {
    return value ? value : "";
}

struct JobContext {
    const char *launcher;                 // for people
    std::optional<MpiKind> launcher_kind; // when the launcher serves one MPI only
    std::optional<int> rank;
    std::optional<int> world_size;
    std::optional<int> local_size; // ranks on this machine
    std::optional<int> local_rank; // among these
    std::string job;               // what the launcher calls it, "" if it does not say
    // Does it signal the process group or all processes of a rank, and not only the first one?
    bool signals_all = false;
    const char *rank_variable = ""; // by which the rank is known
};

// nullopt: not inside a job.
std::optional<JobContext> find_job_context(const EnvironmentReader &environment);

// Throws Failure when a program of this MPI cannot be a rank of that job, or when `ranks` were
// asked for and the job has another number.
void check_job_context(const JobContext &job, std::optional<MpiKind> kind,
                       std::optional<int> ranks);

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Which process of a job this is, before MPI says so, and whether it is a virtual rank.
#pragma once

#include "base/environment.h"

#include <cstdlib>
#include <initializer_list>
#include <sys/auxv.h>

namespace sennit {

// The first of the variables that holds a number of 0 or more; -1 if none does.
inline int first_number(std::initializer_list<const char *> variables) {
    for (const char *variable : variables) {
        const char *text = trusted_environment(variable);
        if (!text || !*text)
            continue;
        char *end = nullptr;
        const long number = std::strtol(text, &end, 10);
        if (*end == '\0' && number >= 0 && number <= 0x7fffffff)
            return static_cast<int>(number);
    }
    return -1;
}

// The rank in MPI_COMM_WORLD as the launcher says; -1 when it does not.
inline int rank_of_environment() {
    return first_number({"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"});
}

// Where the launchers say which rank of its node this is.
inline constexpr const char *kLocalRankVariables[] = {
    "MPI_LOCALRANKID",    "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID", "PALS_LOCAL_RANKID",          "SLURM_LOCALID"};

// Of them, the one by which this rank's launcher says it; null: none.
inline const char *local_rank_variable() {
    for (const char *const name : kLocalRankVariables)
        if (first_number({name}) >= 0)
            return name;
    return nullptr;
}

// One process of each node says what concerns all of them.
inline bool speaks_for_node() {
    for (const char *const name : kLocalRankVariables)
        if (first_number({name}) > 0)
            return false;
    return true;
}

// How many ranks the launcher has started; -1 when it does not say. Slurm's comes last: an mpiexec
// in one of its steps starts a job of its own.
inline int ranks_of_environment() {
    return first_number({"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"});
}

// Where launchers say what they call the job; several may be set. Hydra sets none of them.
inline constexpr const char *kJobVariables[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                                "FLUX_JOB_ID", "PALS_APID"};

// Is this process a virtual rank (src/ranks/loader): one of several programs in one address space?
// The loader says so in the auxiliary vector, which no child of the rank inherits.

// The address of what the ranks export (ranks/exported/registry.h). Of no meaning to anybody else:
// the kernel's types are small numbers.
inline constexpr unsigned long kVirtualRankEntry = 0x53656e6e;

// As well, for the ends of the first thread's stack. Else they are found in /proc/self/maps, which
// has the mappings of all ranks.
inline constexpr unsigned long kStackLowEntry = 0x53656e6c;
inline constexpr unsigned long kStackHighEntry = 0x53656e68;

// As well, for the host's address of a rank fiber (ranks/fibers/rank_fiber.h).
inline constexpr unsigned long kRankFiberEntry = 0x53656e66;

// May the rank's main flow run on other kernel threads than its own?
inline bool is_rank_fiber() {
    return getauxval(kRankFiberEntry) != 0;
}

inline bool is_virtual_rank() {
    return getauxval(kVirtualRankEntry) != 0;
}

// The program's own file. /proc/self/exe of a virtual rank is the loader.
inline const char *program_file() {
    return is_virtual_rank() ? reinterpret_cast<const char *>(getauxval(AT_EXECFN))
                             : "/proc/self/exe";
}

} // namespace sennit

// SPDX-License-Identifier: Apache-2.0
// Which process of a job this is, before MPI says so.
#pragma once

#include <cstdlib>
#include <initializer_list>

namespace sennit {

// The rank in MPI_COMM_WORLD as the launcher says; -1 when it does not.
inline int rank_of_environment() {
    for (const char *variable : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
        const char *text = std::getenv(variable);
        if (!text || !*text)
            continue;
        char *end = nullptr;
        const long rank = std::strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0 && rank <= 0x7fffffff)
            return static_cast<int>(rank);
    }
    return -1;
}

} // namespace sennit

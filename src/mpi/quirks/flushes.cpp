// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/flushes.h"

#ifndef OPEN_MPI

#include "mpi/call/bare.h"

#include <cstring>

namespace sennit::mpi {
namespace {

bool is_over_ucx() {
    static const bool is = [] {
        char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        SENNIT_BARE(Get_library_version)(version, &length);
        return std::strstr(version, "ch4:ucx") != nullptr;
    }();
    return is;
}

} // namespace

int flush_targets(MPI_Win win, int (*call)(MPI_Win)) {
    if (!is_over_ucx())
        return call(win);
    MPI_Group group = MPI_GROUP_NULL;
    int targets = 0;
    int error = SENNIT_BARE(Win_get_group)(win, &group);
    if (error != MPI_SUCCESS)
        return error;
    SENNIT_BARE(Group_size)(group, &targets);
    SENNIT_BARE(Group_free)(&group);
    for (int target = 0; target < targets && error == MPI_SUCCESS; ++target)
        error = SENNIT_BARE(Win_flush)(target, win);
    return error;
}

} // namespace sennit::mpi

#endif

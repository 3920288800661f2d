// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/gathering.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/members.h"
#include "mpi/interpose/bare.h"
#include "mpi/record/record.h"
#include "sennit.h"

#include <dlfcn.h>

namespace sennit::mpi {

namespace {

using Duplicate = decltype(MPI_Comm_idup);

// Where programs have worlds of their own, the library in front of us knows which one is ours: to
// it MPI_COMM_WORLD is the caller's.
Duplicate *duplicate_of_program() {
    static constexpr auto bare = SENNIT_BARE(Comm_idup);
    static Duplicate *const found = [] {
        void *const front = dlsym(RTLD_DEFAULT, interpose::kInFront)
                                ? dlsym(RTLD_DEFAULT, "MPI_Comm_idup")
                                : nullptr;
        return front ? reinterpret_cast<Duplicate *>(front) : static_cast<Duplicate *>(bare);
    }();
    return found;
}

} // namespace

// Ranks may be late for the first communicator. Then all are there, for the second one.
bool Gathering::make() {
    static constexpr auto split = SENNIT_BARE(Comm_split_type);
    static constexpr auto free_comm = SENNIT_BARE(Comm_free);
    const Inside inside;
    Duplicate *const duplicate = duplicate_of_program();
    const bool came = meet(
        [&](MPI_Request *request) {
            const int error = duplicate(MPI_COMM_WORLD, &job_, request);
            g_record.requests.strike(*request); // it has come by our own call
            return error;
        },
        LateRanks());
    if (!came)
        return false;
    if (split(job_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_) != MPI_SUCCESS) {
        free_comm(&job_);
        return false;
    }
    return true;
}

void Gathering::end() {
    static constexpr auto free_comm = SENNIT_BARE(Comm_free);
    if (has_comms_)
        outside_task([&] {
            free_comm(&node_);
            free_comm(&job_);
            return MPI_SUCCESS;
        });
    is_open_ = has_comms_ = false;
}

int Gathering::gather(bool node, const void *mine, int bytes, void *all, int room) {
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto gather_all = SENNIT_BARE(Iallgather);
    if (!is_open_)
        return 0;
    if (!has_comms_)
        has_comms_ = make();
    if (!has_comms_)
        return 0;
    const MPI_Comm comm = node ? node_ : job_;
    int size = 0;
    if (outside_task([&] { return get_size(comm, &size); }) != MPI_SUCCESS)
        return 0;
    if (room / bytes < size)
        return size;
    const bool came = meet(
        [&](MPI_Request *request) {
            return gather_all(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, request);
        },
        LateRanks());
    return came ? size : 0;
}

} // namespace sennit::mpi

extern "C" SENNIT_EXPORT int sennit_gather(int node, const void *mine, int bytes, void *all,
                                           int room) {
    return bytes > 0 ? sennit::mpi::g_record.timeline.gather(node != 0, mine, bytes, all, room) : 0;
}

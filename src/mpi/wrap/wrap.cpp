// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/wrap.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/options.h"
#include "mpi/wrap/row.h"

namespace sennit::mpi {

constinit Wrap g_wrap;

void Collectives::choose() {
    if (options::read_choice<CollectiveChoice>(options::collectives) !=
        CollectiveChoice::nonblocking)
        return;
    all_nonblocking_.store(true, std::memory_order_relaxed);
    attend_to(kCollectives);
}

CollectivePath path_of_collective(bool has_twin, bool crowded) {
    using enum CollectiveForm;
    InCallback::note_call();
    if (inside_mpi())
        return {blocking, Path::bare};
    const bool all_nonblocking = has_twin && g_wrap.collectives.all_nonblocking();
    const bool must_poll = InCallback::polls() || crowded;
    const Path wait = path_of_wait();
    if (wait == Path::polls && !must_poll)
        return all_nonblocking ? CollectivePath{nonblocking, path_outside()}
                               : CollectivePath{blocking, Path::blocks};
    if (has_twin && (all_nonblocking || must_poll || is_explicit(current_task())))
        return {nonblocking, wait};
    return {blocking, without_twin(path_of_call())};
}

// Between two groups the root itself says MPI_ROOT, and those beside it MPI_PROC_NULL, which send
// nothing.
static bool sends_by_root(Sends where, int root, MPI_Comm comm) {
    if (root == MPI_PROC_NULL || comm == MPI_COMM_NULL)
        return false;
    int between_groups = 0;
    int rank = MPI_PROC_NULL;
    SENNIT_BARE(Comm_test_inter)(comm, &between_groups);
    SENNIT_BARE(Comm_rank)(comm, &rank);
    const bool is_root = between_groups ? root == MPI_ROOT : root == rank;
    return is_root == (where == Sends::at_root);
}

void note_if_sends(const Row &row, const Facts &facts) {
    if (row.sends != Sends::nowhere && in_task() &&
        (row.sends == Sends::always || sends_by_root(row.sends, facts.root, comm_of(facts))))
        note_send();
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/wrap.h"

#include "mpi/call/call_path.h"
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/options.h"

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

} // namespace sennit::mpi

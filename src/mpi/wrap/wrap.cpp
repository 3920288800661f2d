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

CollectiveForm collective_form(bool has_twin, bool crowded) {
    InCallback::note_call();
    if (inside_mpi())
        return CollectiveForm::blocking;
    const bool all_nonblocking = has_twin && g_wrap.collectives.all_nonblocking();
    const bool callback = InCallback::polls() || crowded;
    if (!in_task() && !callback)
        return all_nonblocking ? CollectiveForm::started : CollectiveForm::blocking;
    if (has_twin && (all_nonblocking || callback || is_explicit(current_task())))
        return CollectiveForm::nonblocking;
    return must_not_block() ? CollectiveForm::delegated : CollectiveForm::blocking;
}

} // namespace sennit::mpi

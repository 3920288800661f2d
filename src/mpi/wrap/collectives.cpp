// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/collectives.h"

#include "mpi/call/call_path.h"
#include "mpi/options.h"

namespace sennit::mpi {

void Collectives::choose() {
    if (options::read_choice<CollectiveChoice>(options::collectives) !=
        CollectiveChoice::nonblocking)
        return;
    all_nonblocking_.store(true, std::memory_order_relaxed);
    attend_to(kCollectives);
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "node/assembly.h"

namespace sennit::node {

// acquire: what the job before has written is over.
bool Assembly::claim(std::uint64_t seen, std::uint64_t job) {
    return job_.compare_exchange_strong(seen, job, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
}

void Assembly::begin(int members) {
    members_ = members;
    left_.store(0, std::memory_order_relaxed);
    here_.store(0, std::memory_order_relaxed);
    over_.store(0, std::memory_order_relaxed);
    for (Note &note : notes_)
        note.clear();
}

} // namespace sennit::node

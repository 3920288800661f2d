// SPDX-License-Identifier: Apache-2.0
#include "runtime/hang_regions.h"

#include "omp/sync/sync.h"
#include "omp/team/team.h"

namespace sennit::runtime {
namespace {

std::int64_t late_at_barrier(const watch::Memory &memory, const void *object) {
    const auto *team = static_cast<const omp::Team *>(object);
    return memory.get_or(&team->size, 0) -
           memory.get_or<std::int64_t>(&team->arrived, 0) % omp::Team::kJoin;
}

bool holds(const Task *task, std::uint32_t word) {
    return omp::Mutex::is_mark_of(word, task);
}

} // namespace

constinit const watch::Regions kHangRegions = {.late_at_barrier = late_at_barrier, .holds = holds};

} // namespace sennit::runtime

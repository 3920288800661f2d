// SPDX-License-Identifier: Apache-2.0
// Kernel threads behind workers, and how busy the machine is.
#pragma once

#include <cstdint>

namespace sennit::sched {

// How long an idle worker spins, in ticks(); 0 when workers outnumber processors.
std::uint64_t spin_budget();
std::uint64_t ticks_per_us();

} // namespace sennit::sched

// SPDX-License-Identifier: Apache-2.0
// Stands before src/base/fence.h: the light side is free. tests/schedules/fence has the fence
// itself.
#pragma once

#include "schedules.h"

namespace sennit {

inline void fence_light() {}
inline void fence_heavy() {
    schedules::membarrier();
}
void fence_before_sleep();

} // namespace sennit

// SPDX-License-Identifier: Apache-2.0
// What the scheduler asks of this room (sched/client.h).
#pragma once

#include "sched/client.h"

namespace sennit::task {

extern const sched::Client kSchedulerClient;

} // namespace sennit::task

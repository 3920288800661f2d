// SPDX-License-Identifier: Apache-2.0
// The functions that a program wants to be called when it owns other cores.
#pragma once

#include "dlb.h"

#include <sched.h>

namespace sennit::dlb {

// Call those who are to know: the process owns these cores now.
void tell_change(int count, const cpu_set_t *mask);

} // namespace sennit::dlb

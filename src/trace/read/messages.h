// SPDX-License-Identifier: Apache-2.0
// Which send's message a receive got.
#pragma once

#include "trace/read/model.h"

namespace sennit::trace {

// Messages between the same two ranks, with the same tag, in groups of the same members, are
// received in the order in which they were sent. Fills Job::messages and the calls' `message`.
void match_messages(Job &job);

} // namespace sennit::trace

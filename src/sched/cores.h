// SPDX-License-Identifier: Apache-2.0
// The process's part of the node's cores, where it shares them with other processes: a worker takes
// one before it computes, and lends it while it waits (node/share.h).
//
// Off, it costs the scheduling points nothing: they look further only where poll::due() says so.
#pragma once

#include "node/share.h"

namespace sennit::sched {

namespace detail {
[[gnu::visibility("hidden")]] extern node::Share g_share;
}
inline node::Share &share() {
    return detail::g_share;
}
inline bool shares_cores() {
    return detail::g_share.on();
}

} // namespace sennit::sched

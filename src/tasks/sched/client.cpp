// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/client.h"

namespace sennit::sched {

constinit Client detail::g_client{};
constinit std::atomic<bool> detail::g_outdated{false};

void plug(const Client &client) {
    detail::g_client = client;
}

} // namespace sennit::sched

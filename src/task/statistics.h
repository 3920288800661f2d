// SPDX-License-Identifier: Apache-2.0
// The numbers of sennit_get_statistics, and SENNIT_STATS.
#pragma once

namespace sennit::task {
void statistics_setup(); // after config_setup
} // namespace sennit::task

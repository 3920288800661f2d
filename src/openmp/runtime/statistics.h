// SPDX-License-Identifier: Apache-2.0
// The numbers of this process (sennit_get_statistics, SENNIT_STATS) and the marks that libraries
// set on the timeline (sennit_trace_begin, _end).
#pragma once

namespace sennit::runtime {

// Once, when the library is loaded: reads the configuration, registers the writer at exit.
void statistics_setup();

} // namespace sennit::runtime

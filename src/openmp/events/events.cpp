// SPDX-License-Identifier: Apache-2.0
#include "openmp/events/events.h"

namespace sennit::ompt {

constinit ToolCallbacks g_tool;
constinit BeforeFirstUse g_before_first_use = [] {};
SENNIT_TLS ToolThread t_thread;

} // namespace sennit::ompt

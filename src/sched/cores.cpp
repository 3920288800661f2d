// SPDX-License-Identifier: Apache-2.0
#include "sched/cores.h"

namespace sennit::sched::detail {

constinit node::Share g_share;

} // namespace sennit::sched::detail

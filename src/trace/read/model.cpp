// SPDX-License-Identifier: Apache-2.0
#include "trace/read/model.h"

namespace sennit::trace {

Ns Process::over(const Call &call) const {
    if (!call.post)
        return call.end;
    if (call.bound)
        return tasks[call.bound].completed == kNever ? end : tasks[call.bound].completed;
    return call.wait == kNone ? call.begin : calls[call.wait].end;
}

std::uint32_t Process::waiter_of(const Call &call) const {
    return call.bound ? call.bound : call.wait == kNone ? call.task : calls[call.wait].task;
}

} // namespace sennit::trace

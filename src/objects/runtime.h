// SPDX-License-Identifier: Apache-2.0
// Sennit's runtime, if it is in the process: it knows which task runs here, for how long, and keeps
// the trace.
#pragma once

#include "sennit.h"

#include <dlfcn.h>

namespace sennit::objects {

struct Runtime {
    decltype(&sennit_task_self) task_self = find<decltype(task_self)>("sennit_task_self");
    decltype(&sennit_work_time) work_time = find<decltype(work_time)>("sennit_work_time");
    decltype(&sennit_trace_on) trace_on = find<decltype(trace_on)>("sennit_trace_on");
    decltype(&sennit_trace_object) trace_object =
        find<decltype(trace_object)>("sennit_trace_object");
    decltype(&sennit_trace_balance) trace_balance =
        find<decltype(trace_balance)>("sennit_trace_balance");

    bool traces() const { return trace_on && trace_object && trace_balance && trace_on() != 0; }

    template <class Function>
    static Function find(const char *name) {
        return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    }
    static const Runtime &get() {
        static const Runtime runtime;
        return runtime;
    }
};

} // namespace sennit::objects

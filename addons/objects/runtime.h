// SPDX-License-Identifier: Apache-2.0
// Sennit's runtime, if it is in the process. It knows which task runs here and for whom tasks work,
// and it keeps the trace. And Sennit's MPI library, which knows whose messages there are.
#pragma once

#include "sennit.h"

#include <dlfcn.h>

namespace sennit::objects {

struct Runtime {
    decltype(&sennit_task_self) task_self = find<decltype(task_self)>("sennit_task_self");
    decltype(&sennit_account_open) account_open =
        find<decltype(account_open)>("sennit_account_open");
    decltype(&sennit_account_close) account_close =
        find<decltype(account_close)>("sennit_account_close");
    decltype(&sennit_account_time) account_time =
        find<decltype(account_time)>("sennit_account_time");
    decltype(&sennit_work_for) work_for = find<decltype(work_for)>("sennit_work_for");
    decltype(&sennit_traffic_watch) traffic_watch =
        find<decltype(traffic_watch)>("sennit_traffic_watch");
    decltype(&sennit_traffic_take) traffic_take =
        find<decltype(traffic_take)>("sennit_traffic_take");
    decltype(&sennit_traffic_except) traffic_except =
        find<decltype(traffic_except)>("sennit_traffic_except");
    decltype(&sennit_trace_on) trace_on = find<decltype(trace_on)>("sennit_trace_on");
    decltype(&sennit_trace_object) trace_object =
        find<decltype(trace_object)>("sennit_trace_object");
    decltype(&sennit_trace_balance) trace_balance =
        find<decltype(trace_balance)>("sennit_trace_balance");

    bool has_accounts() const { return account_open && account_close && account_time && work_for; }
    bool counts_traffic() const { return traffic_watch && traffic_take && traffic_except; }
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

// SPDX-License-Identifier: Apache-2.0
#include "task/observer.h"

#include "trace/trace.h"

namespace sennit::task {

Observer *detail::g_observer = nullptr;

void set_observer(Observer *observer) {
    detail::g_observer = observer;
    if (observer)
        observed::set(observed::kTool);
    else
        observed::clear(observed::kTool);
}

void observer_setup() {
    if (trace::on())
        observed::set(observed::kTrace);
}

} // namespace sennit::task

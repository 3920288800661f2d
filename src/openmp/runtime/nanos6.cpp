// SPDX-License-Identifier: Apache-2.0
// include/nanos6.h over sennit.h. A blocking context and an event counter are the task itself.
#include "nanos6.h"

#include "base/compiler.h"
#include "base/message.h"
#include "openmp/runtime/library.h"
#include "openmp/runtime/polling_services.h"
#include "sennit.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/worker.h"

#include <cstdlib>
#include <sched.h>
#include <utility>

namespace sennit::runtime {

int PollingServices::poll(void *services) {
    return static_cast<PollingServices *>(services)->call_all();
}

// Null: it is not there, or about to go.
PollingServices::Registration *PollingServices::find(nanos6_polling_service_t function,
                                                     void *data) {
    Registration *at = first_;
    while (at && (at->gone || at->function != function || at->data != data))
        at = at->next;
    return at;
}

void PollingServices::unlink(const Registration &wanted) {
    Registration **at = &first_;
    while (*at != &wanted)
        at = &(*at)->next;
    *at = wanted.next;
}

// The service that calls all others; null without memory. If two threads make one at the same time,
// that of the second has no operations, and is never called.
sennit_poll_service *PollingServices::caller() {
    {
        const Guard guard(lock_);
        if (caller_)
            return caller_;
    }
    sennit_poll_service *made = nullptr;
    const int error = sennit_poll_register("nanos6.h", poll, this, &made);
    const Guard guard(lock_);
    if (!caller_ && error == SENNIT_SUCCESS)
        caller_ = made;
    return caller_;
}

bool PollingServices::add(nanos6_polling_service_t function, void *data) {
    sennit_poll_service *const service = caller();
    auto *const made = static_cast<Registration *>(std::malloc(sizeof(Registration)));
    if (!made || !service) {
        std::free(made);
        return false;
    }
    {
        const Guard guard(lock_);
        *made = {function, data, first_, false};
        first_ = made;
    }
    sennit_poll_pending(service, 1);
    return true;
}

void PollingServices::remove(nanos6_polling_service_t function, void *data) {
    lock_.lock();
    Registration *const found = find(function, data);
    const bool is_called = found && found == called_;
    const std::uint64_t call = calls_;
    if (is_called)
        found->gone = true;
    else if (found)
        unlink(*found);
    lock_.unlock();
    if (is_called)
        wait_for(call);
    if (!found || is_called)
        return;
    std::free(found);
    sennit_poll_pending(caller(), -1);
}

// The caller may be the service that is called, or run on another fiber of its thread.
void PollingServices::wait_for(std::uint64_t call) {
    sched::Worker *const worker = sched::Worker::self();
    if (poll::inside(worker ? worker->current() : nullptr))
        return;
    while (is_under_way(call)) {
        if (worker)
            worker->yield();
        else
            sched_yield();
    }
}

bool PollingServices::is_under_way(std::uint64_t call) {
    const Guard guard(lock_);
    return called_ && calls_ == call;
}

// Those that are added meanwhile are called the next time.
int PollingServices::call_all() {
    Registration *gone = nullptr;
    lock_.lock();
    const unsigned forks = forks_;
    for (Registration *at = first_, *next; at; at = next) {
        called_ = at;
        ++calls_;
        lock_.unlock();
        const bool is_done = at->function(at->data) != 0;
        lock_.lock();
        if (forks != forks_) { // the service has forked, and this is the child
            lock_.unlock();
            return 0;
        }
        called_ = nullptr;
        next = at->next;
        if (!is_done && !at->gone)
            continue;
        unlink(*at);
        at->next = gone;
        gone = at;
    }
    lock_.unlock();
    int count = 0;
    for (; gone; ++count)
        std::free(std::exchange(gone, gone->next));
    if (count > 0)
        sennit_poll_pending(caller(), -count);
    return count;
}

// The calling thread may be in a service, which goes on in the child.
void PollingServices::after_fork_in_child() {
    first_ = nullptr;
    called_ = nullptr;
    ++forks_;
    lock_.unlock();
}

} // namespace sennit::runtime

using sennit::runtime::g_process;

extern "C" {

SENNIT_EXPORT void *nanos6_get_current_blocking_context(void) {
    sennit_task *self = nullptr;
    sennit_task_self(&self);
    return self;
}

SENNIT_EXPORT void nanos6_block_current_task(void *blocking_context) {
    sennit_task_suspend(static_cast<sennit_task *>(blocking_context));
}

SENNIT_EXPORT void nanos6_unblock_task(void *blocking_context) {
    sennit_task_resume(static_cast<sennit_task *>(blocking_context));
}

SENNIT_EXPORT void nanos6_register_polling_service(const char *service_name,
                                                   nanos6_polling_service_t service_function,
                                                   void *service_data) {
    if (service_function && !g_process.services.add(service_function, service_data))
        sennit::warn("no memory for the polling service '%s': it is never called",
                     service_name ? service_name : "");
}

SENNIT_EXPORT void nanos6_unregister_polling_service(const char *,
                                                     nanos6_polling_service_t service_function,
                                                     void *service_data) {
    g_process.services.remove(service_function, service_data);
}

SENNIT_EXPORT void *nanos6_get_current_event_counter(void) {
    return nanos6_get_current_blocking_context();
}

SENNIT_EXPORT void nanos6_increase_current_task_event_counter(void *event_counter,
                                                              unsigned int increment) {
    sennit_task_events_increase(static_cast<sennit_task *>(event_counter), increment);
}

SENNIT_EXPORT void nanos6_decrease_task_event_counter(void *event_counter, unsigned int decrement) {
    sennit_task_events_decrease(static_cast<sennit_task *>(event_counter), decrement);
}

} // extern "C"

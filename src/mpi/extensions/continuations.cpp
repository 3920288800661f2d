// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/continuations.h"

#include "base/guard.h"
#include "mpi/call/bare.h"
#include "mpi/call/errors.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/record/record.h"
#include "mpix_continue.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::mpi {
namespace {

void fail(Continuation *continuation, int error) {
    continuation->owner->error = error;
    continuation->owner->failed.push(continuation);
}

Callbacks::Function function_of(const Continuation &continuation) {
    return reinterpret_cast<Callbacks::Function>(continuation.callback);
}

} // namespace

Continuations::Request *Continuations::find(MPI_Request handle) {
    return table_.find(handle_bits(handle));
}

// Continuations that any polling thread may call count as pending, so that somebody polls.
void Continuations::announce(Request &request) {
    const bool callable = request.active && (!request.poll_only || request.waiters > 0);
    const int wanted = callable ? request.ready_count : 0;
    for (; request.announced < wanted; ++request.announced) {
        g_engine.tickets.begin_pending();
        callable_.fetch_add(1, std::memory_order_release);
    }
    for (; request.announced > wanted; --request.announced) {
        g_engine.tickets.end_pending();
        callable_.fetch_sub(1, std::memory_order_relaxed);
    }
}

// For MPI, the request is complete: a receive that MPI_Start started has its message.
void Continuations::complete_request(Request &request) {
    static constexpr auto rsend = SENNIT_BARE(Rsend);
    request.active = false;
    outside_task([&] {
        mutex_.assert_held();
        return rsend(nullptr, 0, MPI_BYTE, 0, request.tag, self_);
    });
}

void Continuations::destroy_if_unused(Request &request) {
    if (!request.freed || request.registered > 0 || request.attended > 0)
        return;
    Request **at = &all_;
    while (*at != &request)
        at = &(*at)->next;
    *at = request.next;
    while (Continuation *failed = request.failed.pop())
        delete failed;
    delete &request;
}

// A continuation is no longer registered.
void Continuations::leave(Request &request) {
    if (--request.registered == 0 && request.active && request.waiters > 0)
        complete_request(request);
    destroy_if_unused(request);
}

void Continuations::call(void *given) {
    auto *continuation = static_cast<Continuation *>(given);
    Request &request = *continuation->owner;
    Continuations &self = continuation->all;
    const int result = continuation->callback(continuation->error, continuation->data);
    const Guard guard(self.mutex_);
    if (result != MPI_SUCCESS)
        fail(continuation, result);
    else
        delete continuation;
    self.leave(request);
}

void Continuations::call_first(Request &request, bool here) {
    Continuation *continuation = request.ready.pop();
    --request.ready_count;
    announce(request);
    mutex_.unlock();
    if (here)
        callbacks_.run_here(function_of(*continuation), call, continuation);
    else
        callbacks_.run(function_of(*continuation), call, continuation);
    mutex_.lock();
}

bool Continuations::may_call(const Request &request, bool application) {
    return request.announced > 0 && (application || request.any_thread) &&
           (request.max_poll == 0 || request.pass != pass_ ||
            request.called_in_pass < request.max_poll) &&
           (Callbacks::may_begin() ||
            callbacks_.goes_elsewhere(function_of(*request.ready.first())));
}

bool Continuations::enter(Continuation &continuation, MPI_Request handle) {
    const Guard guard(mutex_);
    continuation.owner = find(handle);
    if (continuation.owner)
        ++continuation.owner->registered;
    return continuation.owner != nullptr;
}

void Continuations::withdraw(Continuation *continuation) {
    const Guard guard(mutex_);
    leave(*continuation->owner);
    delete continuation;
}

void Continuations::complete(Continuation *continuation) {
    const Guard guard(mutex_);
    Request &request = *continuation->owner;
    if (continuation->error != MPI_SUCCESS && !continuation->invoke_failed) {
        fail(continuation, continuation->error);
        leave(request);
        return;
    }
    request.ready.push(continuation);
    ++request.ready_count;
    announce(request);
}

void Continuations::activate(int count, const MPI_Request *requests) {
    const Guard guard(mutex_);
    for (int i = 0; i < count; ++i)
        if (Request *request = find(requests[i])) {
            request->active = true;
            announce(*request);
        }
}

void Continuations::free(MPI_Request handle) {
    const Guard guard(mutex_);
    Request *const found = find(handle);
    if (!found)
        return;
    // Nobody can test or wait for it any more. Its continuations run nevertheless.
    if (found->active)
        complete_request(*found);
    found->poll_only = false;
    found->active = found->registered > 0;
    announce(*found);
    table_.take(handle_bits(handle));
    if (count_.fetch_sub(1, std::memory_order_relaxed) == 1)
        attend_no_more_to(kContinuations);
    found->freed = true;
    destroy_if_unused(*found);
}

void Continuations::close() {
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    const Guard guard(mutex_);
    if (has_self_ && !any())
        outside_task([&] {
            mutex_.assert_held();
            return comm_free(&self_);
        });
    has_self_ = false;
}

int Continuations::run(bool application) {
    if (callable_.load(std::memory_order_acquire) == 0)
        return 0;
    int called = 0;
    const Guard guard(mutex_);
    const std::uint64_t pass = ++pass_;
    for (Request *request = all_; request;) {
        if (!may_call(*request, application)) {
            request = request->next;
            continue;
        }
        request->called_in_pass = request->pass == pass ? request->called_in_pass + 1 : 1;
        request->pass = pass;
        call_first(*request, false);
        ++called;
        request = all_; // the list may have changed
    }
    return called;
}

int Continuations::make(bool poll_only, bool any_thread, int max_poll, MPI_Request *handle) {
    static constexpr auto comm_dup = SENNIT_BARE(Comm_dup);
    static constexpr auto recv_init = SENNIT_BARE(Recv_init);
    constexpr int tags = 32768;
    auto *request = new (std::nothrow) Request;
    if (!request)
        return MPI_ERR_NO_MEM;
    const Guard guard(mutex_);
    request->tag = made_++ % tags;
    request->poll_only = poll_only;
    request->any_thread = any_thread;
    request->max_poll = max_poll;
    const int error = outside_task([&] {
        mutex_.assert_held();
        if (!has_self_) {
            if (const int failure = comm_dup(MPI_COMM_SELF, &self_); failure != MPI_SUCCESS)
                return failure;
            has_self_ = true;
        }
        return recv_init(nullptr, 0, MPI_BYTE, 0, request->tag, self_, &request->handle);
    });
    if (error != MPI_SUCCESS) {
        delete request;
        return error;
    }
    request->next = all_;
    all_ = request;
    table_.add(*request);
    count_.fetch_add(1, std::memory_order_relaxed);
    attend_to(kContinuations);
    *handle = request->handle;
    return MPI_SUCCESS;
}

bool Continuations::take_failed(MPI_Request handle, int *count, void **data) {
    const Guard guard(mutex_);
    Request *request = find(handle);
    if (!request)
        return false;
    int taken = 0;
    for (; taken < *count; ++taken) {
        Continuation *failed = request->failed.pop();
        if (!failed)
            break;
        data[taken] = failed->data;
        delete failed;
    }
    if (request->failed.empty())
        request->error = MPI_SUCCESS;
    *count = taken;
    return true;
}

} // namespace sennit::mpi

// MPIX_Continue*: the calls.

using namespace sennit::mpi;

namespace {

// The operations of a continuation are complete.
void deliver(Batch &batch) {
    auto *continuation = static_cast<Continuation *>(batch.data);
    continuation->error = batch.error;
    for (int i = 0; i < batch.count; ++i) {
        if (batch.error != MPI_SUCCESS && batch.statuses[i].MPI_ERROR != MPI_SUCCESS &&
            batch.statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
            continuation->error = batch.statuses[i].MPI_ERROR;
            break;
        }
    }
    if (continuation->handles)
        std::memcpy(continuation->handles, batch.requests,
                    static_cast<std::size_t>(batch.count) * sizeof(MPI_Request));
    else if (continuation->free_requests) {
        static constexpr auto request_free = SENNIT_BARE(Request_free);
        for (int i = 0; i < batch.count; ++i)
            if (batch.requests[i] != MPI_REQUEST_NULL)
                outside_task([&] { return request_free(&batch.requests[i]); }); // persistent
    }
    continuation->all.complete(continuation);
}

// As the test of any batch. But the caller has given up the requests, so it cannot go on with the
// rest when one has failed. So all are waited for.
bool poll(Ticket &ticket) {
    auto &self = static_cast<Batch &>(ticket);
    int flag = 0;
    const int error = self.test_all(self.count, self.requests, &flag, self.statuses);
    QuietTests::kept_back();
    if (error != MPI_SUCCESS)
        self.error = error;
    if (flag)
        return true;
    const bool given_up = static_cast<Continuation *>(self.data)->handles == nullptr;
    return error != MPI_SUCCESS && (!given_up || error != MPI_ERR_IN_STATUS);
}

int attach(const char *name, int count, MPI_Request *requests, MPIX_Continue_cb_function *callback,
           void *data, int flags, MPI_Status *statuses, MPI_Request handle) {
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!callback)
        return MPI_ERR_ARG;
    Continuations &all = g_extensions.continuations;
    const bool given_up = (flags & (MPIX_CONT_REQBUF_VOLATILE | MPIX_CONT_REQUESTS_FREE)) != 0;
    auto *continuation =
        new (std::nothrow) Continuation{all,
                                        nullptr,
                                        callback,
                                        data,
                                        given_up ? nullptr : requests,
                                        (flags & MPIX_CONT_INVOKE_FAILED) != 0 || given_up,
                                        (flags & MPIX_CONT_REQUESTS_FREE) != 0,
                                        MPI_SUCCESS,
                                        nullptr};
    if (!continuation)
        return MPI_ERR_NO_MEM;
    if (!all.enter(*continuation, handle)) {
        delete continuation;
        return MPI_ERR_REQUEST;
    }
    g_record.timeline.completes(requests, count, 0);
    Batch *batch =
        make_batch(name, count, requests, true, given_up ? Requests::taken_over : Requests::kept);
    if (!batch) {
        all.withdraw(continuation);
        return MPI_ERR_NO_MEM;
    }
    batch->quiet = true;
    if (count != 1)
        batch->test = poll;
    batch->user_statuses = is_ignored(statuses) ? nullptr : statuses;
    batch->deliver = deliver;
    batch->data = continuation;
    bind_if_undeferred(*batch);
    hand_over(*batch);
    if ((flags & MPIX_CONT_DEFER_COMPLETE) == 0)
        all.run(true);
    g_engine.progress_thread.wake();
    return MPI_SUCCESS;
}

} // namespace

extern "C" {

SENNIT_EXPORT int MPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *handle) {
    static constexpr auto info_get = SENNIT_BARE(Info_get);
    if ((flags & ~MPIX_CONT_POLL_ONLY) != 0 || max_poll < 0 || !handle)
        return MPI_ERR_ARG;
    char thread[16] = "";
    int given = 0;
    if (info != MPI_INFO_NULL)
        outside_task([&] {
            return info_get(info, "mpi_continue_thread", sizeof thread - 1, thread, &given);
        });
    Callbacks::expect();
    const int error =
        g_extensions.continuations.make((flags & MPIX_CONT_POLL_ONLY) != 0,
                                        given && std::strcmp(thread, "all") == 0, max_poll, handle);
    static constexpr sennit_call call{"MPIX_Continue_init", 0, 0};
    g_record.requests.note(error, handle, {&call, -1, -1, 0});
    return error;
}

SENNIT_EXPORT int MPIX_Continue(MPI_Request *request, MPIX_Continue_cb_function *callback,
                                void *data, int flags, MPI_Status *status, MPI_Request cont_req) {
    return attach("MPIX_Continue", 1, request, callback, data, flags, status, cont_req);
}

SENNIT_EXPORT int MPIX_Continueall(int count, MPI_Request requests[],
                                   MPIX_Continue_cb_function *callback, void *data, int flags,
                                   MPI_Status statuses[], MPI_Request cont_req) {
    return attach("MPIX_Continueall", count, requests, callback, data, flags, statuses, cont_req);
}

SENNIT_EXPORT int MPIX_Continue_get_failed(MPI_Request cont_req, int *count, void **data) {
    return g_extensions.continuations.take_failed(cont_req, count, data) ? MPI_SUCCESS
                                                                         : MPI_ERR_REQUEST;
}

} // extern "C"

namespace sennit::mpi {

Attendance::Attendance(Mode mode, int count, const MPI_Request *requests)
    : mode_(mode), requests_(count) {
    const Guard guard(all_.mutex_);
    int capacity = kFew;
    for (int i = 0; i < count; ++i) {
        Continuations::Request *request = all_.find(requests[i]);
        if (!request)
            continue;
        if (count_ == capacity) {
            const auto size = static_cast<std::size_t>(2 * capacity) * sizeof(Entry);
            auto *more = static_cast<Entry *>(std::malloc(size));
            if (!more)
                break;
            std::memcpy(more, entries_, static_cast<std::size_t>(capacity) * sizeof(Entry));
            if (entries_ != few_)
                std::free(entries_);
            entries_ = more;
            capacity *= 2;
        }
        entries_[count_++] = {request, i};
        ++request->attended;
        if (mode_ == Mode::wait) {
            ++request->waiters;
            all_.announce(*request);
            if (request->active && request->registered == 0)
                all_.complete_request(*request);
        }
    }
}

Attendance::~Attendance() {
    const Guard guard(all_.mutex_);
    for (int i = 0; i < count_; ++i) {
        Continuations::Request &request = *entries_[i].request;
        --request.attended;
        if (mode_ == Mode::wait) {
            --request.waiters;
            all_.announce(request);
        }
        all_.destroy_if_unused(request);
    }
    if (entries_ != few_)
        std::free(entries_);
}

void Attendance::work() {
    g_engine.progress();
    if (count_ == 0)
        return;
    const Guard guard(all_.mutex_);
    for (int i = 0; i < count_; ++i) {
        Continuations::Request &request = *entries_[i].request;
        if (request.poll_only && request.active && Callbacks::may_begin())
            for (int called = 0;
                 request.ready_count > 0 && (request.max_poll == 0 || called < request.max_poll);
                 ++called)
                all_.call_first(request, true);
        if (request.active && request.registered == 0)
            all_.complete_request(request);
    }
}

int Attendance::conclude(MPI_Status *statuses) {
    int error = MPI_SUCCESS;
    {
        const Guard guard(all_.mutex_);
        const bool ignored = is_ignored(statuses);
        for (int i = 0; i < count_; ++i) {
            const int own = entries_[i].request->error;
            if (own == MPI_SUCCESS)
                continue;
            if (error == MPI_SUCCESS && requests_ > 1 && !ignored)
                for (int k = 0; k < requests_; ++k)
                    statuses[k].MPI_ERROR = MPI_SUCCESS;
            if (!ignored)
                statuses[entries_[i].index].MPI_ERROR = own;
            error = requests_ == 1 ? own : MPI_ERR_IN_STATUS;
        }
    }
    if (error != MPI_SUCCESS)
        raise(communicator(MPI_COMM_SELF), error);
    return error;
}

constinit Extensions g_extensions;

} // namespace sennit::mpi

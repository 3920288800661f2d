// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/continuation.h"

#include "mpi/call/errors.h"
#include "mpi/call/guard.h"
#include "mpi/call/list.h"
#include "mpi/call/status.h"
#include "mpi/engine/progress_thread.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/callback.h"
#include "mpi/record/request_table.h"

#include "mpix_continue.h"

#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace sennit::mpi {

constinit std::atomic<int> g_continuation_requests{0};

namespace {

// registered -> (operations complete) ready -> called, or failed
struct Continuation {
    ContinuationRequest *owner;
    MPIX_Continue_cb_function *callback;
    void *data;
    MPI_Request *handles; // of the user, to be written when the operations are complete, or null
    bool invoke_failed;
    bool free_requests;
    int error;
    Continuation *next;
};

} // namespace

struct ContinuationRequest {
    MPI_Request handle = MPI_REQUEST_NULL; // a persistent receive
    int tag = 0;
    bool poll_only = false;
    bool any_thread = false;
    bool active = false;
    bool freed = false; // goes with its last continuation
    int max_poll = 0;
    int registered = 0; // neither called nor failed yet
    int waiters = 0;
    int attended = 0;
    int error = MPI_SUCCESS; // of the last failed continuation
    List<Continuation> ready;
    int ready_count = 0;
    int announced = 0; // of these, as pending operations
    List<Continuation> failed;
    std::uint64_t pass = 0; // of run_continuations
    int called_in_pass = 0;
    ContinuationRequest *next = nullptr;
    ContinuationRequest *next_in_bucket = nullptr;
};

namespace {

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

// All under g_mutex.
constexpr unsigned kBucketBits = 8;
ContinuationRequest *g_buckets[1u << kBucketBits]; // by handle
ContinuationRequest *g_all = nullptr;
std::uint64_t g_pass = 0;
MPI_Comm g_self = MPI_COMM_NULL; // of the receives that continuation requests are

std::atomic<int> g_callable{0};

ContinuationRequest **bucket_of(MPI_Request handle) {
    return &g_buckets[bucket_of_bits(handle_bits(handle), kBucketBits)];
}

ContinuationRequest *find(MPI_Request handle) {
    ContinuationRequest *request = *bucket_of(handle);
    while (request && request->handle != handle)
        request = request->next_in_bucket;
    return request;
}

void remove_from_bucket(ContinuationRequest &request) {
    ContinuationRequest **at = bucket_of(request.handle);
    while (*at != &request)
        at = &(*at)->next_in_bucket;
    *at = request.next_in_bucket;
}

// What may be called by whoever polls counts as pending, so that somebody polls.
void announce(ContinuationRequest &request) {
    const bool callable = request.active && (!request.poll_only || request.waiters > 0);
    const int wanted = callable ? request.ready_count : 0;
    for (; request.announced < wanted; ++request.announced) {
        g_engine.tickets.begin_pending();
        g_callable.fetch_add(1, std::memory_order_release);
    }
    for (; request.announced > wanted; --request.announced) {
        g_engine.tickets.end_pending();
        g_callable.fetch_sub(1, std::memory_order_relaxed);
    }
}

// For MPI, the request is complete: what was posted by MPI_Start receives.
void complete(ContinuationRequest &request) {
    static constexpr auto rsend = SENNIT_BARE(Rsend);
    request.active = false;
    outside_task([&] { return rsend(nullptr, 0, MPI_BYTE, 0, request.tag, g_self); });
}

void destroy_if_unused(ContinuationRequest &request) {
    if (!request.freed || request.registered > 0 || request.attended > 0)
        return;
    ContinuationRequest **at = &g_all;
    while (*at != &request)
        at = &(*at)->next;
    *at = request.next;
    while (Continuation *failed = request.failed.pop())
        std::free(failed);
    delete &request;
}

// A continuation is no longer registered.
void leave(ContinuationRequest &request) {
    if (--request.registered == 0 && request.active && request.waiters > 0)
        complete(request);
    destroy_if_unused(request);
}

void fail(Continuation *continuation, int error) {
    continuation->owner->error = error;
    continuation->owner->failed.push(continuation);
}

Callback::Function function_of(const Continuation &continuation) {
    return reinterpret_cast<Callback::Function>(continuation.callback);
}

void call(void *given) {
    auto *continuation = static_cast<Continuation *>(given);
    ContinuationRequest &request = *continuation->owner;
    const int result = continuation->callback(continuation->error, continuation->data);
    const Guard guard(g_mutex);
    if (result != MPI_SUCCESS)
        fail(continuation, result);
    else
        std::free(continuation);
    leave(request);
}

// Call the first that is ready, by one of Callback's ways; g_mutex is held, but not meanwhile.
template <class Run>
void call_first(ContinuationRequest &request, Run run) {
    Continuation *continuation = request.ready.pop();
    --request.ready_count;
    announce(request);
    pthread_mutex_unlock(&g_mutex);
    run(function_of(*continuation), call, continuation);
    pthread_mutex_lock(&g_mutex);
}

bool may_call(const ContinuationRequest &request, bool application) {
    return request.announced > 0 && (application || request.any_thread) &&
           (request.max_poll == 0 || request.pass != g_pass ||
            request.called_in_pass < request.max_poll) &&
           (Callback::may_begin() || Callback::goes_elsewhere(function_of(*request.ready.first)));
}

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
    const Guard guard(g_mutex);
    ContinuationRequest &request = *continuation->owner;
    if (continuation->error != MPI_SUCCESS && !continuation->invoke_failed) {
        fail(continuation, continuation->error);
        leave(request);
        return;
    }
    request.ready.push(continuation);
    ++request.ready_count;
    announce(request);
}

// As the test of any batch; but who has given up the requests cannot go on with those that are
// left when one has failed, so all are waited for.
bool poll(Ticket &ticket) {
    static constexpr auto testall = SENNIT_BARE(Testall);
    auto &self = static_cast<Batch &>(ticket);
    int flag = 0;
    const int error = testall(self.count, self.requests, &flag, self.statuses);
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
    const bool given_up = (flags & (MPIX_CONT_REQBUF_VOLATILE | MPIX_CONT_REQUESTS_FREE)) != 0;
    auto *continuation = static_cast<Continuation *>(std::malloc(sizeof(Continuation)));
    if (!continuation)
        return MPI_ERR_NO_MEM;
    {
        const Guard guard(g_mutex);
        ContinuationRequest *owner = find(handle);
        if (!owner) {
            std::free(continuation);
            return MPI_ERR_REQUEST;
        }
        *continuation = {owner,
                         callback,
                         data,
                         given_up ? nullptr : requests,
                         (flags & MPIX_CONT_INVOKE_FAILED) != 0 || given_up,
                         (flags & MPIX_CONT_REQUESTS_FREE) != 0,
                         MPI_SUCCESS,
                         nullptr};
        ++owner->registered;
    }
    Batch *batch =
        make_batch(name, count, requests, true, given_up ? Requests::taken_over : Requests::kept);
    if (!batch) {
        const Guard guard(g_mutex);
        leave(*continuation->owner);
        std::free(continuation);
        return MPI_ERR_NO_MEM;
    }
    batch->quiet = true;
    if (count != 1)
        batch->test = poll;
    batch->user_statuses = is_ignored(statuses) ? nullptr : statuses;
    batch->deliver = deliver;
    batch->data = continuation;
    hand_over(*batch);
    if ((flags & MPIX_CONT_DEFER_COMPLETE) == 0)
        run_continuations(true);
    wake_progress_thread();
    return MPI_SUCCESS;
}

} // namespace

void activate_continuations(int count, const MPI_Request *requests) {
    const Guard guard(g_mutex);
    for (int i = 0; i < count; ++i)
        if (ContinuationRequest *request = find(requests[i])) {
            request->active = true;
            announce(*request);
        }
}

void free_continuation_request(MPI_Request handle) {
    const Guard guard(g_mutex);
    ContinuationRequest *const found = find(handle);
    if (!found)
        return;
    // Nobody can test or wait for it any more; its continuations run all the same.
    if (found->active)
        complete(*found);
    found->poll_only = false;
    found->active = found->registered > 0;
    announce(*found);
    remove_from_bucket(*found);
    if (g_continuation_requests.fetch_sub(1, std::memory_order_relaxed) == 1)
        attend_no_more_to(kContinuations);
    found->freed = true;
    destroy_if_unused(*found);
}

void free_continuations() {
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    const Guard guard(g_mutex);
    if (g_self != MPI_COMM_NULL && !continuations())
        outside_task([] { return comm_free(&g_self); });
    g_self = MPI_COMM_NULL;
}

int run_continuations(bool application) {
    if (g_callable.load(std::memory_order_acquire) == 0)
        return 0;
    int called = 0;
    const Guard guard(g_mutex);
    const std::uint64_t pass = ++g_pass;
    for (ContinuationRequest *request = g_all; request;) {
        if (!may_call(*request, application)) {
            request = request->next;
            continue;
        }
        request->called_in_pass = request->pass == pass ? request->called_in_pass + 1 : 1;
        request->pass = pass;
        call_first(*request, [](Callback::Function function, void (*what)(void *), void *arg) {
            Callback::run(function, what, arg);
        });
        ++called;
        request = g_all; // the list may have changed
    }
    return called;
}

Attendance::Attendance(Mode mode, int count, const MPI_Request *requests)
    : mode_(mode), requests_(count) {
    const Guard guard(g_mutex);
    int capacity = kFew;
    for (int i = 0; i < count; ++i) {
        ContinuationRequest *request = find(requests[i]);
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
            announce(*request);
            if (request->active && request->registered == 0)
                complete(*request);
        }
    }
}

Attendance::~Attendance() {
    const Guard guard(g_mutex);
    for (int i = 0; i < count_; ++i) {
        ContinuationRequest &request = *entries_[i].request;
        --request.attended;
        if (mode_ == Mode::wait) {
            --request.waiters;
            announce(request);
        }
        destroy_if_unused(request);
    }
    if (entries_ != few_)
        std::free(entries_);
}

void Attendance::work() {
    g_engine.progress();
    if (count_ == 0)
        return;
    const Guard guard(g_mutex);
    for (int i = 0; i < count_; ++i) {
        ContinuationRequest &request = *entries_[i].request;
        if (request.poll_only && request.active && Callback::may_begin())
            for (int called = 0;
                 request.ready_count > 0 && (request.max_poll == 0 || called < request.max_poll);
                 ++called)
                call_first(request, Callback::run_here);
        if (request.active && request.registered == 0)
            complete(request);
    }
}

int Attendance::conclude(MPI_Status *statuses) {
    int error = MPI_SUCCESS;
    {
        const Guard guard(g_mutex);
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

} // namespace sennit::mpi

using namespace sennit::mpi;

extern "C" {

SENNIT_EXPORT int MPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *handle) {
    static constexpr auto comm_dup = SENNIT_BARE(Comm_dup);
    static constexpr auto recv_init = SENNIT_BARE(Recv_init);
    static constexpr auto info_get = SENNIT_BARE(Info_get);
    if ((flags & ~MPIX_CONT_POLL_ONLY) != 0 || max_poll < 0 || !handle)
        return MPI_ERR_ARG;
    char thread[16] = "";
    int given = 0;
    if (info != MPI_INFO_NULL)
        outside_task([&] {
            return info_get(info, "mpi_continue_thread", sizeof thread - 1, thread, &given);
        });
    auto *request = new (std::nothrow) ContinuationRequest;
    if (!request)
        return MPI_ERR_NO_MEM;
    const Guard guard(g_mutex);
    static int tags = 0;
    request->tag = tags++ % 32768;
    Callback::expect();
    request->poll_only = (flags & MPIX_CONT_POLL_ONLY) != 0;
    request->max_poll = max_poll;
    request->any_thread = given && std::strcmp(thread, "all") == 0;
    const int error = outside_task([&] {
        const int failure =
            g_self == MPI_COMM_NULL ? comm_dup(MPI_COMM_SELF, &g_self) : MPI_SUCCESS;
        return failure != MPI_SUCCESS
                   ? failure
                   : recv_init(nullptr, 0, MPI_BYTE, 0, request->tag, g_self, &request->handle);
    });
    if (error != MPI_SUCCESS) {
        delete request;
        return error;
    }
    request->next = g_all;
    g_all = request;
    request->next_in_bucket = *bucket_of(request->handle);
    *bucket_of(request->handle) = request;
    g_continuation_requests.fetch_add(1, std::memory_order_relaxed);
    attend_to(kContinuations);
    *handle = request->handle;
    static constexpr sennit_call call{"MPIX_Continue_init", 0, 0};
    note_request(error, handle, {&call, -1, -1, 0});
    return MPI_SUCCESS;
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
    const Guard guard(g_mutex);
    ContinuationRequest *request = find(cont_req);
    if (!request)
        return MPI_ERR_REQUEST;
    int taken = 0;
    for (; taken < *count; ++taken) {
        Continuation *failed = request->failed.pop();
        if (!failed)
            break;
        data[taken] = failed->data;
        std::free(failed);
    }
    if (!request->failed.first)
        request->error = MPI_SUCCESS;
    *count = taken;
    return MPI_SUCCESS;
}

} // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/batch.h"

#include "base/agreements.h"
#include "mpi/call/bare.h"
#include "mpi/call/errors.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/continuations.h"
#include "mpi/record/record.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::mpi {

namespace {

bool poll(Ticket &ticket) {
    auto &self = static_cast<Batch &>(ticket);
    int flag = 0;
    self.error = self.test_all(self.count, self.requests, &flag,
                               self.statuses ? self.statuses : MPI_STATUSES_IGNORE);
    return flag || self.error != MPI_SUCCESS;
}

// The user is told, and the memory is freed.
void conclude(void *batch) {
    auto &self = *static_cast<Batch *>(batch);
    if (self.deliver)
        self.deliver(self);
    sennit_task *bound = self.bound;
    const bool last = self.last;
    std::free(&self);
    if (bound) {
        const InCallback::Here here; // who is told that the task is over may be, too
        last ? fulfil_last_event(bound) : fulfil_event(bound);
    }
}

[[gnu::noinline, gnu::cold]] void strike(const Batch &self) {
    for (int i = 0; i < self.count; ++i)
        if (self.requests[i] == MPI_REQUEST_NULL)
            g_record.requests.strike(self.handles[i]);
}

void finish(Batch &self, bool at_once) {
    if (self.handles) [[unlikely]]
        strike(self);
    if (!self.quiet)
        settle(self);
    if (self.user_statuses)
        std::memcpy(self.user_statuses, self.statuses,
                    static_cast<std::size_t>(self.count) * sizeof(MPI_Status));
    if (self.callback)
        g_extensions.callbacks.run(self.callback, conclude, &self, at_once);
    else
        conclude(&self);
}

void finished(Ticket &ticket) {
    finish(static_cast<Batch &>(ticket), false);
}

// A call that has started a request and binds it: for who wants to know of it.
[[gnu::noinline, gnu::cold]] void tell_of_start(const Operation &operation,
                                                const MPI_Request *request) {
    if (operation.notice == Notice::none) // the program has started it
        return;
    g_record.timeline.post(
        {operation.name, static_cast<int>(operation.notice), operation.peer, operation.tag,
         operation.object},
        request,
        [&] { return message_bytes(operation.count, handle_from<MPI_Datatype>(operation.type)); });
}

} // namespace

Batch *make_batch(const char *name, int count, MPI_Request *requests, bool wants_statuses,
                  Requests what) {
    const auto n = static_cast<std::size_t>(count);
    const bool followed = RequestTable::follows();
    const std::size_t size = sizeof(Batch) + (followed ? 2 : 1) * n * sizeof(MPI_Request) +
                             (wants_statuses ? (n + 1) * sizeof(MPI_Status) : 0);
    void *memory = std::malloc(size);
    if (!memory)
        return nullptr;
    auto *batch = new (memory) Batch;
    auto *end = reinterpret_cast<char *>(batch + 1);
    if (wants_statuses) {
        batch->statuses = reinterpret_cast<MPI_Status *>(end);
        end += n * sizeof(MPI_Status);
    }
    batch->requests = reinterpret_cast<MPI_Request *>(end);
    if (followed) {
        batch->handles = batch->requests + n;
        std::memcpy(batch->handles, requests, n * sizeof(MPI_Request));
    }
    batch->operation.name = name;
    batch->finished = finished;
    if (count != 1)
        batch->test = poll;
    batch->count = count;
    for (int i = 0; i < count; ++i) {
        batch->requests[i] = requests[i];
        if (what == Requests::taken_over ||
            (what == Requests::waited_for && !g_record.persistent.has(requests[i])))
            requests[i] = MPI_REQUEST_NULL;
        if (wants_statuses)
            batch->statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (count == 1) { // tested together with others
        batch->handle = batch->requests;
        batch->request = *batch->requests;
        batch->status = wants_statuses ? batch->statuses : MPI_STATUS_IGNORE;
    }
    return batch;
}

void bind_if_undeferred(Batch &batch) {
    using Find = decltype(sennit_task_undeferred);
    static auto *const find = reinterpret_cast<Find *>(find_in_runtime("sennit_task_undeferred"));
    batch.bound = find && in_task() ? find() : nullptr;
    if (batch.bound)
        bind_event(batch.bound);
}

int file(Batch &batch) {
    g_engine.tickets.begin_pending();
    g_engine.tickets.file(batch);
    return MPI_SUCCESS;
}

int hand_over(Batch &batch) {
    const bool over = test_once(batch);
    const bool late = (g_chaos.on() && g_chaos.delays()) ||
                      (batch.callback && g_extensions.callbacks.too_many(batch.callback));
    if (over && late && batch.error == MPI_SUCCESS) {
        batch.test = [](Ticket &) { return true; }; // it will be late
    } else if (over) {
        const int error = batch.error;
        finish(batch, true);
        return error;
    }
    return file(batch);
}

int bind(const Operation &operation, int count, MPI_Request *requests, MPI_Status *statuses) {
    if (count < 0)
        return MPI_ERR_COUNT;
    const bool wants = !is_ignored(statuses);
    // What is complete needs no batch, as most small sends. But a trace wants to see the binding.
    const bool is_told = g_record.timeline.on();
    if (is_told)
        tell_of_start(operation, requests);
    const bool tests = count == 1 && !is_told && !(g_chaos.on() && g_chaos.delays());
    if (tests) {
        MPI_Status *const status = wants ? statuses : MPI_STATUS_IGNORE;
        const MPI_Request handle = *requests;
        if (const Tested tested = test_a_while(requests, status); tested.over) {
            if (*requests == MPI_REQUEST_NULL)
                g_record.requests.strike(handle);
            return settle(operation, tested, status);
        }
    }
    Batch *batch = make_batch(operation.name, count, requests, wants, Requests::waited_for);
    if (!batch)
        return MPI_ERR_NO_MEM;
    batch->operation = operation;
    batch->user_statuses = wants ? statuses : nullptr;
    batch->bound = current_task();
    batch->fulfils = true;
    g_record.timeline.bound(batch->requests, count);
    bind_event(batch->bound);
    return tests ? file(*batch) : hand_over(*batch);
}

} // namespace sennit::mpi

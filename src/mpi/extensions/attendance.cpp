// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/attendance.h"

#include "mpi/call/errors.h"
#include "mpi/call/guard.h"
#include "mpi/call/status.h"

#include <cstdlib>
#include <cstring>

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

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/traced.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

#include <cstdlib>
#include <cstring>

namespace sennit::mpi {

void Traced::begin(const CallFacts &facts, std::uint64_t bytes) {
    if (inside_mpi()) // the MPI library calls itself
        return;
    active_ = true;
    Timeline &timeline = g_record.timeline;
    described_ = timeline.describe(facts, bytes);
    timeline.begin(described_);
    for (int i = 0; facts.handles && i < facts.requests; ++i)
        if (facts.handles[i] != MPI_REQUEST_NULL)
            timeline.waits_for(facts.handles[i]);
}

MPI_Status *Traced::watch(MPI_Status *given) {
    MPI_Status *status = given == MPI_STATUS_IGNORE ? &own_ : given;
    status->MPI_SOURCE = status->MPI_TAG = -1; // until it is known
    status_ = status;
    return status;
}

void Traced::end() {
    static constexpr auto get_count = SENNIT_BARE(Get_count);
    int bytes = 0;
    int source = -1;
    int tag = -1;
    if (status_ && status_->MPI_SOURCE >= 0) {
        source = status_->MPI_SOURCE;
        tag = status_->MPI_TAG;
        outside_task([&] { return get_count(status_, MPI_BYTE, &bytes); });
    }
    g_record.timeline.end(described_, source, tag,
                          bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0);
}

void trace_found(const CallFacts &facts, const MPI_Status &status) {
    CallFacts found = facts;
    found.peer = status.MPI_SOURCE;
    found.tag = status.MPI_TAG;
    const Traced traced(found);
}

void TracedTest::begin(const char *name, int count, const MPI_Request *requests) {
    if (inside_mpi() || count <= 0 || !requests)
        return;
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(MPI_Request);
    handles_ = static_cast<MPI_Request *>(std::malloc(size));
    if (!handles_)
        return;
    std::memcpy(handles_, requests, size);
    name_ = name;
    count_ = count;
}

TracedTest::~TracedTest() {
    std::free(handles_);
}

void TracedTest::tell(int count, const int *indices) const {
    const auto each = [&](auto visit) {
        for (int i = 0; i < (indices ? count : count_); ++i) {
            const int at = indices ? indices[i] : i;
            if (at >= 0 && at < count_ && handles_[at] != MPI_REQUEST_NULL)
                visit(handles_[at]);
        }
    };
    int some = 0;
    each([&](MPI_Request) { ++some; });
    if (some == 0)
        return;
    Timeline &timeline = g_record.timeline;
    const Described described = timeline.describe({.name = name_, .requests = some}, 0);
    timeline.begin(described);
    each([&](MPI_Request request) { timeline.waits_for(request); });
    timeline.end(described, -1, -1, 0);
}

} // namespace sennit::mpi

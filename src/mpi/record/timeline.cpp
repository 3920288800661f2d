// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/timeline.h"

#include "base/clock.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/guard.h"
#include "mpi/call/members.h"
#include "mpi/call/private_comm.h"

#include <cstdlib>
#include <vector>

namespace sennit::mpi {
namespace {

struct Recorder {
#define SENNIT_MEMBER(name)                                                                        \
    decltype(&::name) name = reinterpret_cast<decltype(&::name)>(find_in_runtime(#name));
    SENNIT_MEMBER(sennit_trace_on)
    SENNIT_MEMBER(sennit_trace_call_begin)
    SENNIT_MEMBER(sennit_trace_call_end)
    SENNIT_MEMBER(sennit_trace_post)
    SENNIT_MEMBER(sennit_trace_waits_for)
    SENNIT_MEMBER(sennit_trace_completes)
    SENNIT_MEMBER(sennit_trace_group)
    SENNIT_MEMBER(sennit_trace_job)
    SENNIT_MEMBER(sennit_trace_clock)
#undef SENNIT_MEMBER
};

const Recorder &recorder() {
    static const Recorder found;
    return found;
}

int peer_of(int peer) {
    return peer == MPI_ANY_SOURCE ? SENNIT_TRACE_ANY : peer < 0 ? -1 : peer;
}
int tag_of(int tag) {
    return tag == MPI_ANY_TAG ? SENNIT_TRACE_ANY : tag < 0 ? -1 : tag;
}

void name_group(MPI_Comm comm, std::uint64_t id) {
    static constexpr auto get_name = SENNIT_BARE(Comm_get_name);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    get_name(comm, name, &length);
    const Members members(comm);
    std::vector<int> ranks; // none: the first `size`
    for (int i = 0; comm != MPI_COMM_WORLD && i < members.size(); ++i)
        ranks.push_back(members.in_world(i));
    recorder().sennit_trace_group(id, members.size(), ranks.empty() ? nullptr : ranks.data(), name);
}

// ---- clocks -------------------------------------------------------------------------------------

// Are all processes of the job on this host, as the launcher says?
bool all_here(int ranks) {
    for (const char *variable :
         {"SENNIT_LOCAL_RANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
        if (const char *text = std::getenv(variable))
            return std::atoi(text) >= ranks;
    return false;
}

// The quickest of some rounds with rank 0 shows how far its clock is ahead.
void meet_rank_0(MPI_Comm comm) {
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto send = SENNIT_BARE(Send);
    static constexpr auto receive = SENNIT_BARE(Recv);
    constexpr int kRounds = 32;
    int rank = 0;
    int ranks = 0;
    get_rank(comm, &rank);
    get_size(comm, &ranks);
    if (rank == 0) {
        for (int other = 1; other < ranks; ++other)
            for (int round = 0; round < kRounds; ++round) {
                char go = 0;
                receive(&go, 1, MPI_CHAR, other, 0, comm, MPI_STATUS_IGNORE);
                std::int64_t now = monotonic_ns();
                send(&now, sizeof now, MPI_CHAR, other, 0, comm);
            }
        recorder().sennit_trace_clock(0, 0);
        return;
    }
    std::int64_t best = INT64_MAX;
    std::int64_t offset = 0;
    for (int round = 0; round < kRounds; ++round) {
        char go = 0;
        std::int64_t theirs = 0;
        const std::int64_t before = monotonic_ns();
        send(&go, 1, MPI_CHAR, 0, 0, comm);
        receive(&theirs, sizeof theirs, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
        const std::int64_t after = monotonic_ns();
        if (after - before < best) {
            best = after - before;
            offset = theirs - (before + best / 2);
        }
    }
    recorder().sennit_trace_clock(offset, best / 2);
}

} // namespace

std::uint64_t Timeline::group_id(Object object) {
    static constexpr auto get = SENNIT_BARE(Comm_get_attr);
    static constexpr auto set = SENNIT_BARE(Comm_set_attr);
    static constexpr auto create = SENNIT_BARE(Comm_create_keyval);
    const auto comm = handle_from<MPI_Comm>(object.handle);
    if (object.kind != Object::Kind::communicator || comm == MPI_COMM_NULL)
        return 0;
    void *id = nullptr;
    int there = 0;
    const Guard guard(mutex_);
    outside_task([&] {
        if (!has_key_)
            has_key_ = create(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key_, nullptr) ==
                       MPI_SUCCESS;
        if (get(comm, key_, &id, &there) == MPI_SUCCESS && !there) {
            id = reinterpret_cast<void *>(++latest_);
            set(comm, key_, id);
            name_group(comm, latest_);
        }
        return MPI_SUCCESS;
    });
    return reinterpret_cast<std::uintptr_t>(id);
}

sennit_trace_call Timeline::describe(const CallFacts &facts, std::uint64_t bytes) {
    const bool nobody = facts.direction != 0 && facts.peer == MPI_PROC_NULL;
    return {facts.name,
            nobody ? 0 : facts.direction,
            nobody ? -1 : peer_of(facts.peer),
            tag_of(facts.tag),
            facts.requests,
            bytes,
            group_id(facts.object),
            0};
}

std::uint64_t message_bytes(std::int64_t count, MPI_Datatype type) {
    static constexpr auto type_size = SENNIT_BARE(Type_size_x); // the other knows no 2 GiB
    MPI_Count size = 0;
    if (count <= 0 || inside_mpi() || type == MPI_DATATYPE_NULL)
        return 0;
    outside_task([&] { return type_size(type, &size); });
    return size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

void Timeline::post(const CallFacts &facts, std::uint64_t bytes, const MPI_Request *request) {
    if (!inside_mpi())
        post(describe(facts, bytes), request);
}

void Timeline::post(sennit_trace_call call, const MPI_Request *request) const {
    call.request = request ? handle_bits(*request) : 0;
    recorder().sennit_trace_post(&call);
}

void Timeline::bound(const MPI_Request *requests, int count) const {
    if (!on())
        return;
    for (int i = 0; i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL)
            waits_for(requests[i]);
}

void Timeline::completes(const MPI_Request *requests, int count, std::uint64_t event) const {
    for (int i = 0; on() && i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL)
            recorder().sennit_trace_completes(handle_bits(requests[i]), event);
}

void Timeline::begin(const sennit_trace_call &call) const {
    recorder().sennit_trace_call_begin(&call);
}

void Timeline::waits_for(MPI_Request request) const {
    recorder().sennit_trace_waits_for(handle_bits(request));
}

void Timeline::end(int source, int tag, std::uint64_t bytes) const {
    recorder().sennit_trace_call_end(source, tag, bytes);
}

void Timeline::start() {
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    if (!recorder().sennit_trace_on || !recorder().sennit_trace_on())
        return;
    outside_task([&] {
        int rank = 0;
        int ranks = 0;
        get_rank(MPI_COMM_WORLD, &rank);
        get_size(MPI_COMM_WORLD, &ranks);
        recorder().sennit_trace_job(rank, ranks);
        if (!all_here(ranks)) { // every rank traces, or none
            has_clocks_ = make_private_comm(&clock_comm_, "SENNIT_TRACE");
            if (has_clocks_)
                meet_rank_0(clock_comm_);
        }
        return MPI_SUCCESS;
    });
    on_ = true;
    attend_to(kTracing);
}

void Timeline::finish() {
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    if (!on_)
        return;
    on_ = false;
    attend_no_more_to(kTracing);
    outside_task([&] {
        if (has_clocks_) {
            meet_rank_0(clock_comm_);
            comm_free(&clock_comm_);
        }
        has_clocks_ = false;
        return MPI_SUCCESS;
    });
}

} // namespace sennit::mpi

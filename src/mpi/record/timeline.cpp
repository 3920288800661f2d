// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/timeline.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/guard.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/members.h"

#include <cstdlib>

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
    SENNIT_MEMBER(sennit_get_time_spent)
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

void name_group(MPI_Comm comm, const KnownGroup &group) {
    static constexpr auto get_name = SENNIT_BARE(Comm_get_name);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    get_name(comm, name, &length);
    // No ranks: the first `size`.
    recorder().sennit_trace_group(group.id, group.size,
                                  comm == MPI_COMM_WORLD ? nullptr : group.in_world, name);
}

// Null: there is no memory.
KnownGroup *make_group(MPI_Comm comm, std::uint64_t id) {
    const Members members(comm);
    const auto size = static_cast<std::size_t>(members.size());
    void *const memory = std::malloc(sizeof(KnownGroup) + size * sizeof(int));
    if (!memory)
        return nullptr;
    auto *const group = static_cast<KnownGroup *>(memory);
    *group = {id, false, members.size(), reinterpret_cast<int *>(group + 1)};
    for (int i = 0; i < members.size(); ++i)
        group->in_world[i] = members.in_world(i);
    return group;
}

int free_group(MPI_Comm, int, void *group, void *) {
    std::free(group);
    return MPI_SUCCESS;
}

// ---- clocks -------------------------------------------------------------------------------------

// Are all processes of the job on this host, as the launcher says?
bool all_here(int ranks) {
    for (const char *variable :
         {"SENNIT_LOCAL_RANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
        if (const char *text = trusted_environment(variable))
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

KnownGroup *Timeline::known(MPI_Comm comm) {
    static constexpr auto get = SENNIT_BARE(Comm_get_attr);
    static constexpr auto set = SENNIT_BARE(Comm_set_attr);
    static constexpr auto create = SENNIT_BARE(Comm_create_keyval);
    void *found = nullptr;
    int there = 0;
    const Guard guard(mutex_);
    outside_task([&] {
        mutex_.assert_held();
        if (!has_key_)
            has_key_ = create(MPI_COMM_NULL_COPY_FN, free_group, &key_, nullptr) == MPI_SUCCESS;
        if (get(comm, key_, &found, &there) == MPI_SUCCESS && !there) {
            KnownGroup *const made = make_group(comm, latest_ + 1);
            found = made;
            if (!made)
                return MPI_SUCCESS;
            ++latest_;
            set(comm, key_, made);
            if (traces())
                name_group(comm, *made);
        }
        return MPI_SUCCESS;
    });
    return static_cast<KnownGroup *>(found);
}

KnownGroup *Timeline::known(Object object) {
    const auto comm = handle_from<MPI_Comm>(object.handle);
    return object.kind == Object::Kind::communicator && comm != MPI_COMM_NULL ? known(comm)
                                                                              : nullptr;
}

Described Timeline::describe(const CallFacts &facts, std::uint64_t bytes) {
    if (!traces() && !traffic_.any()) // where time is counted, the name will do
        return {{facts.name, 0, -1, -1, facts.requests, 0, 0, 0}, {}, nullptr};
    const KnownGroup *const group = known(facts.object);
    // In one MPI, MPI_PROC_NULL is also how a call without a peer says so. It has no communicator.
    const bool nobody = group && facts.direction != 0 && facts.peer == MPI_PROC_NULL;
    const int direction = nobody ? 0 : facts.direction;
    const int peer = nobody ? -1 : peer_of(facts.peer);
    const int tag = tag_of(facts.tag);
    Described described = {
        {facts.name, direction, peer, tag, facts.requests, bytes, group ? group->id : 0, 0},
        {direction, peer, tag, bytes},
        group};
    CountedMessage &mail = described.mail;
    if (!group) { // a message that a probe has found
        mail.peer = SENNIT_TRACE_ANY;
        mail.tag = SENNIT_TRACE_ANY;
    } else if (peer != SENNIT_TRACE_ANY) {
        mail.peer = group->world_rank(peer);
    }
    if (mail.peer == -1 || (group && group->is_left_out))
        mail.direction = 0;
    return described;
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

void Timeline::post(Described described, const MPI_Request *request) {
    traffic_.note(described.mail);
    if (!tells())
        return;
    described.call.request = request ? handle_bits(*request) : 0;
    recorder().sennit_trace_post(&described.call);
}

void Timeline::bound(const MPI_Request *requests, int count) const {
    if (!tells())
        return;
    for (int i = 0; i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL)
            waits_for(requests[i]);
}

void Timeline::completes(const MPI_Request *requests, int count, std::uint64_t event) const {
    for (int i = 0; tells() && i < count; ++i)
        if (requests[i] != MPI_REQUEST_NULL)
            recorder().sennit_trace_completes(handle_bits(requests[i]), event);
}

void Timeline::begin(const Described &described) const {
    if (tells())
        recorder().sennit_trace_call_begin(&described.call);
}

void Timeline::waits_for(MPI_Request request) const {
    if (tells())
        recorder().sennit_trace_waits_for(handle_bits(request));
}

void Timeline::end(const Described &described, int source, int tag, std::uint64_t bytes) {
    CountedMessage mail = described.mail;
    if (mail.direction == SENNIT_NOTICE_RECEIVE && source >= 0) {
        if (described.group)
            mail.peer = described.group->world_rank(source);
        mail.tag = tag;
        mail.bytes = bytes;
    }
    traffic_.note(mail);
    if (tells())
        recorder().sennit_trace_call_end(source, tag, bytes);
}

// ---- who wants to know --------------------------------------------------------------------------

void Timeline::choose() {
    const bool on = tells() || traffic_.any();
    __atomic_store_n(&on_, on, __ATOMIC_RELAXED);
    on ? attend_to(kTracing) : attend_no_more_to(kTracing);
}

int Timeline::watch(std::uint32_t account, bool on) {
    const int error = traffic_.watch(account, on);
    const Guard guard(mutex_);
    choose();
    return error;
}

int Timeline::take(std::uint32_t account, void (*visit)(void *arg, const sennit_traffic *),
                   void *arg) {
    return traffic_.take(account, visit, arg);
}

int Timeline::leave_out(MPI_Comm comm) {
    KnownGroup *const group = known(comm);
    if (!group)
        return SENNIT_ERR_OUT_OF_MEMORY;
    group->is_left_out = true;
    return SENNIT_SUCCESS;
}

void Timeline::start() {
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    gathering_.begin();
    sennit_time_spent counted;
    if (recorder().sennit_get_time_spent &&
        recorder().sennit_get_time_spent(&counted) == SENNIT_SUCCESS) {
        const Guard guard(mutex_);
        tells_ = true;
        choose();
    }
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
    const Guard guard(mutex_);
    traces_ = tells_ = true;
    choose();
}

void Timeline::finish() {
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    gathering_.end();
    if (!tells())
        return;
    {
        const Guard guard(mutex_);
        traces_ = tells_ = false;
        choose();
    }
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

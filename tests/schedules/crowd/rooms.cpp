// SPDX-License-Identifier: Apache-2.0
#include "rooms.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/members.h"
#include "mpi/crowd/crowd.h"
#include "mpi/quirks/open_mpi.h"
#include "node/identity.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sennit::schedules {
namespace {

// Zero at first, and large enough for a board: only what ranks use of it is ever touched.
alignas(4096) std::byte g_board[std::size_t{32} << 20];
int g_ranks = 0, g_rank = 0; // how many, and which one begins

template <class Object>
void clear(Object &object) {
    std::memset(static_cast<void *>(&object), 0, sizeof object);
}

int comm_size(MPI_Comm, int *size) {
    *size = g_ranks;
    return MPI_SUCCESS;
}
int comm_rank(MPI_Comm, int *rank) {
    *rank = g_rank;
    return MPI_SUCCESS;
}
int create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *) {
    return MPI_SUCCESS;
}
int probe(int, int, MPI_Comm, int *, MPI_Status *) {
    return MPI_SUCCESS;
}
int abort_all(MPI_Comm, int) {
    fail("a rank ends the job");
}

} // namespace

void Node::begin() {
    g_ranks = ranks_;
    board_.borrow(g_board);
    for (int i = 0; i < ranks_; ++i) {
        clear(board_.slot(i));
        clear(board_.part(i));
    }
    assembly_ = &board_.assembly(0);
    clear(*assembly_);
    for (int i = 0; i < ranks_; ++i) {
        g_rank = i;
        node::ProcessInfo member;
        member.rank = i;
        board_.join(kJob, member); // into slot i
    }
    assembly_->begin(ranks_);
    for (int i = 0; i < ranks_; ++i) {
        g_rank = i;
        Rank &one = rank(i);
        make_anew(one);
        one.neighbours.begin(board_, &board_.slot(i), kJob);
        one.assembled.prepare(board_, MPI_COMM_WORLD, *one.neighbours.ranks_of(MPI_COMM_WORLD));
        one.assembled.begin(*assembly_, MPI_COMM_SELF);
    }
}

void Node::add_memory(std::vector<std::span<std::byte>> &all) {
    board_.borrow(g_board);
    for (int i = 0; i < ranks_; ++i) {
        all.push_back(memory_of(board_.slot(i)));
        all.push_back(memory_of(board_.part(i)));
    }
    all.push_back(memory_of(board_.assembly(0)));
}

} // namespace sennit::schedules

namespace sennit {

namespace interpose {
void *find_next(const char *) {
    return nullptr;
}
} // namespace interpose

namespace node {
Identity own_identity() {
    return static_cast<Identity>(schedules::g_rank) + 1;
}
std::uint64_t own_image() {
    return 1;
}
bool is_alive(Identity) {
    return true;
}
bool is_stopped(Identity) {
    return false;
}
pid_t pid_of(Identity) {
    return 1;
}
} // namespace node

namespace mpi {

void *find_bare(const char *name) {
    const std::string_view wanted(name);
    if (wanted == "PMPI_Comm_size")
        return reinterpret_cast<void *>(schedules::comm_size);
    if (wanted == "PMPI_Comm_rank")
        return reinterpret_cast<void *>(schedules::comm_rank);
    if (wanted == "PMPI_Comm_create_keyval")
        return reinterpret_cast<void *>(schedules::create_keyval);
    if (wanted == "PMPI_Iprobe")
        return reinterpret_cast<void *>(schedules::probe);
    if (wanted == "PMPI_Abort")
        return reinterpret_cast<void *>(schedules::abort_all);
    std::abort();
}

bool Hops::wanted() {
    return false;
}
pid_t Hops::wake(const node::BoardSlot &, int) const {
    std::abort(); // no rank is a fiber
}
void Hops::tell(pid_t) const {
    std::abort();
}
bool Hops::sleep(wait::Bell &, std::uint32_t, std::int64_t) const {
    std::abort();
}
bool make_tests_yield(bool) {
    return false;
}
bool is_accepted(MPI_Datatype) {
    return true;
}
bool is_common(MPI_Datatype) {
    return true;
}
std::int64_t message_length(std::int64_t count, MPI_Datatype) {
    return count * static_cast<std::int64_t>(sizeof(int));
}

// Sums of ints.
bool Reduction::fits(std::size_t most) {
    bytes = static_cast<std::size_t>(count) * sizeof(int);
    return bytes <= most;
}
std::uint32_t Reduction::number() const {
    return CallNumber::of(has_root() ? CallNumber::kReduce : 0, bytes, has_root() ? root : 0);
}
bool Reduction::combine(const void *a, void *b) const {
    for (std::int64_t i = 0; i < count; ++i) {
        int one = 0, other = 0;
        copy_shared(&one, static_cast<const int *>(a) + i, sizeof one);
        copy_shared(&other, static_cast<int *>(b) + i, sizeof other);
        other += one;
        copy_shared(static_cast<int *>(b) + i, &other, sizeof other);
    }
    return true;
}

} // namespace mpi
} // namespace sennit

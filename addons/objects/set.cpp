// SPDX-License-Identifier: Apache-2.0
// A set is made, filled, committed and freed. What sennit_balance() does is in balance.cpp.
#include "objects/set.h"

#include "base/config.h"
#include "base/environment.h"
#include "base/message.h"
#include "objects/runtime.h"
#include "sennit_balance.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace sennit::objects {
namespace {

using balance::index;

MPI_Comm own(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &copy);
    return copy;
}

int size_of(MPI_Comm comm) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    return size;
}

// For objects that are ranges of memory.
void free_memory(int, void *data, void *) {
    std::free(data);
}

// SENNIT_NODE_RANKS
int said_ranks_of_node() {
#define SENNIT_TEXT(...)
#define SENNIT_NUMBER(field, variable, fallback, least, most, help)                                \
    const char *const name = variable;                                                             \
    constexpr long kFallback = fallback;                                                           \
    constexpr long kLeast = least;                                                                 \
    constexpr long kMost = most;
#include "objects/options.def"
#undef SENNIT_TEXT
#undef SENNIT_NUMBER
    const char *const text = trusted_environment(name);
    if (!text || !*text)
        return kFallback;
    char *end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (!*end && number >= kLeast && number <= kMost)
        return static_cast<int>(number);
    warn("%s='%s': use a number from %ld to %ld; going on without", name, text, kLeast, kMost);
    return kFallback;
}

} // namespace

Set::Set(MPI_Comm comm, int count, const sennit_object_type *type)
    : comm_(own(comm)), ranks_(size_of(comm)), type_(type ? *type : sennit_object_type{}),
      is_memory_(!type), rank_of_(index(count), -1), held_(index(count)),
      strategy_(balance::strategy_of("greedy")), mailbox_(comm_, ranks_) {
    MPI_Comm_rank(comm_, &rank_);
    if (is_memory_)
        type_.destroy = free_memory;
    if (Runtime::get().counts_traffic())
        Runtime::get().traffic_except(&comm_); // messages between objects are counted here
    find_nodes();
    number_ = agree_on_number();
}

Set::~Set() {
    if (committed_ && Runtime::get().traces()) // else the program is not asked for sizes
        record(rows());
    for (int object = 0; object < count(); ++object)
        if (is_here(object))
            destroy(object);
    mailbox_.flush();
    MPI_Comm_free(&comm_);
}

// Rank 0's number, made of its process and the time. Only traces use it.
std::uint64_t Set::agree_on_number() const {
    const auto time = std::chrono::steady_clock::now().time_since_epoch().count();
    std::uint64_t number =
        static_cast<std::uint64_t>(getpid()) << 40 ^ static_cast<std::uint64_t>(time);
    MPI_Bcast(&number, sizeof number, MPI_BYTE, 0, comm_);
    return number;
}

// Ranks are counted node by node, as strategies take it, or else each rank is taken for a node.
// This is collective, unless the ranks are told.
void Set::find_nodes() {
    ranks_of_node_ = said_ranks_of_node();
    if (ranks_of_node_ > 0)
        return;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    const int size = size_of(node);
    int place = 0;
    MPI_Comm_rank(node, &place);
    int first = rank_;
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    int most = 0;
    MPI_Allreduce(&size, &most, 1, MPI_INT, MPI_MAX, comm_);
    const int regular =
        first % most == 0 && rank_ == first + place && (size == most || first + size == ranks_);
    int all_regular = 0;
    MPI_Allreduce(&regular, &all_regular, 1, MPI_INT, MPI_MIN, comm_);
    ranks_of_node_ = all_regular ? most : 1;
}

void Set::add(int object, void *data, std::size_t bytes) {
    auto held = std::make_unique<Held>();
    held->data = data;
    held->bytes = bytes;
    held->load.watch_messages(strategy_->looks_at_links());
    held_[index(object)] = std::move(held);
}

// Messages of MPI are counted only for those who look at them.
void Set::set_strategy(const balance::Strategy &strategy) {
    strategy_ = &strategy;
    for (const std::unique_ptr<Held> &one : held_)
        if (one)
            one->load.watch_messages(strategy.looks_at_links());
}

void Set::set_position(int object, const balance::Position &position) {
    const Guard guard(positions_mutex_);
    positions_.resize(rank_of_.size());
    positions_[index(object)] = position;
}

void Set::list_local() {
    local_.clear();
    for (int object = 0; object < count(); ++object)
        if (is_here(object))
            local_.push_back(object);
}

void Set::destroy(int object) {
    if (type_.destroy)
        type_.destroy(object, held(object).data, type_.argument);
    held_[index(object)].reset();
}

int Set::commit() {
    list_local();
    std::vector<int> here(rank_of_.size());
    std::vector<int> ranks(rank_of_.size(), -1);
    for (const int object : local_) {
        here[index(object)] = 1;
        ranks[index(object)] = rank_;
    }
    std::vector<int> times(here.size());
    MPI_Allreduce(here.data(), times.data(), count(), MPI_INT, MPI_SUM, comm_);
    MPI_Allreduce(ranks.data(), rank_of_.data(), count(), MPI_INT, MPI_MAX, comm_);
    for (int object = 0; object < count(); ++object) {
        if (times[index(object)] == 1)
            continue;
        if (rank_ == 0)
            warn("sennit_objects_commit: object %d was added on %d ranks; each object needs one",
                 object, times[index(object)]);
        return MPI_ERR_ARG;
    }
    // Rank 0 decides, so it has to know all positions.
    const int mine = positions_.empty() ? 0 : 1;
    int anybody = 0;
    MPI_Allreduce(&mine, &anybody, 1, MPI_INT, MPI_MAX, comm_);
    if (anybody) {
        positions_.resize(rank_of_.size());
        static_assert(sizeof(balance::Position) == 3 * sizeof(double));
        std::vector<balance::Position> sum(positions_.size());
        MPI_Reduce(positions_.data(), sum.data(), 3 * count(), MPI_DOUBLE, MPI_SUM, 0, comm_);
        positions_ = std::move(sum);
    }
    committed_ = true;
    return MPI_SUCCESS;
}

// What traces are told of a set of objects, if Sennit's runtime records one: loads, moves, and what
// a call did. Nothing here is collective.

void Set::record(std::span<const Row> rows) const {
    const Runtime &runtime = Runtime::get();
    if (!runtime.traces())
        return;
    for (const Row &row : rows) {
        const int object = static_cast<int>(row.object);
        const sennit_trace_stay stay = {
            number_,   calls_,          object,
            rank_,     rank_of(object), static_cast<std::uint64_t>(row.load_s * 1e9),
            row.bytes, speed_};
        runtime.trace_object(&stay);
    }
}

void Set::record(const sennit_balance_info &info) const {
    const Runtime &runtime = Runtime::get();
    if (!runtime.traces())
        return;
    const sennit_trace_balancing call = {
        number_,
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
        balance::name_of(*strategy_).data(), // a literal
        ranks_, static_cast<std::int32_t>(info.moved), static_cast<std::int32_t>(info.failed),
        info.declined, info.imbalance, info.node_imbalance, info.promised,
        static_cast<std::uint64_t>(info.bytes), static_cast<std::uint64_t>(info.seconds * 1e9)};
    runtime.trace_balance(&call);
}

} // namespace sennit::objects

// Functions that include/sennit_objects.f90 cannot call as they are in C, for Fortran's
// communicators are numbers.

#define SENNIT_API extern "C" [[gnu::visibility("default")]]

SENNIT_API int sennit_objects_create_f(MPI_Fint comm, int count, const sennit_object_type *type,
                                       sennit_objects **set) {
    return sennit_objects_create(MPI_Comm_f2c(comm), count, type, set);
}

SENNIT_API int sennit_objects_create_memory_f(MPI_Fint comm, int count, sennit_objects **set) {
    return sennit_objects_create(MPI_Comm_f2c(comm), count, SENNIT_OBJECT_MEMORY, set);
}

// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/assembled.h"

#include "base/clock.h"
#include "base/last_words.h"
#include "mpi/call/bare.h"
#include "node/identity.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace sennit::mpi {

namespace {

[[noreturn]] void abort_job() {
    static constexpr auto abort = SENNIT_BARE(Abort);
    let_last_words_through();
    abort(MPI_COMM_WORLD, 1);
    __builtin_trap(); // it does not return
}

} // namespace

bool Assembled::prepare(node::Board &board, MPI_Comm comm, const Ranks &ranks) {
    board_ = &board;
    comm_ = comm;
    rank_ = ranks.own;
    parts_ = new (std::nothrow) node::Assembly::Part *[static_cast<std::size_t>(ranks.size)];
    for (int rank = 0; parts_ && rank < ranks.size; ++rank)
        parts_[rank] = &board.part(ranks.slots[rank]);
    return parts_ != nullptr;
}

void Assembled::begin(node::Assembly &assembly, MPI_Comm ours) {
    ours_ = ours;
    assembly_ = &assembly;
}

void Assembled::end() {
    if (assembly_ && comm_ != MPI_COMM_WORLD)
        assembly_->leave();
    else if (assembly_ && rank_ == 0) // who has claimed it
        assembly_->release();
    assembly_ = nullptr;
    delete[] std::exchange(parts_, nullptr);
}

const char *Assembled::name_of_comm() const {
    return comm_ == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "a communicator made from MPI_COMM_WORLD";
}

// Others may be in the midst of a message to or from this rank, or of a one-sided call: MPI goes on
// with them in any of its calls. No message comes to this communicator.
void Assembled::look_for_messages() const {
    static constexpr auto probe = SENNIT_BARE(Iprobe);
    int flag = 0;
    probe(MPI_ANY_SOURCE, 0, ours_, &flag, MPI_STATUS_IGNORE);
}

// By the last rank to come. MPI, with messages, would hang or worse.
void Assembled::compare_calls(std::uint32_t own) const {
    for (int rank = 0; rank < assembly_->members(); ++rank) {
        const std::uint32_t other = parts_[rank]->call;
        if (other == own)
            continue;
        const auto name = [](std::uint32_t call) {
            return call == 0                       ? "MPI_Barrier"
                   : Reduction::is_gathering(call) ? "MPI_Comm_split or its like"
                   : Reduction::is_exchange(call)  ? "MPI_Comm_dup or its like"
                                                   : "MPI_Allreduce";
        };
        std::fprintf(stderr,
                     "sennit: on %s rank %d calls %s (%zu bytes) where rank %d calls %s "
                     "(%zu bytes)%s; all its ranks must make the same calls in the same order\n",
                     name_of_comm(), rank_, name(own), Reduction::bytes_of(own), rank, name(other),
                     Reduction::bytes_of(other),
                     Reduction::bytes_of(own) == Reduction::bytes_of(other)
                         ? " with another operation"
                         : "");
        abort_job();
    }
}

// By the last rank to come, in the order in which MPICH and Open MPI put few bytes together, by
// recursive doubling: so sums come out as bare, to the last bit. The first ranks beyond a power of
// two go in pairs, so that as many parts are left; then neighbours, then pairs, and so on.
void Assembled::put_together(const Reduction &reduction) const {
    const int members = assembly_->members();
    if (reduction.concatenates) {
        for (int rank = 0; rank < members; ++rank)
            std::memcpy(assembly_->result() + static_cast<std::size_t>(rank) * reduction.bytes,
                        parts_[rank]->bytes, reduction.bytes);
        return;
    }
    const int parts = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
    const int beyond = members - parts;
    const auto member_of = [&](int part) { return part < beyond ? 2 * part + 1 : part + beyond; };
    const auto combine = [&](int from, int into) {
        if (reduction.combine(parts_[from]->bytes, parts_[into]->bytes))
            return;
        std::fputs("sennit: MPI_Reduce_local refuses what MPI_Allreduce allows; set "
                   "SENNIT_NODE_COLLECTIVES=off\n",
                   stderr);
        abort_job();
    };
    for (int i = 0; i < beyond; ++i)
        combine(2 * i, 2 * i + 1);
    for (int distance = 1; distance < parts; distance *= 2)
        for (int i = 0; i < parts; i += 2 * distance)
            combine(member_of(i + distance), member_of(i));
    std::memcpy(assembly_->result(), parts_[member_of(0)]->bytes, reduction.bytes);
}

// A rank that has ended never comes. MPI's launchers end the job when they see that; not all do,
// nor in all cases. One that somebody has stopped comes when it is let go on, which may be never:
// whoever finds it stopped at two looks says so, once. Between them it may be on its way.
void AssembledCall::look_for_missing() {
    for (int rank = 0; rank < assembled_.assembly_->members(); ++rank) {
        if (rank == assembled_.rank_ || assembled_.parts_[rank]->has_come(number_))
            continue;
        const int slot = assembled_.neighbours_.slot_of(assembled_.comm_, rank);
        const node::Identity holder =
            assembled_.board_->slot(slot).holder.load(std::memory_order_relaxed);
        if (!node::is_alive(holder)) {
            std::fprintf(stderr,
                         "sennit: rank %d waits in %s on %s for rank %d, which has "
                         "ended without MPI_Finalize\n",
                         assembled_.rank_, name_, assembled_.name_of_comm(), rank);
            abort_job();
        }
        if (stopped_ == kTold || !node::is_stopped(holder))
            continue;
        if (stopped_ != rank) {
            stopped_ = rank;
            return;
        }
        std::fprintf(stderr,
                     "sennit: rank %d waits in %s on %s for rank %d (process %d), which "
                     "is stopped, by a signal or a debugger\n",
                     assembled_.rank_, name_, assembled_.name_of_comm(), rank,
                     static_cast<int>(node::pid_of(holder)));
        stopped_ = kTold;
    }
}

// ---- one call -----------------------------------------------------------------------------------

// False: an earlier one of this rank is not over.
bool AssembledCall::come() {
    // It has counted itself in `next_`, and looks whether the one before is through. That one says
    // that it is, then looks for who comes after it. All seq_cst: one of them sees the other.
    if (assembled_.through_.load(std::memory_order_seq_cst) != number_ - 1)
        return false;
    node::Assembly &assembly = *assembled_.assembly_;
    node::Assembly::Part &own = *assembled_.parts_[assembled_.rank_];
    if (reduction_.bytes > 0)
        std::memcpy(own.bytes, reduction_.own(), reduction_.bytes);
    has_come_ = true;
    if (assembly.come(own, number_, reduction_.number())) {
        assembled_.compare_calls(reduction_.number());
        if (reduction_.result_bytes(assembly.members()) > 0)
            assembled_.put_together(reduction_);
        assembly.end(number_);
        assembled_.neighbours_.ring_members(assembled_.comm_);
    }
    return true;
}

bool AssembledCall::test() {
    if (!has_come_ && !come()) {
        look_around();
        return false;
    }
    const node::Assembly &assembly = *assembled_.assembly_;
    if (!assembly.is_over(number_)) {
        look_around();
        return false;
    }
    if (const std::size_t bytes = reduction_.result_bytes(assembly.members()); bytes > 0)
        std::memcpy(reduction_.out, assembled_.assembly_->result(), bytes);
    assembled_.through_.store(number_, std::memory_order_seq_cst); // pairs with come()
    if (assembled_.next_.load(std::memory_order_seq_cst) != number_)
        assembled_.neighbours_.ring_own();
    return true;
}

// The first looks come before the thread rests (Vigil), and are only for who comes just now.
void AssembledCall::look_around() {
    constexpr unsigned brief = 2;
    constexpr unsigned looks_a_clock = 64;
    constexpr std::int64_t second = 1'000'000'000;
    if (++looks_ <= brief)
        return;
    assembled_.look_for_messages();
    if (looks_ % looks_a_clock != 0)
        return;
    const std::int64_t now = monotonic_ns();
    if (looked_ns_ != 0 && now - looked_ns_ <= second)
        return;
    if (looked_ns_ != 0)
        look_for_missing();
    looked_ns_ = now;
}

} // namespace sennit::mpi

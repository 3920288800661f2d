// SPDX-License-Identifier: Apache-2.0
// Small collective calls, for ranks that outnumber cores and are all on one node: MPI_Barrier, and
// MPI_Allreduce, MPI_Reduce and MPI_Bcast of a few bytes. MPI would send messages in several
// rounds, and each round may have to wake a rank up. Here each rank stores its part on the board
// (node/assembly.h), and waits for the last rank. In a broadcast it waits for the root, and in a
// reduction for a root only that one waits.
//
// All ranks decide alike which calls are made so. They decide by the communicator, by the kind of
// call, and by what reduction.h and broadcast.h say. The communicator is MPI_COMM_WORLD, or the
// program has made it (children.h). Before a call without a non-blocking form, which spins, the
// ranks wait for each other in this way, too (engine/delegate.h). Non-blocking and persistent calls
// are never made so: no blocking call matches them. Results are the same each time, and the same as
// bare (put_together, ReduceCall::put_together).
//
// A call that is too long for that is made by MPI. Between the same two numbered calls all ranks
// make equally many of these, so they are counted: who waits for a rank that has made another one
// finds out why it does not come. MPI would not, for the two do not meet there.
//
// A rank numbers its calls in the order in which they are made. The program orders the calls on one
// communicator, and tasks make them in that order, too. One call of a rank at a time is at the
// assembly. The others wait until it is over, before which they could not be over either.
//
// State: any thread changes `next_` and `longer_`. The thread that ends a call changes `through_`.
// The thread that tests the call whose turn it is has `counted_`, `note_` and `brought_`. The rest
// is written where the communicator is made, for MPI_COMM_WORLD in MPI_Init.
#pragma once

#include "base/spin.h"
#include "mpi/crowd/broadcast.h"
#include "mpi/crowd/neighbours.h"
#include "mpi/crowd/reduction.h"
#include "node/assembly.h"
#include "node/board.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <utility>

namespace sennit::mpi {

// Of one communicator.
class Assembled {
  public:
    explicit constexpr Assembled(Neighbours &neighbours) : neighbours_(neighbours) {}
    Assembled(const Assembled &) = delete;
    Assembled &operator=(const Assembled &) = delete;

    // The ranks of `comm` are all on the board. False: there is no memory.
    bool prepare(node::Board &board, MPI_Comm comm, const Ranks &ranks);
    // Of a rank, which is at first that of lane 0.
    node::Assembly::Part &part(int rank) const { return *parts_[rank]; }
    void use_part(int rank, node::Assembly::Part &part) { parts_[rank] = &part; }
    // All are prepared and have found the assembly. `ours` is our own communicator; no message is
    // sent on it.
    void begin(node::Assembly &assembly, MPI_Comm ours);
    // This rank makes no other call. So do all, or the assembly is told.
    void end();
    void after_fork_in_child() { assembly_ = nullptr; }

    // Are calls made so?
    bool is_on() const { return assembly_ != nullptr; }
    node::Assembly *assembly() const { return assembly_; }
    bool has_member(int rank) const { return rank < assembly_->members(); }
    // One for a root, which fits. Is this rank the root?
    bool may_reduce(const Reduction &reduction) const {
        return has_member(reduction.root) && reduction.may_take_part(is_root(reduction));
    }
    bool is_root(const Reduction &reduction) const { return reduction.root == rank_; }
    // Have all ranks taken what this one has brought?
    bool is_taken() const { return brought_ == 0 && (!brought_before_ || all_have_counted()); }
    // The first of `count` numbers for calls that follow each other.
    std::uint32_t take_numbers(std::uint32_t count) {
        return next_.fetch_add(count, std::memory_order_seq_cst) + 1;
    }
    // This rank waits for MPI: do others make calls here which show that they will not come?
    void look_beyond() const;

  private:
    friend class NumberedCall;
    friend class AssembledCall;
    friend class BroadcastCall;
    friend class ReduceCall;
    friend class LongerCall;
    void note_longer(std::uint32_t count) const;
    const char *name_of_comm() const;
    void look_for_messages() const;
    bool all_have_counted() const { return assembly_->is_over(counted_); }
    template <class Passed>
    void compare_calls(std::uint32_t number, std::uint32_t own, bool all_have_come,
                       Passed passed) const;
    void compare_longer(std::uint32_t number, std::uint32_t own, std::uint32_t longer) const;
    [[noreturn]] void tell_of_difference(std::uint32_t own, int rank, std::uint32_t other) const;
    void put_together(const Reduction &reduction) const;
    // b = a op b
    void combine(const Reduction &reduction, const std::byte *a, std::byte *b) const;
    template <class BytesOf>
    void combine_pairs(const Reduction &reduction, int parts, BytesOf bytes_of) const;

    Neighbours &neighbours_;
    node::Assembly *assembly_ = nullptr; // null: no calls are made so
    node::Board *board_ = nullptr;
    node::Assembly::Part **parts_ = nullptr; // of the ranks
    int rank_ = -1;
    MPI_Comm comm_{};
    MPI_Comm ours_{};
    Atomic<std::uint32_t> next_{0};    // the last number given
    Atomic<std::uint32_t> through_{0}; // the last call that this rank is through with
    Atomic<std::uint32_t> longer_{0};  // calls of this rank that are too long
    std::uint32_t counted_ = 0;        // the last one for which it has counted itself
    int note_ = 0;                     // the next one
    std::size_t brought_ = 0;     // bytes to reductions for a root, since it has counted itself
    bool brought_before_ = false; // some between its last two counts
};

// One call of this rank. It begins when the object is made. The calling thread tests it, or a
// thread that polls for it. The caller is inside MPI, and one thread at a time.
class NumberedCall {
  public:
    NumberedCall(const NumberedCall &) = delete;
    NumberedCall &operator=(const NumberedCall &) = delete;

  protected:
    NumberedCall(Assembled &assembled, const char *name, std::uint32_t number)
        : assembled_(assembled), name_(name), number_(number),
          longer_(assembled.longer_.load(std::memory_order_relaxed)) {}
    bool has_turn() const;
    // Counts itself at the assembly. True: this rank is the last one, and has to end the call.
    bool count(std::uint32_t call);
    void end();
    void be_through();
    // This rank has written or read the note of `call`: with it, the call is over.
    void pass_note(std::uint32_t call);
    // A test was in vain: all ranks have to come to this call, which has this number.
    void look_around(std::uint32_t call, std::uint32_t number);
    // The same for the call for which this rank has counted itself last.
    void look_around_for_others();
    // A test was in vain. True: it is time to look what the others do.
    bool is_time_to_look();
    const node::BoardSlot &slot_of(int rank) const;
    bool is_missing(int rank);
    template <class HasCome>
    void look_for_missing(HasCome has_come);

    Assembled &assembled_;
    const char *name_;
    std::uint32_t number_;
    const std::uint32_t longer_; // calls of this rank before that were too long

  private:
    static constexpr int kTold = -2;
    unsigned looks_ = 0;         // tests in vain
    std::int64_t looked_ns_ = 0; // when it last looked for members that have not come
    int stopped_ = -1;           // one of these that is stopped
};

// One that all ranks leave together.
class AssembledCall : NumberedCall {
  public:
    AssembledCall(Assembled &assembled, const char *name, const Reduction &reduction)
        : AssembledCall(assembled, name, reduction, assembled.take_numbers(1)) {}
    // With a number that was taken before.
    AssembledCall(Assembled &assembled, const char *name, const Reduction &reduction,
                  std::uint32_t number)
        : NumberedCall(assembled, name, number), reduction_(reduction) {}

    // Is the call over?
    bool test();
    static int error() { return MPI_SUCCESS; }

  private:
    bool come();

    const Reduction &reduction_;
    bool has_come_ = false;
};

class BroadcastCall : NumberedCall {
  public:
    // `broadcast` fits. It is packed here, so that a call which MPI refuses takes no number.
    BroadcastCall(Assembled &assembled, const char *name, const Broadcast &broadcast);

    // Is the call over? If it has an error, it is.
    bool test();
    int error() const { return error_; }
    // Of which nobody has told the program.
    int untold() const { return untold_; }

  private:
    bool is_root() const { return broadcast_.root() == assembled_.rank_; }
    bool post(node::Assembly::Note &note);
    bool receive(const node::Assembly::Note &note);
    void look_for_root(const node::Assembly::Note &note);
    [[noreturn]] void tell_of_longer(std::uint32_t call, int root, std::uint32_t posted,
                                     std::uint32_t longer_of_root) const;

    const Broadcast &broadcast_;
    int error_ = MPI_SUCCESS;
    int untold_ = MPI_SUCCESS;
    std::byte packed_[node::Assembly::kMostBytes]; // of the root
};

// A reduction for a root.
class ReduceCall : NumberedCall {
  public:
    // `reduction` fits, and may be made so.
    ReduceCall(Assembled &assembled, const char *name, const Reduction &reduction)
        : NumberedCall(assembled, name, assembled.take_numbers(1)), reduction_(reduction),
          call_(reduction.number()) {}

    // Is the call over?
    bool test();
    static int error() { return MPI_SUCCESS; }

  private:
    bool is_root() const { return reduction_.root == assembled_.rank_; }
    node::Assembly::Note &note() { return assembled_.assembly_->note(assembled_.note_); }
    std::uint32_t posted(const node::Assembly::Part &part) const {
        return part.posted[assembled_.note_].call_if_posted(number_);
    }
    bool bring();
    bool take();
    void put_together();
    void look_for_parts();

    const Reduction &reduction_;
    std::uint32_t call_;
    std::size_t offset_ = 0; // of its part in what each rank has brought
    bool has_brought_ = false;
};

// A call that MPI makes because it is too long. It is counted when the program makes it, as numbers
// are taken; not if MPI refuses it.
class LongerCall {
  public:
    LongerCall() = default;
    ~LongerCall() { started(MPI_ERR_OTHER); }
    LongerCall(const LongerCall &) = delete;
    LongerCall &operator=(const LongerCall &) = delete;

    void begin(Assembled &assembled, std::uint32_t call);
    // With this error, or success.
    void started(int error) {
        if (Assembled *const assembled = std::exchange(assembled_, nullptr);
            assembled && error != MPI_SUCCESS)
            take_back(*assembled);
    }

  private:
    static void take_back(Assembled &assembled);
    Assembled *assembled_ = nullptr; // it has not started
};

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/assembled.h"

#include "base/clock.h"
#include "base/message.h"
#include "mpi/call/bare.h"
#include "node/identity.h"

#include <bit>
#include <cstddef>
#include <cstdio>
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

const char *more_than(CallNumber call) {
    return call.is_longer() ? "more than " : "";
}
std::size_t bytes_of(CallNumber call) {
    return call.is_longer() ? node::Assembly::kMostBytes : call.bytes();
}

// Counts that only grow, modulo 2^32.
bool is_more(std::uint32_t count, std::uint32_t other) {
    return static_cast<std::int32_t>(count - other) > 0;
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
    counted_ = 0;
    note_ = 0;
    brought_ = 0;
    brought_before_ = false;
    longer_.store(0, std::memory_order_relaxed);
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

// MPI, with messages, would hang or worse.
void Assembled::tell_of_difference(std::uint32_t own, int rank, std::uint32_t other) const {
    neighbours_.claim_end();
    const CallNumber ours(own);
    const CallNumber theirs(other);
    std::fprintf(stderr,
                 "sennit: on %s rank %d calls %s (%s%zu bytes) where rank %d calls %s "
                 "(%s%zu bytes)%s; all its ranks must make the same calls in the same order\n",
                 name_of_comm(), rank_, ours.name(), more_than(ours), bytes_of(ours), rank,
                 theirs.name(), more_than(theirs), bytes_of(theirs),
                 ours.bytes() != theirs.bytes() ? ""
                 : ours.root() != theirs.root() ? " with another root"
                 : ours.goes_with(theirs)       ? " another time"
                                                : " with another operation");
    abort_job();
}

// By the last rank to come, and before that by one that has waited for long. All that have come to
// the call stay there until it is over. So the others' calls are those of this number unless
// passed(): release and acquire of `call` order them behind the end of the call.
template <class Passed>
void Assembled::compare_calls(std::uint32_t number, std::uint32_t own, bool all_have_come,
                              Passed passed) const {
    const CallNumber ours(own);
    for (int i = 0; i < node::Assembly::kNotes && !ours.is_broadcast(); ++i)
        if (const std::uint32_t posted = assembly_->note(i).call_if_posted(number))
            tell_of_difference(own, CallNumber(posted).root(), posted);
    for (int rank = 0; rank < assembly_->members(); ++rank) {
        for (int i = 0; i < node::Assembly::kNotes && !all_have_come; ++i)
            if (const std::uint32_t posted = parts_[rank]->posted[i].call_if_posted(number);
                posted && !ours.goes_with(CallNumber(posted)))
                tell_of_difference(own, rank, posted);
        const bool has_come = parts_[rank]->has_come(number);
        const std::uint32_t other = parts_[rank]->call.load(std::memory_order_acquire);
        if (has_come ? ours.goes_with(CallNumber(other)) : !all_have_come)
            continue;
        if (passed())
            return;
        tell_of_difference(own, rank, other);
    }
}

// Called by a rank that waits long in call `number`. Before it, this rank has made `longer` calls
// that were too long to be assembled. Another rank may have made one more of those without having
// come to `number` first: that rank makes a different call in this one's place.
void Assembled::compare_longer(std::uint32_t number, std::uint32_t own,
                               std::uint32_t longer) const {
    for (int rank = 0; rank < assembly_->members(); ++rank) {
        const node::Assembly::Part &part = *parts_[rank];
        const node::Assembly::Longer theirs = part.longer.load(std::memory_order_acquire);
        if (is_more(theirs.count, longer) && is_more(number, theirs.before))
            tell_of_difference(own, rank, part.longer_call.load(std::memory_order_relaxed));
    }
}

// The root of a broadcast posts, and does not wait for the receivers. A rank may have posted the
// call that follows the latest longer call of this rank, without having made the longer one: it
// makes a different call in that one's place.
void Assembled::look_beyond() const {
    const node::Assembly::Part &own = *parts_[rank_];
    const node::Assembly::Longer latest = own.longer.load(std::memory_order_relaxed);
    for (int i = 0; i < node::Assembly::kNotes; ++i) {
        const node::Assembly::Note &note = assembly_->note(i);
        const std::uint32_t posted = note.call_if_posted(latest.before + 1);
        if (posted != 0 && is_more(latest.count, note.longer))
            tell_of_difference(own.longer_call.load(std::memory_order_relaxed),
                               CallNumber(posted).root(), posted);
    }
}

// Before the call, so that nobody who waits meanwhile sees it without what it was.
void Assembled::note_longer(std::uint32_t count) const {
    parts_[rank_]->longer.store({count, next_.load(std::memory_order_seq_cst)},
                                std::memory_order_release);
}

void LongerCall::begin(Assembled &assembled, std::uint32_t call) {
    assembled_ = &assembled;
    assembled.parts_[assembled.rank_]->longer_call.store(call, std::memory_order_relaxed);
    assembled.note_longer(assembled.longer_.fetch_add(1, std::memory_order_relaxed) + 1);
}

void LongerCall::take_back(Assembled &assembled) {
    assembled.note_longer(assembled.longer_.fetch_sub(1, std::memory_order_relaxed) - 1);
}

// By the last rank to come, in the order in which MPICH and Open MPI put few bytes together, by
// recursive doubling: so sums come out as bare, to the last bit. The first ranks beyond a power of
// two go in pairs, so that as many parts are left; then neighbours, then pairs, and so on.
void Assembled::put_together(const Reduction &reduction) const {
    const int members = assembly_->members();
    if (reduction.concatenates) {
        for (int rank = 0; rank < members; ++rank)
            copy_shared(assembly_->result() + static_cast<std::size_t>(rank) * reduction.bytes,
                        parts_[rank]->bytes, reduction.bytes);
        return;
    }
    const int parts = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
    const int beyond = members - parts;
    const auto member_of = [&](int part) { return part < beyond ? 2 * part + 1 : part + beyond; };
    for (int i = 0; i < beyond; ++i)
        combine(reduction, parts_[2 * i]->bytes, parts_[2 * i + 1]->bytes);
    combine_pairs(reduction, parts, [&](int part) { return parts_[member_of(part)]->bytes; });
    copy_shared(assembly_->result(), parts_[member_of(0)]->bytes, reduction.bytes);
}

void Assembled::combine(const Reduction &reduction, const std::byte *a, std::byte *b) const {
    if (reduction.combine(a, b))
        return;
    neighbours_.claim_end();
    std::fprintf(stderr,
                 "sennit: MPI_Reduce_local refuses what %s allows; set "
                 "SENNIT_NODE_COLLECTIVES=off\n",
                 CallNumber(reduction.number()).name());
    abort_job();
}

// Into the first one: neighbours, then pairs, and so on.
template <class BytesOf>
void Assembled::combine_pairs(const Reduction &reduction, int parts, BytesOf bytes_of) const {
    for (int distance = 1; distance < parts; distance *= 2)
        for (int i = 0; i + distance < parts; i += 2 * distance)
            combine(reduction, bytes_of(i + distance), bytes_of(i));
}

// ---- one call -----------------------------------------------------------------------------------

// No: an earlier one of this rank is not over. This one has counted itself in `next_`, and looks
// whether the one before is through. That one says that it is, then looks for who comes after it.
// All seq_cst: one of them sees the other.
bool NumberedCall::has_turn() const {
    return assembled_.through_.load(std::memory_order_seq_cst) == number_ - 1;
}

void NumberedCall::be_through() {
    assembled_.through_.store(number_, std::memory_order_seq_cst); // pairs with has_turn()
    if (assembled_.next_.load(std::memory_order_seq_cst) != number_)
        assembled_.neighbours_.ring_own();
}

bool NumberedCall::count(std::uint32_t call) {
    const bool of_notes = CallNumber(call).takes_note();
    node::Assembly &assembly = *assembled_.assembly_;
    assembled_.counted_ = number_;
    assembled_.note_ = 0;
    assembled_.brought_before_ = std::exchange(assembled_.brought_, 0) != 0;
    if (!assembly.come(*assembled_.parts_[assembled_.rank_], number_, call, of_notes))
        return false;
    if (!of_notes || !assembly.are_alike())
        assembled_.compare_calls(number_, call, !of_notes, [] { return false; });
    return true;
}

// Rings for those that wait for the end of the call, or for a note that is free again.
void NumberedCall::end() {
    assembled_.assembly_->end(number_);
    assembled_.neighbours_.ring_members(assembled_.comm_);
}

void NumberedCall::pass_note(std::uint32_t call) {
    if (++assembled_.note_ == node::Assembly::kNotes && count(call))
        end();
    be_through();
}

// MPI goes on meanwhile. The first looks come before the thread rests (Vigil), and are only for who
// comes just now.
bool NumberedCall::is_time_to_look() {
    constexpr unsigned brief = 2;
    constexpr unsigned looks_a_clock = 64;
    constexpr std::int64_t second = 1'000'000'000;
    if (++looks_ <= brief)
        return false;
    assembled_.look_for_messages();
    if (looks_ % looks_a_clock != 0)
        return false;
    const std::int64_t now = monotonic_ns();
    if (looked_ns_ != 0 && now - looked_ns_ <= second)
        return false;
    return std::exchange(looked_ns_, now) != 0;
}

void NumberedCall::look_around(std::uint32_t call, std::uint32_t number) {
    if (!is_time_to_look())
        return;
    const node::Assembly &assembly = *assembled_.assembly_;
    assembled_.compare_longer(number, call, longer_);
    assembled_.compare_calls(number, call, false, [&] { return assembly.is_over(number); });
    look_for_missing([&](const node::Assembly::Part &part) { return part.has_come(number); });
}

template <class HasCome>
void NumberedCall::look_for_missing(HasCome has_come) {
    for (int rank = 0; rank < assembled_.assembly_->members(); ++rank)
        if (rank != assembled_.rank_ && !has_come(*assembled_.parts_[rank]) && is_missing(rank))
            return;
}

void NumberedCall::look_around_for_others() {
    const node::Assembly::Part &own = *assembled_.parts_[assembled_.rank_];
    look_around(own.call.load(std::memory_order_relaxed), assembled_.counted_);
}

const node::BoardSlot &NumberedCall::slot_of(int rank) const {
    return assembled_.board_->slot(assembled_.neighbours_.slot_of(assembled_.comm_, rank));
}

// A rank that has ended never comes; a process of another job may have its slot by now. MPI's
// launchers end the job when they see that; not all do, nor in all cases. One that somebody has
// stopped comes when it is let go on, which may be never: whoever finds it stopped at two looks
// says so, once. Between them it may be on its way. True: it was found stopped for the first time.
bool NumberedCall::is_missing(int rank) {
    const node::BoardSlot &slot = slot_of(rank);
    const node::Identity holder = slot.holder.load(std::memory_order_relaxed);
    if (slot.job.load(std::memory_order_relaxed) !=
            slot_of(assembled_.rank_).job.load(std::memory_order_relaxed) ||
        !node::is_alive(holder)) {
        assembled_.neighbours_.claim_end();
        std::fprintf(stderr,
                     "sennit: rank %d waits in %s on %s for rank %d, which has "
                     "ended without MPI_Finalize\n",
                     assembled_.rank_, name_, assembled_.name_of_comm(), rank);
        abort_job();
    }
    if (stopped_ == kTold || !node::is_stopped(holder))
        return false;
    if (stopped_ != rank) {
        stopped_ = rank;
        return true;
    }
    std::fprintf(stderr,
                 "sennit: rank %d waits in %s on %s for rank %d (process %d), which "
                 "is stopped, by a signal or a debugger\n",
                 assembled_.rank_, name_, assembled_.name_of_comm(), rank,
                 static_cast<int>(node::pid_of(holder)));
    stopped_ = kTold;
    return false;
}

// ---- one that all leave together ----------------------------------------------------------------

// False: it is not its turn, or somebody has not read the notes of the broadcasts before.
bool AssembledCall::come() {
    if (!has_turn()) {
        is_time_to_look();
        return false;
    }
    if (!assembled_.all_have_counted()) {
        look_around_for_others();
        return false;
    }
    const node::Assembly &assembly = *assembled_.assembly_;
    if (reduction_.bytes > 0)
        copy_shared(assembled_.parts_[assembled_.rank_]->bytes, reduction_.own(), reduction_.bytes);
    has_come_ = true;
    if (count(reduction_.number())) {
        if (reduction_.result_bytes(assembly.members()) > 0)
            assembled_.put_together(reduction_);
        end();
    }
    return true;
}

bool AssembledCall::test() {
    const node::Assembly &assembly = *assembled_.assembly_;
    if (!has_come_ && !come())
        return false;
    if (!assembly.is_over(number_)) {
        look_around(reduction_.number(), number_);
        return false;
    }
    if (const std::size_t bytes = reduction_.result_bytes(assembly.members()); bytes > 0)
        copy_shared(reduction_.out, assembled_.assembly_->result(), bytes);
    be_through();
    return true;
}

// ---- a broadcast --------------------------------------------------------------------------------

BroadcastCall::BroadcastCall(Assembled &assembled, const char *name, const Broadcast &broadcast)
    : NumberedCall(assembled, name, 0), broadcast_(broadcast) {
    if (is_root())
        error_ = outside_task([&] { return broadcast_.pack(packed_, assembled_.comm_); });
    if (error_ == MPI_SUCCESS)
        number_ = assembled_.take_numbers(1);
}

bool BroadcastCall::test() {
    if (error_ != MPI_SUCCESS)
        return true;
    if (!has_turn()) {
        is_time_to_look();
        return false;
    }
    node::Assembly::Note &note = assembled_.assembly_->note(assembled_.note_);
    if (is_root() ? !post(note) : !receive(note))
        return false;
    pass_note(broadcast_.number());
    return true;
}

// False: somebody has not read all notes, of which this is the first one.
bool BroadcastCall::post(node::Assembly::Note &note) {
    if (!assembled_.all_have_counted()) {
        look_around_for_others();
        return false;
    }
    const std::uint32_t call = broadcast_.number();
    copy_shared(note.bytes, packed_, CallNumber(call).bytes());
    note.longer = longer_;
    if (const std::uint32_t other = note.post(number_, call))
        assembled_.tell_of_difference(call, CallNumber(other).root(), other);
    if (note.brought() != 0)
        assembled_.compare_calls(number_, call, false, [] { return false; });
    assembled_.neighbours_.ring_members(assembled_.comm_);
    return true;
}

bool BroadcastCall::receive(const node::Assembly::Note &note) {
    const std::uint32_t call = broadcast_.number();
    const std::uint32_t posted = note.call_if_posted(number_);
    if (posted == 0) {
        look_for_root(note);
        return false;
    }
    const CallNumber sent(posted);
    if (note.longer != longer_)
        tell_of_longer(call, sent.root(), posted, note.longer);
    if (!sent.goes_with(CallNumber(call)))
        assembled_.tell_of_difference(call, sent.root(), posted);
    untold_ = broadcast_.judge(sent.bytes());
    error_ = untold_ != MPI_SUCCESS ? untold_
                                    : broadcast_.unpack(note.bytes, sent.bytes(), assembled_.comm_);
    return true;
}

// One of the two has made a longer call, where the other one makes this.
void BroadcastCall::tell_of_longer(std::uint32_t call, int root, std::uint32_t posted,
                                   std::uint32_t longer_of_root) const {
    const auto longer_call_of = [this](int rank) {
        return assembled_.parts_[rank]->longer_call.load(std::memory_order_relaxed);
    };
    if (is_more(longer_of_root, longer_))
        assembled_.tell_of_difference(call, root, longer_call_of(root));
    assembled_.tell_of_difference(longer_call_of(assembled_.rank_), root, posted);
}

void BroadcastCall::look_for_root(const node::Assembly::Note &note) {
    if (!is_time_to_look())
        return;
    const auto passed = [&] { return note.call_if_posted(number_) != 0; };
    assembled_.compare_longer(number_, broadcast_.number(), longer_);
    assembled_.compare_calls(number_, broadcast_.number(), false, passed);
    if (!passed())
        is_missing(broadcast_.root());
}

// ---- a reduction for a root ---------------------------------------------------------------------

bool ReduceCall::test() {
    if (!has_turn()) {
        is_time_to_look();
        return false;
    }
    if (!has_brought_ && !bring())
        return false;
    if (is_root() && !take())
        return false;
    pass_note(call_);
    return true;
}

// False: a root has not taken what this rank has brought before, or somebody has not read the notes
// of the broadcasts.
bool ReduceCall::bring() {
    constexpr std::size_t alignment = alignof(std::max_align_t);
    const std::size_t room = (reduction_.bytes + alignment - 1) / alignment * alignment;
    if (assembled_.brought_ + room > node::Assembly::kMostBytes && count(call_))
        end();
    if (!assembled_.all_have_counted()) {
        look_around_for_others();
        return false;
    }
    node::Assembly::Part &own = *assembled_.parts_[assembled_.rank_];
    offset_ = assembled_.brought_;
    assembled_.brought_ += room;
    copy_shared(own.brought + offset_, reduction_.own(), reduction_.bytes);
    own.posted[assembled_.note_].post(number_, call_);
    has_brought_ = true;
    if (const std::uint32_t other = note().call_if_posted(number_))
        assembled_.tell_of_difference(call_, CallNumber(other).root(), other);
    if (note().bring() == assembled_.assembly_->members() && !is_root())
        assembled_.neighbours_.ring_slot(
            assembled_.neighbours_.slot_of(assembled_.comm_, reduction_.root));
    return true;
}

// False: somebody has not brought its part.
bool ReduceCall::take() {
    const int members = assembled_.assembly_->members();
    if (note().brought() != members) {
        look_for_parts();
        return false;
    }
    for (int rank = 0; rank < members; ++rank)
        if (const std::uint32_t other = posted(*assembled_.parts_[rank]); other != call_)
            assembled_.tell_of_difference(call_, rank, other);
    put_together();
    note().take();
    return true;
}

// In the order of a binomial tree, which MPICH uses for few bytes: so sums come out as there, to
// the last bit. Open MPI's order is another one for each length and number of ranks.
void ReduceCall::put_together() {
    const int members = assembled_.assembly_->members();
    const auto bytes_of = [&](int part) {
        return assembled_.parts_[(reduction_.root + part) % members]->brought + offset_;
    };
    assembled_.combine_pairs(reduction_, members, bytes_of);
    copy_shared(reduction_.out, bytes_of(0), reduction_.bytes);
}

void ReduceCall::look_for_parts() {
    if (!is_time_to_look())
        return;
    assembled_.compare_calls(number_, call_, false, [] { return false; });
    look_for_missing([&](const node::Assembly::Part &part) { return posted(part) != 0; });
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
// Decides which of the pending operations are tested next. The cost of a turn must not grow with
// the number of operations, and none may starve.
//
// The operations that came last are usually over first: in a chain of messages each waits for the
// one before. So the youngest few are tested at every turn. The others are tested in batches. A
// batch has its turn if none of the youngest is over, and otherwise now and then. If nothing is
// found, a few batches are tested in one turn. Their number is bounded, because they keep the
// youngest waiting.
//
// Items are in an array of the caller's. [0, old) are tested in batches; [0, position) of them had
// their turn in this round. [old, size) are the youngest.
#pragma once

#include <algorithm>

namespace sennit::mpi {

class Rotation {
  public:
    static constexpr int kBatch = 64;      // at most so many in one MPI_Testsome
    static constexpr int kYoung = 16;      // with MPICH a test costs 140 instructions
    static constexpr int kLeftOut = 8;     // fewer turns than this in a row leave out the old ones
    static constexpr int kMostBatches = 4; // in a turn: some microseconds
    struct Slice {
        int begin;
        int count;
    };

    // An item was added behind the others.
    void added() {
        ++size_;
        old_ = std::max(old_, size_ - kYoung);
    }

    // One turn. test(slice) tests the items of a slice, and returns how many are over. Then
    // is_over(i) tells it for each. move(from, to) moves an item. drop() removes the last item,
    // which was moved or is over. Returns how many were over.
    template <class Test, class IsOver, class Move, class Drop>
    int turn(Test test, IsOver is_over, Move move, Drop drop) {
        const auto look_at = [&](Slice slice) {
            const int over = slice.count > 0 ? test(slice) : 0;
            const int kept = over > 0 ? remove(slice, is_over, move, drop) : slice.count;
            return Slice{kept, over};
        };
        int done = look_at({old_, size_ - old_}).count;
        if (done > 0 && ++left_out_ < kLeftOut) {
            batches_ = 1;
            return done;
        }
        left_out_ = 0;
        int looked = 0;
        for (int left = batches_; left > 0 && looked < old_; --left) {
            if (position_ >= old_)
                position_ = 0;
            const auto [kept, over] = look_at({position_, std::min(kBatch, old_ - position_)});
            position_ += kept;
            looked += kBatch;
            done += over;
            // Stop: tasks can go on now.
            if (done > 0)
                break;
        }
        batches_ = done > 0 ? 1 : std::min(2 * batches_, kMostBatches);
        return done;
    }

  private:
    // Remove the items of the slice that are over. Returns how many are left. These come first in
    // the slice, and items follow that were not tested yet.
    template <class IsOver, class Move, class Drop>
    int remove(Slice slice, IsOver is_over, Move move, Drop drop) {
        const int end = slice.begin + slice.count;
        int kept = slice.begin;
        for (int i = slice.begin; i < end; ++i)
            if (!is_over(i)) {
                if (i != kept)
                    move(i, kept);
                ++kept;
            }
        // From the back: so an item that moves into a hole need not be removed itself.
        for (int hole = end - 1; hole >= kept; --hole) {
            int at = hole;
            if (at < old_) { // not a young one, which would lose its place
                if (--old_ != at)
                    move(old_, at);
                at = old_;
            }
            if (--size_ != at)
                move(size_, at);
            drop();
        }
        return kept - slice.begin;
    }

    int size_ = 0;
    int old_ = 0;
    int position_ = 0;
    int batches_ = 1; // at the next turn that finds nothing
    int left_out_ = 0;
};

} // namespace sennit::mpi

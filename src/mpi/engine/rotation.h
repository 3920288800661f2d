// SPDX-License-Identifier: Apache-2.0
// Which of the pending operations are tested next. A test's cost must not grow with their number,
// and none may starve.
//
// The operations that came last are the first to be over: in a chain of messages each waits for the
// one before. So the youngest few are tested at every turn. The others take turns, a batch at a
// turn: when none of the youngest is over, and else now and then. When nothing is found, a few
// batches are tested at once, not more: that would keep the youngest waiting.
//
// Items are in an array of the caller's: [0, old) take turns, of which [0, position) had theirs in
// this round; [old, size) are the youngest.
#pragma once

#include <algorithm>

namespace sennit::mpi {

class Rotation {
  public:
    static constexpr int kBatch = 64;      // what an MPI_Testsome gets at once, at most
    static constexpr int kYoung = 16;      // MPICH's cost 140 instructions each
    static constexpr int kLeftOut = 8;     // turns in a row without the old ones, fewer than that
    static constexpr int kMostBatches = 4; // at a turn: some microseconds
    struct Slice {
        int begin;
        int count;
    };

    // An item was put behind the others.
    void added() {
        ++size_;
        old_ = std::max(old_, size_ - kYoung);
    }

    // A turn: test(slice) tests what is there and says how many are over; is_over(i) is asked for
    // each afterwards. move(from, to) moves an item, drop() takes away the last, which was moved or
    // is over. Returns how many were over.
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
            // What is over has tasks that can go on.
            if (done > 0)
                break;
        }
        batches_ = done > 0 ? 1 : std::min(2 * batches_, kMostBatches);
        return done;
    }

  private:
    // Returns how many of the slice are left. They are its first afterwards; those that had no test
    // yet follow.
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
        // From the back, so that what moves into a hole has not to be removed itself.
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

// SPDX-License-Identifier: Apache-2.0
// A place in shared memory where the ranks of a job make a collective call without messages. All of
// them are on one node.
//
// The calls are numbered from 1; all ranks give a call the same number. A rank that comes to a call
// stores its part and counts itself. The last rank to come computes the result, and says that the
// call is over.
//
//   a rank that comes to call n                  the last one
//   1. stores its part                           1. stores its part
//   2. counts itself in `here_`                  2. counts itself, and so sees all parts
//   3. arms its bell                             3. writes the result, here_ = 0, over_ = n
//   4. over_ == n? Takes the result,             4. rings all (its fence pairs with that of arm())
//      else sleeps
//
// A rank's part is in the memory of the board that belongs to its slot (board.h). For the result
// there is one place in the assembly. That is enough: a rank comes to call n + 1 only when
// it has taken the result of call n. So when all have come to n + 1, all have taken the result of
// n. And nobody stores a part that the last rank of call n still reads.
//
// A broadcast is a call that ranks do not leave together. Its root writes a note, and goes on. The
// others wait for that note alone. There are kNotes notes, which are written one after the other,
// from the first one on after each call as above. A rank that has written or read the last one
// counts itself, as in such a call, but does not wait. The last rank to do so says that the call is
// over.
//
//   the root of broadcast n                      another rank
//   1. the call for which it has counted         1. arms its bell
//      itself last is over? Else sleeps          2. the note's number is n? Else sleeps
//   2. writes the note, then its number n        3. takes what the note says
//   3. rings all                                 4. last note: counts itself for n; the last rank
//   4. last note: counts itself for n               to do so: here_ = 0, over_ = n, rings all
//
// So a note is written again only when all ranks have counted themselves since it was written last,
// which they do after they have read it. In the same way, a rank that comes to any other call first
// sees that the call for which it has counted itself last is over: it is never counted for two.
//
// A reduction whose result one rank alone wants, the root, takes a note, too. The others go on.
//
//   the root of reduction n                      another rank
//   1. as below, and keeps its part              1. the call for which it has counted itself last
//   2. arms its bell                                is over? Else sleeps
//   3. all have brought their parts?             2. brings its part: writes it, then its number n
//      Else sleeps                               3. counts itself in the note; the last one to do
//   4. takes the parts, clears the count            so rings the root
//   5. last note: counts itself for n            4. last note: counts itself for n
//
// What a rank brings stays in its own memory, one behind the other, from one count of all ranks to
// the next one. If there is no room, they count themselves before the reduction, not behind it. A
// rank that leaves for good leaves what it has brought until all have left (uses()).
#pragma once

#include "base/assert.h"
#include "base/spin.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::node {

class Assembly {
  public:
#if SENNIT_SCHEDULES // where all notes, and all room, are to be used often
    static constexpr std::size_t kMostBytes = 32;
    static constexpr int kNotes = 2;
#else
    static constexpr std::size_t kMostBytes = 256;
    static constexpr int kNotes = 8;
#endif

    // That a member has made a call, as a word that others may look for.
    class Posted {
      public:
        // The member calls `call`. Returns 0, or what another member calls that has posted this
        // call here.
        std::uint32_t post(std::uint32_t number, std::uint32_t call) {
            const std::uint64_t before =
                word_.exchange(std::uint64_t{number} << 32 | call, std::memory_order_acq_rel);
            return before >> 32 == number ? static_cast<std::uint32_t>(before) : 0;
        }
        // What was called, or 0: the call has not been posted yet.
        std::uint32_t call_if_posted(std::uint32_t number) const {
            const std::uint64_t now = word_.load(std::memory_order_acquire);
            return now >> 32 == number ? static_cast<std::uint32_t>(now) : 0;
        }
        void clear() { word_.store(0, std::memory_order_relaxed); }

      private:
        Atomic<std::uint64_t> word_; // of the call that was posted last
    };

    // Calls that a member has made elsewhere, for they are too long to be made here: how many, and
    // the number of the last call here before the latest of them.
    struct Longer {
        std::uint32_t count = 0;
        std::uint32_t before = 0;
    };

    // What one member brings to a call. The member may touch `bytes` between two calls, the last
    // one to come all of them.
    struct alignas(64) Part {
        std::byte bytes[kMostBytes];
        // To reductions for a root: the member's, until it has posted them. Then they do not change
        // until all have counted themselves.
        std::byte brought[kMostBytes];
        Posted posted[kNotes];      // of the reduction that takes this note
        Atomic<std::uint32_t> call; // what the member calls, a number
        Atomic<std::uint32_t> came; // the last call for which the member has counted itself
        Atomic<Longer> longer;
        Atomic<std::uint32_t> longer_call; // the latest of them, a number

        // For members that wait long, and look why. `call` is what the member calls, as long as
        // the call is not over.
        bool has_come(std::uint32_t number) const {
            return came.load(std::memory_order_acquire) == number;
        }
        // By the member, before others know of it.
        void clear() {
            came.store(0, std::memory_order_relaxed);
            for (Posted &one : posted)
                one.clear();
            longer.store({}, std::memory_order_relaxed);
        }
    };

    // What the root of a broadcast tells the others; or how many have brought their parts to a
    // reduction.
    class alignas(64) Note : public Posted {
      public:
        // The root's, until it has posted them (two roots: they do not agree who it is). Then they
        // do not change.
        std::byte bytes[kMostBytes];
        std::uint32_t longer; // how many longer calls the root has made before

        // The member has posted what it brings. Returns how many have: the last one tells the root.
        int bring() { return brought_.fetch_add(1, std::memory_order_acq_rel) + 1; }
        // For the root, which then sees what they have posted.
        int brought() const { return brought_.load(std::memory_order_acquire); }
        // By the root, which has taken all. The next count of all ranks publishes it.
        void take() { brought_.store(0, std::memory_order_relaxed); }
        void clear() {
            Posted::clear();
            take();
        }

      private:
        Atomic<std::int32_t> brought_;
    };

    // Claim the place for a job. `seen` is what job() returned: 0, or a job without a living
    // process.
    bool claim(std::uint64_t seen, std::uint64_t job);
    // The job that has claimed the place, or 0.
    std::uint64_t job() const { return job_.load(std::memory_order_acquire); }
    // Give the place back: all members are through with their last call, or will never make one.
    void release() {
        uses_.fetch_add(1, std::memory_order_release);
        job_.store(0, std::memory_order_release);
    }
    // How often it was given back. For a member that has left: another number than before tells
    // that all have.
    std::uint32_t uses() const { return uses_.load(std::memory_order_acquire); }
    // Called by the process that has claimed the place, before the others know of it.
    void begin(int members);
    // For a place that is used by fewer than all ranks of the job: this member makes no more calls.
    // The last one to leave gives the place back.
    void leave() {
        if (left_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_)
            release();
    }

    int members() const { return members_; }
    // The member has stored its part, or is through with the last note (`of_notes`). The call that
    // it has come to before is over. `call` is a number for what the member calls. Returns true for
    // the last member, which has to end() the call.
    bool come(Part &own, std::uint32_t number, std::uint32_t call, bool of_notes = false) {
        SENNIT_ASSERT(!own.has_come(number) && here_.load(std::memory_order_relaxed) % kOfNotes <
                                                   static_cast<std::uint32_t>(members_));
        own.call.store(call, std::memory_order_release);
        own.came.store(number, std::memory_order_release);
        // Each member releases its part, and what it has read of notes. The last one acquires them,
        // and reads all.
        const std::uint32_t one = of_notes ? kOfNotes + 1 : 1;
        const std::uint32_t here = here_.fetch_add(one, std::memory_order_acq_rel) + one;
        return here % kOfNotes == static_cast<std::uint32_t>(members_);
    }
    // For the last one: have all come to their last note, or all to a call without? Parts do not
    // tell this: a member that is through with its last note may use its own for something else.
    bool are_alike() const {
        const std::uint32_t of_notes = here_.load(std::memory_order_relaxed) / kOfNotes;
        return of_notes == 0 || of_notes == static_cast<std::uint32_t>(members_);
    }
    std::byte *result() { return result_; }
    void end(std::uint32_t number) {
        SENNIT_ASSERT(here_.load(std::memory_order_relaxed) % kOfNotes ==
                      static_cast<std::uint32_t>(members_));
        here_.store(0, std::memory_order_relaxed); // published with what follows
        over_.store(number, std::memory_order_release);
    }
    // For a member that has come to the call, and to none since; 0: to none at all. True: the
    // result is there, and all have read the notes before.
    bool is_over(std::uint32_t number) const {
        return over_.load(std::memory_order_acquire) == number;
    }

    Note &note(int number) { return notes_[number]; }

  private:
    static constexpr std::uint32_t kOfNotes = 1U << 16;

    Atomic<std::uint64_t> job_;
    std::int32_t members_;
    Atomic<std::int32_t> left_;
    Atomic<std::uint32_t> uses_;
    // How many have come to the call; and how many of them to their last note, times kOfNotes.
    alignas(64) Atomic<std::uint32_t> here_;
    alignas(64) Atomic<std::uint32_t> over_; // the last call that is over
    alignas(64) std::byte result_[kMostBytes];
    Note notes_[kNotes];
};

} // namespace sennit::node

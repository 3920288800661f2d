// SPDX-License-Identifier: Apache-2.0
// Ranks that meet on the board of a node, step by step as the code does it. Each model also has a
// version with a step in the wrong place, which the checker must refuse.
#include "interleavings.h"

#include <compare>
#include <cstddef>
#include <initializer_list>

namespace sennit::model {
namespace {

// ---- calls without messages: Assembly (node/assembly.h), AssembledCall (mpi/crowd/assembled.cpp)

constexpr int kMembers = 3, kCalls = 2;

struct Meeting {
    int pc[kMembers] = {};
    int call[kMembers] = {1, 1, 1}; // the one that the member is in, or comes to
    int here = 0, over = 0;
    int part[kMembers] = {};
    int result = 0;
    bool armed[kMembers] = {};
    bool rung[kMembers] = {};
    int next[kMembers] = {}; // whom the last one rings next
    auto operator<=>(const Meeting &) const = default;
};

enum class Slip { none, looks_before_arming, ends_before_the_result, leaves_early, clears_late };

// Each member comes to kCalls calls: 1 for its part, and the sum is the number of members. A part
// is its call's number, so that one of another call is found out.
Outcome meeting_step(Meeting &s, int member, std::string &broken, Slip slip) {
    int &pc = s.pc[member];
    int &call = s.call[member];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    switch (pc) {
    case 0: // lays its part down
        s.part[member] = call;
        return to(1);
    case 1: // counts itself
        return to(++s.here == kMembers ? 10 : slip == Slip::looks_before_arming ? 3 : 2);
    case 2: // arms its bell
        s.rung[member] = false;
        s.armed[member] = true;
        return to(slip == Slip::looks_before_arming ? 4 : 3);
    case 3: // is it over?
        if (s.over == call)
            return to(5);
        if (slip == Slip::leaves_early && call == 1)
            return to(5);
        return to(slip == Slip::looks_before_arming ? 2 : 4);
    case 4: // sleeps, without a timer
        if (!s.rung[member])
            return Outcome::waits;
        s.armed[member] = false;
        return to(slip == Slip::looks_before_arming ? 3 : 2);
    case 5: // takes the result
        if (s.result != kMembers * call)
            broken = "a result of another call";
        s.armed[member] = false;
        return to(++call > kCalls ? 20 : 0);
    case 10: // the last one
        if (slip == Slip::ends_before_the_result) {
            s.over = call;
            return to(11);
        }
        [[fallthrough]];
    case 11: {
        int sum = 0;
        for (const int part : s.part)
            sum += part;
        s.result = sum;
        return to(12);
    }
    case 12:
    case 13: // `here` for the next call, then lets the others go
        if ((pc == 12) == (slip != Slip::clears_late))
            s.here = 0;
        else
            s.over = call;
        s.next[member] = 0;
        return to(pc + 1);
    case 14: // rings all, one after the other: schedules.Bell.* runs a ring
        if (s.next[member] == kMembers)
            return to(5);
        s.rung[s.next[member]] = s.rung[s.next[member]] || s.armed[s.next[member]];
        ++s.next[member];
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, RanksThatMeetTakeTheResultOfTheirCall) {
    for (const Slip slip : {Slip::none, Slip::looks_before_arming, Slip::ends_before_the_result,
                            Slip::leaves_early, Slip::clears_late}) {
        const std::string failure =
            failure_of(Meeting{}, kMembers, [&](Meeting &s, int member, std::string &broken) {
                return meeting_step(s, member, broken, slip);
            });
        EXPECT_EQ(failure.empty(), slip == Slip::none) << static_cast<int>(slip) << failure;
    }
}

// The agreement on a new communicator (mpi/crowd/children.cpp): each member brings its offer to a
// call, reads those of all, and comes to a second call. Then it brings something else to a third
// one. What the last one to come does is one step: the model above has its parts.
struct Exchange {
    int pc[kMembers] = {};
    int here = 0, over = 0;
    int part[kMembers] = {};
    int next[kMembers] = {}; // whose offer the member reads next
    auto operator<=>(const Exchange &) const = default;
};

Outcome exchange_step(Exchange &s, int member, std::string &broken, bool meets_again) {
    int &pc = s.pc[member];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    const auto come = [&](int call) {
        if (++s.here == kMembers) {
            s.here = 0;
            s.over = call;
        }
        return to(pc + 1);
    };
    constexpr int offer = 1, other = 3;
    switch (pc) {
    case 0:
        s.part[member] = offer;
        return to(1);
    case 1:
        return come(1);
    case 2:
        return s.over < 1 ? Outcome::waits : to(3);
    case 3:
        if (s.part[s.next[member]] != offer)
            broken = "what was brought to another call";
        return ++s.next[member] < kMembers ? Outcome::ran : to(meets_again ? 4 : 6);
    case 4:
        return come(2);
    case 5:
        return s.over < 2 ? Outcome::waits : to(6);
    case 6:
        s.part[member] = other;
        return to(7);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, RanksThatAgreeReadTheOffersOfAll) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(Exchange{}, kMembers, [&](Exchange &s, int member, std::string &broken) {
                return exchange_step(s, member, broken, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- broadcasts and reductions for a root: notes of Assembly (node/assembly.h), BroadcastCall and
// ---- ReduceCall (mpi/crowd/assembled.cpp)

constexpr int kNotes = 2;     // as many there are
constexpr int kMeets = -1;    // in place of a root: a call that all leave together
constexpr int kMostCalls = 5; // call i + 1 is the i-th one
// More than a root: a reduction for it; the part of a long one takes the room of two.
constexpr int kShort = 10, kLong = 20, kRoom = 2;

struct Notes {
    int pc[kMembers] = {};
    int call[kMembers] = {1, 1, 1};
    int counted[kMembers] = {}; // the last call for which the member has counted itself
    int note[kMembers] = {};    // the next one
    int bytes[kNotes] = {};     // the number of the call that they are of
    int posted[kNotes] = {};
    int brought[kNotes] = {};         // how many have brought their parts
    int part[kMembers][kRoom] = {};   // the number of the call that it is of
    int offset[kMembers] = {};        // of what the member brings
    int used[kMembers] = {};          // of the room
    bool counts_first[kMembers] = {}; // to make room
    int here = 0, over = 0;
    bool armed[kMembers] = {};
    bool rung[kMembers] = {};
    int next[kMembers] = {}; // whom the member rings next
    auto operator<=>(const Notes &) const = default;
};

enum class NoteSlip {
    none,
    root_does_not_wait,
    posts_before_it_writes,
    counts_before_it_reads,
    root_rings_nobody,
    last_one_rings_nobody,
    meets_though_others_read,
    brings_though_not_taken,
    counts_part_before_it_writes,
    last_one_does_not_ring_root,
    root_does_not_clear,
    root_counts_before_it_takes
};

Outcome note_step(Notes &s, int member, std::string &broken, const int *roots, NoteSlip slip) {
    int &pc = s.pc[member];
    int &call = s.call[member];
    int &note = s.note[member];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    const auto arm = [&](int then) {
        s.rung[member] = false;
        s.armed[member] = true;
        return to(then);
    };
    const auto sleep = [&](int then) { return s.rung[member] ? to(then) : Outcome::waits; };
    const auto ring_all = [&](int then) {
        if (s.next[member] == kMembers)
            return to(then);
        s.rung[s.next[member]] = s.rung[s.next[member]] || s.armed[s.next[member]];
        ++s.next[member];
        return Outcome::ran;
    };
    enum {
        begins,
        looks_at_others,
        sleeps_for_others,
        writes,
        posts,
        rings,
        awaits_note,
        looks_at_note,
        sleeps_for_note,
        reads,
        is_past_note,
        makes_room,
        brings,
        writes_part,
        counts_part,
        rings_root,
        awaits_parts,
        looks_at_parts,
        sleeps_for_parts,
        takes,
        clears_count,
        counts,
        clears,
        ends,
        rings_all,
        is_counted,
        awaits_end,
        looks_at_end,
        sleeps_for_end,
        is_through
    };
    const int plan = call <= kMostCalls ? roots[call - 1] : 0;
    const int root = plan < kShort ? plan : plan % kShort;
    const bool reduces = plan >= kShort;
    const int room = plan >= kLong ? kRoom : 1;
    switch (pc) {
    case begins:
        if (call > kMostCalls || root < kMeets)
            return Outcome::ended;
        if (reduces)
            return to(makes_room);
        if (root != member && root != kMeets)
            return to(awaits_note);
        if (slip == NoteSlip::root_does_not_wait && root == member)
            return to(writes);
        if (slip == NoteSlip::meets_though_others_read && root == kMeets)
            return to(counts);
        return arm(looks_at_others);
    case looks_at_others: // is the call over for which it has counted itself last?
        if (s.over != s.counted[member])
            return to(sleeps_for_others);
        if (reduces)
            return to(brings);
        return to(root == kMeets                             ? counts
                  : slip == NoteSlip::posts_before_it_writes ? posts
                                                             : writes);
    case sleeps_for_others:
        return sleep(begins);
    case writes:
        s.bytes[note] = call;
        return to(slip == NoteSlip::posts_before_it_writes ? rings : posts);
    case posts:
        s.posted[note] = call;
        s.next[member] = 0;
        return to(slip == NoteSlip::posts_before_it_writes ? writes
                  : slip == NoteSlip::root_rings_nobody    ? is_past_note
                                                           : rings);
    case rings:
        return ring_all(is_past_note);
    case awaits_note:
        return arm(looks_at_note);
    case looks_at_note:
        if (s.posted[note] != call)
            return to(sleeps_for_note);
        if (slip == NoteSlip::counts_before_it_reads && note + 1 == kNotes)
            return to(is_past_note);
        return to(reads);
    case sleeps_for_note:
        return sleep(awaits_note);
    case reads:
        if (s.bytes[note] != call)
            broken = "the note of another call";
        if (slip == NoteSlip::counts_before_it_reads && note + 1 == kNotes)
            return to(is_through);
        return to(is_past_note);
    case is_past_note:
        return to(++note == kNotes ? counts : is_through);
    case makes_room:
        s.counts_first[member] = s.used[member] + room > kRoom;
        if (s.counts_first[member])
            return to(slip == NoteSlip::brings_though_not_taken ? brings : counts);
        return arm(looks_at_others);
    case brings:
        if (s.counts_first[member])
            s.used[member] = 0;
        s.offset[member] = s.used[member];
        s.used[member] += room;
        if (slip == NoteSlip::counts_part_before_it_writes)
            return to(counts_part);
        [[fallthrough]];
    case writes_part:
        for (int i = 0; i < room; ++i)
            s.part[member][s.offset[member] + i] = call;
        if (slip == NoteSlip::counts_part_before_it_writes)
            return to(root == member ? awaits_parts : is_past_note);
        return to(counts_part);
    case counts_part:
        if (++s.brought[note] == kMembers && root != member &&
            slip != NoteSlip::last_one_does_not_ring_root)
            return to(rings_root);
        if (slip == NoteSlip::counts_part_before_it_writes)
            return to(writes_part);
        return to(root == member ? awaits_parts : is_past_note);
    case rings_root:
        s.rung[root] = s.rung[root] || s.armed[root];
        return to(is_past_note);
    case awaits_parts:
        return arm(looks_at_parts);
    case looks_at_parts:
        if (s.brought[note] != kMembers)
            return to(sleeps_for_parts);
        s.next[member] = 0;
        if (slip == NoteSlip::root_counts_before_it_takes && note + 1 == kNotes) {
            s.brought[note] = 0;
            return to(is_past_note);
        }
        return to(takes);
    case sleeps_for_parts:
        return sleep(awaits_parts);
    case takes: // one part after the other
        for (int i = 0; i < room; ++i)
            if (s.part[s.next[member]][s.offset[member] + i] != call)
                broken = "the part of another call";
        if (++s.next[member] < kMembers)
            return Outcome::ran;
        return to(slip == NoteSlip::root_counts_before_it_takes && s.counted[member] == call
                      ? is_through
                      : clears_count);
    case clears_count:
        if (slip != NoteSlip::root_does_not_clear)
            s.brought[note] = 0;
        return to(is_past_note);
    case counts:
        s.counted[member] = call;
        note = 0;
        s.used[member] = 0;
        return to(++s.here == kMembers ? clears : is_counted);
    case clears:
        s.here = 0;
        return to(ends);
    case ends:
        s.over = call;
        s.next[member] = 0;
        return to(slip == NoteSlip::last_one_rings_nobody ? is_counted : rings_all);
    case rings_all:
        return ring_all(is_counted);
    case is_counted:
        if (slip == NoteSlip::counts_before_it_reads && root != member && root != kMeets) {
            note = kNotes - 1;
            return to(reads);
        }
        if (reduces && s.counts_first[member])
            return to(makes_room);
        if (slip == NoteSlip::root_counts_before_it_takes && reduces && root == member) {
            s.next[member] = 0;
            return to(takes);
        }
        return to(root == kMeets ? awaits_end : is_through);
    case awaits_end:
        return arm(looks_at_end);
    case looks_at_end:
        if (s.over != call)
            return to(sleeps_for_end);
        for (const int other : s.call)
            if (other < call)
                broken = "left before all have come";
        return to(is_through);
    case sleeps_for_end:
        return sleep(awaits_end);
    case is_through:
        s.armed[member] = false;
        if (slip == NoteSlip::counts_before_it_reads && s.counted[member] == call)
            note = 0;
        ++call;
        return to(begins);
    default:
        return Outcome::ended;
    }
}

constexpr int kEnd = kMeets - 1;

template <std::size_t N>
void check_plans(const int (&plans)[N][kMostCalls], std::initializer_list<NoteSlip> slips) {
    for (const NoteSlip slip : slips) {
        std::string failures;
        for (const auto &plan : plans)
            failures +=
                failure_of(Notes{}, kMembers, [&](Notes &s, int member, std::string &broken) {
                    return note_step(s, member, broken, plan, slip);
                });
        EXPECT_EQ(failures.empty(), slip == NoteSlip::none) << static_cast<int>(slip) << failures;
    }
}

TEST(Interleavings, RanksThatGoAheadReadTheNoteOfTheirBroadcast) {
    const int plans[][kMostCalls] = {
        {0, 0, 0, 0, 0}, {0, 1, 2, 0, kEnd}, {0, kMeets, 1, 1, kMeets}, {1, 1, kMeets, 0, kEnd}};
    check_plans(plans,
                {NoteSlip::none, NoteSlip::root_does_not_wait, NoteSlip::posts_before_it_writes,
                 NoteSlip::counts_before_it_reads, NoteSlip::root_rings_nobody,
                 NoteSlip::last_one_rings_nobody, NoteSlip::meets_though_others_read});
}

TEST(Interleavings, RootsTakeThePartsOfTheirReduction) {
    constexpr int s = kShort;
    constexpr int l = kLong;
    const int plans[][kMostCalls] = {{s, s, s, s, s},        {s + 1, s + 2, s, s, kEnd},
                                     {l, l, l + 1, s, kEnd}, {s, l, s, s, kEnd},
                                     {s, 1, 1, l, kEnd},     {s, kMeets, s, 0, kEnd}};
    check_plans(plans, {NoteSlip::none, NoteSlip::brings_though_not_taken,
                        NoteSlip::counts_part_before_it_writes,
                        NoteSlip::last_one_does_not_ring_root, NoteSlip::last_one_rings_nobody,
                        NoteSlip::root_does_not_clear, NoteSlip::root_counts_before_it_takes});
}

// Two threads of one rank, whose calls have the numbers 1 and 2: the second comes to its call when
// the first is through with its own. Here that one is over at once.
struct InTurn {
    int pc[2] = {};
    int next = 1, through = 0; // call 1 has its number
    bool armed = false, rung = false;
    auto operator<=>(const InTurn &) const = default;
};

Outcome in_turn_step(InTurn &s, int thread, bool says_first) {
    int &pc = s.pc[thread];
    const auto to = [&](int next) {
        pc = next;
        return Outcome::ran;
    };
    if (thread == 0) {
        switch (pc) {
        case 0:
        case 1: // is through; does anybody come after it?
            if ((pc == 0) == says_first) {
                s.through = 1;
                return to(pc + 1);
            }
            return s.next == 1 ? to(says_first ? 10 : 3) : to(pc + 1);
        case 2:
            s.rung = s.rung || s.armed;
            return to(10);
        case 3:
            s.through = 1;
            return to(10);
        default:
            return Outcome::ended;
        }
    }
    switch (pc) {
    case 0: // takes its number
        s.next = 2;
        return to(1);
    case 1: // its turn?
    case 3:
        return to(s.through == 1 ? 10 : pc + 1);
    case 2:
        s.rung = false;
        s.armed = true;
        return to(3);
    case 4:
        if (!s.rung)
            return Outcome::waits;
        return to(2);
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, TheNextCallOfARankHearsOfItsTurn) {
    for (const bool right : {true, false}) {
        const std::string failure =
            failure_of(InTurn{}, 2, [&](InTurn &s, int thread, std::string &) {
                return in_turn_step(s, thread, right);
            });
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

} // namespace
} // namespace sennit::model

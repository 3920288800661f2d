// SPDX-License-Identifier: Apache-2.0
// Ranks that export a range of the same name at once, and one of them is killed: Registry::add,
// remove, end_of (ranks/exported/registry.cpp). The checker must refuse two ways of leaving a step
// out.
#include "interleavings.h"

#include <compare>

namespace sennit::model {
namespace {

constexpr int kEntries = 3;
constexpr int kExporters = 3; // 0 takes its range back, 2 may be killed
constexpr int kHost = 3;
constexpr int kReserved = 100; // and the thread
constexpr int kProposed = 200; // and the id

enum class Way { right, does_not_settle, does_not_look_again };

struct Exporting {
    int word[kEntries] = {};
    int owner[kEntries] = {-1, -1, -1};
    int latest = 0;
    int pc[kExporters + 1] = {};
    int seen[kExporters] = {}; // of latest
    int at[kExporters] = {};   // the entry that it looks at
    int own[kExporters] = {};  // the id that it has proposed
    bool dead = false, freed = false, any_added = false;
    int host_at = 0, host_word = 0;
    auto operator<=>(const Exporting &) const = default;
};

int entry_of(int id) {
    return id % 10;
}
bool is_id(int word) {
    return word > 0 && word < kReserved;
}

void settle(Exporting &s, int id) {
    if (id != 0 && s.word[entry_of(id)] == kProposed + id)
        s.word[entry_of(id)] = id;
}

bool is_of(const Exporting &s, int word, int entry, int thread) {
    if (word == 0)
        return false;
    return word >= kReserved && word < kProposed ? word == kReserved + thread
                                                 : s.owner[entry] == thread;
}

std::string rule_that_is_broken(const Exporting &s) {
    int added = 0;
    for (int i = 0; i < kEntries; ++i) {
        added += is_id(s.word[i]) || (s.latest != 0 && s.word[i] == kProposed + s.latest);
        if (s.freed && is_of(s, s.word[i], i, 2))
            return "a killed rank has left something";
    }
    return added > 1 ? "two ranges of a name" : "";
}

enum Step { kStart, kSettle, kLook, kJudge, kPropose, kAdd, kSettleOwn, kAdded, kEnd };

void export_step(Exporting &s, int thread, Way way, std::string &broken) {
    int &pc = s.pc[thread];
    int &own = s.own[thread];
    switch (pc) {
    case kStart:
        s.seen[thread] = s.latest;
        s.at[thread] = 0;
        pc = kSettle;
        return;
    case kSettle:
        if (way != Way::does_not_settle)
            settle(s, s.seen[thread]);
        pc = kLook;
        return;
    case kLook: // an entry at a time
        if (is_id(s.word[s.at[thread]])) {
            if (!s.any_added)
                broken = "it exists, but nobody has added it";
            if (own != 0)
                s.word[entry_of(own)] = 0;
            pc = kEnd;
        } else if (++s.at[thread] == kEntries) {
            pc = own == 0 ? kJudge : kAdd;
        }
        return;
    case kJudge: // reserves the first that is free
        for (int i = 0; i < kEntries; ++i)
            if (s.word[i] == 0) {
                s.word[i] = kReserved + thread;
                own = 10 * (thread + 1) + i;
                pc = kPropose;
                return;
            }
        broken = "there is no room";
        return;
    case kPropose:
        s.owner[entry_of(own)] = thread;
        s.word[entry_of(own)] = kProposed + own;
        pc = kAdd;
        return;
    case kAdd:
        if (s.latest == s.seen[thread]) {
            s.latest = own;
            s.any_added = true;
            pc = kSettleOwn;
        } else if (way == Way::does_not_look_again) {
            s.seen[thread] = s.latest;
            settle(s, s.latest);
        } else {
            pc = kStart;
        }
        return;
    case kSettleOwn:
        settle(s, own);
        pc = thread == 0 ? kAdded : kEnd;
        return;
    case kAdded: // takes it back
        if (s.word[entry_of(own)] == own)
            s.word[entry_of(own)] = 0;
        pc = kEnd;
        return;
    default:
        return;
    }
}

// The rank has ended; then the host looks at each entry, and frees it by a CAS.
void host_step(Exporting &s) {
    int &pc = s.pc[kHost];
    switch (pc) {
    case 0:
        s.dead = true;
        pc = 1;
        return;
    case 1:
        s.host_word = s.word[s.host_at];
        if (is_of(s, s.host_word, s.host_at, 2)) {
            pc = 2;
        } else if (++s.host_at == kEntries) {
            s.freed = true;
            pc = 3;
        }
        return;
    default:
        if (s.word[s.host_at] == s.host_word)
            s.word[s.host_at] = 0;
        pc = 1;
        return;
    }
}

std::string failure_of_exporting(Way way) {
    return failure_of(Exporting{}, kExporters + 1,
                      [way](Exporting &s, int thread, std::string &broken) {
                          if (thread == kHost) {
                              if (s.pc[kHost] == 3)
                                  return Outcome::ended;
                              host_step(s);
                          } else {
                              if (s.pc[thread] == kEnd || (thread == 2 && s.dead))
                                  return Outcome::ended;
                              export_step(s, thread, way, broken);
                          }
                          if (broken.empty())
                              broken = rule_that_is_broken(s);
                          return Outcome::ran;
                      });
}

TEST(Interleavings, ANameIsExportedOnceThoughARankIsKilled) {
    EXPECT_EQ(failure_of_exporting(Way::right), "");
    EXPECT_NE(failure_of_exporting(Way::does_not_settle), "");
    EXPECT_NE(failure_of_exporting(Way::does_not_look_again), "");
}

} // namespace
} // namespace sennit::model

// SPDX-License-Identifier: Apache-2.0
// A policy's decisions about one task in the course of its life, in terms of the clauses, profiles
// and outlook beside this file. The runtime (task/priorities.cpp) and the simulator (sim/) call
// these at the same moments:
//
//     created    first_priority(), place() if it has dependences
//     sends      known_send() where its profile says so at creation; learn(true) when MPI tells
//     ended      learn(false) if it did not send
#pragma once

#include "sched/policy/outlook.h"
#include "sched/policy/profiles.h"
#include "sched/policy/rules.h"

namespace sennit::policy {

// Of a new task: what its clause says, and, if nothing can lead to it, its profile.
inline int first_priority(const Rules &rules, const Outlook &outlook, const Profile *profile,
                          int clause, bool dependent) {
    if (!dependent && outlook.sends(profile, false))
        return kMostPriority;
    return clause_priority(rules, clause);
}

// Put a new task with dependences, whose first priority is given, into the graph. `fresh` has its
// predecessors. Returns its priority.
inline int place(const Rules &rules, Outlook &outlook, Vertex &fresh, int priority) {
    if (rules.clauses == Clauses::marks)
        fresh.marked = priority > 0;
    else
        fresh.floor = static_cast<std::int16_t>(priority);
    outlook.create(fresh, rules.learns());
    return fresh.priority();
}

// Does a new task's profile tell of the first known send (a mark of the compiler's)?
inline bool known_send(const Outlook &outlook, const Profile *profile) {
    return profile && profile->verdict() == Profile::Verdict::sends && !outlook.knows_sends();
}

// The outcome of a task changes its profile's verdict: then the outlook is to be told.
inline bool learn(Profile &profile, bool sent) {
    return profile.record(sent);
}

} // namespace sennit::policy

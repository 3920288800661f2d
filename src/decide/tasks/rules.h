// SPDX-License-Identifier: Apache-2.0
// sched/policy: which ready task runs first. Pure functions of the task graph: nothing here knows
// of threads, MPI or memory management, so the runtime and the simulator run the very same code.
//
//     rules.h     what a policy asks for: order of equals, meaning of the priority clause
//     profiles.h  fa: which tasks send, learned from those that ended
//     creators.h  sa, fa: what tasks do with those that they create
//     outlook.h   sa, fa: priorities of the tasks on a path to a send
//
// Source: Pereira, Roussel, Carribault, Gautier, "Communication-Aware Task Scheduling Strategy in
// Hybrid MPI+OpenMP Applications" (IWOMP 2021), section 3; "the paper" in this room.
#pragma once

#include "base/config.h"

#include <cstdint>
#include <initializer_list>

namespace sennit::policy {

inline constexpr int kMostPriority = 1023; // of a send-task

// What the program's priority clauses mean.
enum class Clauses {
    ignored,
    binary,   // the paper's MA-1 and MA-2: 0 or 1; which tasks the user marks is his affair
    discrete, // MA-3
    marks,    // SA: a task with a priority is a send-task
    floor,    // FA: a task has at least that priority
};

struct Rules {
    bool ordered = false;    // all ready tasks in one order; not so: each thread's newest first
    bool newest = false;     // among equals
    bool by_creation = true; // age is counted from a task's creation; not so: from when it is ready
    Clauses clauses = Clauses::discrete;
    bool tells = false; // those who send to us how urgent it is (global)

    constexpr bool propagates() const {
        return clauses == Clauses::marks || clauses == Clauses::floor;
    }
    constexpr bool learns() const { return clauses == Clauses::floor; }
};

constexpr Rules rules_of(Policy policy, Order order) {
    Rules rules;
    rules.ordered = policy != Policy::automatic && policy != Policy::steal;
    rules.newest = policy == Policy::lifo;
    // FIFO is creation order in the paper (section 1); LIFO is what stacks of ready tasks do.
    rules.by_creation =
        order == Order::creation || (order == Order::automatic && policy != Policy::lifo);
    switch (policy) {
    case Policy::fifo:
    case Policy::lifo:
        rules.clauses = Clauses::ignored;
        break;
    case Policy::ma1:
    case Policy::ma2:
        rules.clauses = Clauses::binary;
        break;
    case Policy::automatic: // nothing in the program has spoken for fa
    case Policy::steal:
    case Policy::ma3:
        rules.clauses = Clauses::discrete;
        break;
    case Policy::sa:
        rules.clauses = Clauses::marks;
        break;
    case Policy::global:
        rules.tells = true;
        [[fallthrough]];
    case Policy::fa:
        rules.clauses = Clauses::floor;
        break;
    }
    return rules;
}

// The priority that a clause's value (0 .. kMostPriority) gives a task at its creation.
constexpr int clause_priority(const Rules &rules, int clause) {
    switch (rules.clauses) {
    case Clauses::ignored:
        return 0;
    case Clauses::binary:
        return clause > 0 ? 1 : 0;
    case Clauses::marks:
        return clause > 0 ? kMostPriority : 0;
    case Clauses::discrete:
    case Clauses::floor:
        break;
    }
    return clause;
}

// Where a task stands among the ready ones: the least key runs first. `age`: how many tasks came
// before it; when the count wraps a few tasks run out of turn.
constexpr std::uint64_t key(const Rules &rules, int priority, std::uint32_t age) {
    return static_cast<std::uint64_t>(kMostPriority - priority) << 32 | (rules.newest ? ~age : age);
}

// Queues follow the machine (the paper, section 4.1): the threads of a NUMA domain share one. A
// thread that finds its own queue empty looks at near ones before far ones. On a machine with one
// domain there is one queue.

inline constexpr int kMostDomains = 64; // NUMA domains; those beyond share the last one's queue

struct Machine {
    int domains = 1;
    std::uint8_t package[kMostDomains] = {}; // of each domain

    // The `rank`-th domain to look at for a thread of domain `from`: itself, the others of its
    // package, the rest. Each starts with its next neighbour, so that they do not all look at
    // domain 0 first.
    int look_at(int from, int rank) const {
        if (rank == 0)
            return from;
        for (const bool same : {true, false}) {
            for (int step = 1; step < domains; ++step) {
                const int domain = (from + step) % domains;
                if ((package[domain] == package[from]) == same && --rank == 0)
                    return domain;
            }
        }
        return from;
    }

    // How far a domain is from another one.
    static constexpr int kFar = 2;
    int distance(int one, int other) const {
        if (one == other)
            return 0;
        return package[one] == package[other] ? 1 : kFar;
    }
};

} // namespace sennit::policy

// SPDX-License-Identifier: Apache-2.0
// What lies ahead of the tasks that have not started (the paper, Algorithm 1). A send-task has the
// highest priority. A task from which a path leads to a send-task has the highest priority of its
// successors, less one. Any other task has none.
//
// When a send-task is created all its predecessors exist. So its priority goes up the graph at once
// (SA, and FA for tasks whose profile is known). When a profile's verdict changes, the priorities
// are computed anew: reconsider(). The paper's Algorithm 2 searches the leaves breadth-first from
// the suspended tasks and climbs from them. Here all tasks are listed by creation. Dependences only
// point back in time, so one pass from the newest to the oldest meets every task after all its
// successors, and each edge once, whatever the shape of the graph.
//
// A profile nobody has run yet counts as a sender's once any send is known. So learning is a matter
// of ruling out: a half-learned graph lies between creation order and the right priorities. It
// never prefers the first send that was seen to those still to be learned.
//
// Thread-safety: the caller serializes all but Profile, sends() and knows_sends().
#pragma once

#include "decide/tasks/creators.h"
#include "decide/tasks/profiles.h"
#include "decide/tasks/rules.h"

#include <atomic>
#include <cstdint>

namespace sennit::policy {

// A task with dependences, from its creation to its start; after that only for its successors. One
// cache line: whoever walks the graph meets most of them for the first time in long.
struct Vertex {
    void *item = nullptr;            // the task; the caller's
    Profile *profile = nullptr;      // FA
    Vertex **predecessors = nullptr; // those that had not started yet; the caller's array
    int predecessor_count = 0;
    std::int16_t floor = 0; // least priority: the clause's, its creator's; not for predecessors
    std::uint16_t beyond : 10 = 0;    // least path, by what is not in the graph: raise()
    std::uint16_t marked : 1 = false; // a send-task, says the program
    std::uint16_t leads : 1 = false;  // it creates send-tasks (creators.h)

    int priority() const { return path > floor ? path : floor; }

    // The outlook's own.
    std::uint16_t started : 1 = false;
    std::uint16_t listed : 1 = false;
    int references = 0;         // by the list, and by each successor
    std::int16_t path = 0;      // Algorithm 1's priority
    std::int16_t next_path = 0; // of successors, while all are computed anew; else 0
    Vertex *older = nullptr;
    Vertex *newer = nullptr;
    Vertex *next_work = nullptr;
};
static_assert(sizeof(Vertex) <= 64);

class Outlook {
  public:
    // A task that has just been created behind the given predecessors. Its priority, and where it
    // is a send-task those of the tasks that lead to it, are set. Where verdicts may change
    // (`listed`), reconsider() will see it.
    void create(Vertex &fresh, bool listed = true);
    // It has at least this priority, by what is not in the graph, and so have those before it, less
    // one for each edge.
    void raise(Vertex &vertex, int priority);
    // It starts. Its priority matters no more.
    void start(Vertex &vertex);

    // A verdict has changed: compute all priorities anew, soon.
    void verdict_changed(bool sends);
    bool outdated() const { return outdated_; }
    bool knows_sends() const { return any_send_.load(std::memory_order_relaxed); }
    // Is it time, for one who has something else to do?
    bool overdue() const { return outdated_ && starts_ >= patience_; }
    void reconsider();

    bool sends(const Profile *profile, bool dependent) const {
        if (!profile)
            return false;
        const auto verdict = profile->verdict();
        return verdict == Profile::Verdict::sends ||
               (verdict == Profile::Verdict::unknown && dependent && knows_sends());
    }

    std::uint64_t raises() const { return raises_; }
    std::uint64_t passes() const { return passes_; }

  protected:
    ~Outlook() = default;

  private:
    virtual void changed(Vertex &vertex) = 0;  // its priority
    virtual void released(Vertex &vertex) = 0; // nobody refers to it any more

    int end_of_path(const Vertex &vertex) const;
    void raise_predecessors(Vertex &vertex);
    void drop(Vertex &vertex);

    Vertex bottom_; // of the stack of work: whoever is on it has something below
    Vertex *newest_ = nullptr;
    Vertex *oldest_ = nullptr;
    std::uint64_t size_ = 0;     // vertices in the list
    std::uint64_t starts_ = 0;   // since the last pass or change of a verdict
    std::uint64_t patience_ = 0; // see overdue()
    std::uint64_t raises_ = 0;
    std::uint64_t passes_ = 0;
    std::atomic<bool> any_send_{false}; // written under the caller's lock
    bool outdated_ = false;
};

// A policy's decisions about one task in the course of its life, in terms of the clauses, profiles
// and outlook beside this file. The runtime (tasks/task/priorities.cpp) and the simulator (sim/)
// call these at the same moments:
//
//     created    first_priority(), place() if it has dependences
//     sends      known_send() where its profile says so at creation; learn(true) when MPI tells
//     ended      learn(false) if it did not send

// Of a new task: what its clause says, and, if nothing can lead to it, its profile.
inline int first_priority(const Rules &rules, const Outlook &outlook, const Profile *profile,
                          int clause, bool dependent) {
    if (!dependent && outlook.sends(profile, false))
        return kMostPriority;
    return clause_priority(rules, clause);
}

// Put a new task with dependences, whose first priority is given, into the graph. `fresh` has its
// predecessors, and knows whether it leads. Returns its priority.
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

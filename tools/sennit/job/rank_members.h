// SPDX-License-Identifier: Apache-2.0
// Which processes are a job's: those that come from the process that starts its ranks (this one,
// unless another is named), and virtual ranks, whose parent is the host in which they are. Each is
// known from its first message on, by the number that the kernel gives. Invariant: a signal goes to
// a process that has joined, and never to a later one with its number: it is sent by the process's
// descriptor, opened when it joined. Before Linux 5.3, and where a container denies these calls, it
// goes to a process that has started at the same time and runs the same program.
#pragma once

#include "node/identity.h"

#include <map>
#include <sys/types.h>
#include <unistd.h>

namespace sennit::tool {

class RankMembers {
  public:
    explicit RankMembers(pid_t root = getpid()) : root_(root) {}
    ~RankMembers();
    RankMembers(const RankMembers &) = delete;
    RankMembers &operator=(const RankMembers &) = delete;

    // Is it one? The first time this looks where it comes from.
    bool admit(pid_t process);
    // False: it is none, or has ended.
    bool send(pid_t process, int signal) const;

  private:
    struct Member {
        int descriptor; // -1: the kernel has none
        node::Identity identity;
    };
    bool comes_from_root(pid_t process) const;
    void forget_ended();

    pid_t root_;
    std::map<pid_t, Member> members_;
    std::size_t worth_a_look_ = 1024;
};

} // namespace sennit::tool

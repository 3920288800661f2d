// SPDX-License-Identifier: Apache-2.0
// Which processes are a job's: those that come from the process that starts its ranks (this one,
// unless another is named), and virtual ranks, whose parent is the host in which they are. Daemons,
// such as Slurm's, start ranks that come from nobody here: their `sennit exec` has this job's
// address in its command line. Each process is known from its first message on, by the number that
// the kernel gives. Invariant: a signal goes to a process that has joined, and never to a later one
// with its number: it is sent by the process's descriptor, opened when it joined. Before Linux 5.3,
// and where a container denies these calls, it goes to a process that has started at the same time
// and runs the same program.
#pragma once

#include "node/identity.h"

#include <map>
#include <string>
#include <sys/types.h>
#include <utility>

namespace sennit::tool {

class RankMembers {
  public:
    // `address`: that a rank's `sennit exec --watch` was told.
    RankMembers(pid_t root, std::string address) : root_(root), address_(std::move(address)) {}
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
    bool is_watcher(pid_t process) const;
    bool belongs(pid_t process) const;
    void forget_ended();

    const pid_t root_;
    const std::string address_;
    std::map<pid_t, Member> members_;
    std::size_t worth_a_look_ = 1024;
};

} // namespace sennit::tool

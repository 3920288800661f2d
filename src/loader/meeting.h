// SPDX-License-Identifier: Apache-2.0
// Where the stubs of a job on this node find their host: a folder that only this user can enter, a
// lock file in it, and a socket for each address space.
//
// Whoever looks for a host or ends one holds the lock: so there is one host a socket, and none ends
// while a stub is on its way to it.
#pragma once

#include "loader/descriptor.h"

#include <cerrno>
#include <string>
#include <unistd.h>

namespace sennit::loader {

class Meeting {
  public:
    explicit Meeting(std::string folder) : folder_(std::move(folder)) {}

    // The folder is made, if need be. Empty, or why it cannot be used, for people.
    std::string enter();
    void leave() { lock_.reset(); }
    // Somebody has removed the folder.
    bool is_gone() const { return access(folder_.c_str(), F_OK) != 0 && errno == ENOENT; }

    // Both inside. A connection to the host of that address space; none: there is no host.
    Descriptor find(int space) const;
    // A socket to listen on, in place of what a host that was killed has left.
    Descriptor offer(int space, std::string &error) const;

    // Inside: the host of `space` is no more. The folder goes with the last one.
    void close(int space);

    // Removes the folders beside this one that hosts of this machine have left which were killed.
    void sweep() const;

  private:
    void remove_dead() const;
    std::string parent() const { return folder_.substr(0, folder_.rfind('/')); }
    std::string socket_path(int space) const;
    std::string lock_path() const { return folder_ + "/lock"; }

    std::string folder_;
    Descriptor lock_;
};

} // namespace sennit::loader

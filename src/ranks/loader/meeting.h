// SPDX-License-Identifier: Apache-2.0
// Where the stubs of a job find their host on this node: a folder that only this user can enter,
// with a lock file, and a socket for each address space.
//
// A process that starts a host or ends one holds the lock. So there is one host for each socket. A
// stub that finds a host needs no lock: if the host ends without having read the stub's request,
// the stub looks again (stub/stub.cpp).
#pragma once

#include "ranks/loader/rank_request.h"

#include <cerrno>
#include <string>
#include <unistd.h>

namespace sennit::loader {

class Meeting {
  public:
    explicit Meeting(std::string folder) : folder_(std::move(folder)) {}

    // Take the lock, and make the folder if need be. Returns why the folder cannot be used, as a
    // line for people, or nothing.
    std::string enter();
    void leave() { lock_.reset(); }
    // Has somebody removed the folder?
    bool is_gone() const { return access(folder_.c_str(), F_OK) != 0 && errno == ENOENT; }

    // find(), offer() and close() are called between enter() and leave().
    //
    // A connection to the host of this address space. Empty: there is no host.
    Descriptor find(int space) const;
    // A socket for a new host to listen on. It replaces one that a killed host has left.
    Descriptor offer(int space, std::string &error) const;

    // The host of `space` ends. The last host removes the folder.
    void close(int space);

    // Removes the folders beside this one that killed hosts of this machine have left.
    void sweep() const;

  private:
    void remove_dead() const;
    std::string parent() const { return folder_.substr(0, folder_.rfind('/')); }
    std::string socket_path(int space) const;
    std::string lock_path() const { return folder_ + "/lock"; }

    std::string folder_;
    Descriptor lock_;
};

// A stub that has found no host starts this program (stub/stub.cpp). Under the lock of the job's
// folder it looks again, and makes the socket. The host is a process of its own then, in a session
// of its own, that nobody waits for.

// Returns the exit code twice: of the process that was started, when the host can be found or an
// error has been told; and of the host, at its end.
int start_host(const std::string &folder, int space);

} // namespace sennit::loader

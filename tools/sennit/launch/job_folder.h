// SPDX-License-Identifier: Apache-2.0
// The folder in which `sennit run` has the socket that its ranks report to. Invariant: it is this
// user's, and nobody else may enter it or put another in its place. So another user reaches no
// socket in it, whatever name it has. It is gone when the object is. What a `sennit run` that was
// killed has left is removed by the next one.
//
// Ranks that another launcher has started share such a folder: its name says whose they are
// (neighbours.h).
#pragma once

#include <optional>
#include <string>

namespace sennit::tool {

class JobFolder {
  public:
    JobFolder(); // throws Failure
    ~JobFolder();
    JobFolder(const JobFolder &) = delete;
    JobFolder &operator=(const JobFolder &) = delete;

    const std::string &path() const { return path_; }
    // Where the socket is; short enough for an address.
    std::string socket() const;

  private:
    std::string path_;
};

// What is in a folder of neighbours: the socket of the ranks, that of those who watch them, and the
// lock of who hears them all.
struct SharedFolder {
    std::string path;

    std::string ranks() const;
    std::string watchers() const;
    std::string lock() const;
    void remove() const;
};
// For the job of that name: the one that a neighbour has made, or a new one. nullopt: there is no
// place for it.
std::optional<SharedFolder> share_folder(const std::string &job);

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// The folder in which `sennit run` has the socket that its ranks report to. Invariant: it is this
// user's, and nobody else may enter it or put another in its place. So another user reaches no
// socket in it, whatever name it has. It is gone when the object is. What a `sennit run` that was
// killed has left is removed by the next one.
#pragma once

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

} // namespace sennit::tool

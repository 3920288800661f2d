// SPDX-License-Identifier: Apache-2.0
// A folder that is gone, with all that is in it, when the object is.
#pragma once

#include "common/failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace sennit::tool {

class ScratchFolder {
  public:
    // Throws Failure.
    ScratchFolder() {
        const std::filesystem::path parent = std::filesystem::temp_directory_path();
        std::string pattern = parent / "sennit-XXXXXX";
        if (!mkdtemp(pattern.data()))
            fail("no folder can be made in {}: {}", parent.string(), std::strerror(errno));
        path_ = pattern;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder &) = delete;
    ScratchFolder &operator=(const ScratchFolder &) = delete;

    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Where a simulation writes: the files of its result, and a folder that does not stay.
#pragma once

#include "common/failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sennit::tool {

// `--json FILE` and `--csv FILE` of a simulation.

// Names of files and programs may be no UTF-8: such bytes are replaced.
std::string json_text(const nlohmann::ordered_json &document);

// No path: nothing; "-": to stdout. A file that cannot be written ends the command.
void write_result(const std::string &path, const std::string &text);

// A folder that is gone, with all that is in it, when the object is.
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

// SPDX-License-Identifier: Apache-2.0
// What the tests of the command share: a folder of their own and a stand-in for getenv.
#pragma once

#include "common/failure.h"
#include "launch/job_context.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace sennit::tool {

inline std::string program(const std::string &name) {
    return std::string(PROGRAMS "/") + name;
}

inline std::string content_of(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A program's bytes, as if it imported `name`: in the place of a longer name of the same kind,
// which every program asks for.
inline std::string importing(std::string name, const std::string &path) {
    std::string content = content_of(path);
    const std::string other = "_ITM_deregisterTMCloneTable";
    const std::size_t at = content.find(other);
    EXPECT_NE(at, std::string::npos) << path;
    name.resize(other.size());
    return content.replace(at, other.size(), name);
}

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "sennit-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    std::string path(const std::string &name) const { return path_ + "/" + name; }
    const std::string &path() const { return path_; }

    // An executable file.
    std::string write(const std::string &name, const std::string &bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
        return path(name);
    }

  private:
    std::string path_;
};

inline EnvironmentReader reader(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const char *name) -> const char * {
        const auto at = variables.find(name);
        return at == variables.end() ? nullptr : at->second.c_str();
    };
}

// The text of the Failure that `call` throws; empty when it throws none.
template <typename Call>
std::string failure_of(Call &&call) {
    try {
        call();
    } catch (const Failure &failure) {
        return failure.what();
    }
    return "";
}

inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "launch/bench.h"

#include "common/argument_pointers.h"
#include "common/failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sennit::tool {

namespace {

constexpr const char *help = R"(Usage: sennit bench cholesky|front|papers [OPTIONS]

  cholesky   what the policies gain: Cholesky factorizations with emulated kernels
  front      what objects that move and shared loops gain: a front that passes over a mesh
  papers     the figures of the papers beside those of this machine

Each takes --help, which lists its options. With --quick the first two take minutes.
)";

} // namespace

int run_bench(const std::vector<std::string> &words, const Installation &installation) {
    const std::string name = words.empty() ? "" : words[0];
    const char *const file = name == "cholesky" ? "suite.py"
                             : name == "front"  ? "front.py"
                             : name == "papers" ? "papers.py"
                                                : nullptr;
    if (name == "--help" || name == "-h") {
        fmt::print("{}", help);
        return 0;
    }
    if (!file)
        fail("there are three benches: sennit bench cholesky, sennit bench front, sennit bench "
             "papers; --quick takes minutes, --help lists their options");
    const std::string &home = installation.home();
    const std::string script = home + "/share/sennit/bench/" + file;
    if (!std::filesystem::exists(script))
        fail("{} is missing: the bench runs from the folder that Sennit was built in", script);
    std::vector<std::string> command = {"python3", script, "--home", home};
    command.insert(command.end(), words.begin() + 1, words.end());
    execvp(command[0].c_str(), argument_pointers(command).data());
    fail("python3 cannot be started ({}): install it", std::strerror(errno));
}

} // namespace sennit::tool

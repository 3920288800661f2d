// SPDX-License-Identifier: Apache-2.0
// `sennit top`: who uses which core of a pool, or of the user's own board.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace sennit::tool {

class TopCommand {
  public:
    explicit TopCommand(CLI::App &app);
    bool chosen() const { return command_->parsed(); }
    int run() const;

  private:
    CLI::App *command_;
    std::string pool_;
    bool once_ = false, json_ = false;
};

} // namespace sennit::tool

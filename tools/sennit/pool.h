// SPDX-License-Identifier: Apache-2.0
// `sennit pool`: cores that programs share by a name, whenever they are started.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sennit::tool {

class PoolCommand {
  public:
    explicit PoolCommand(CLI::App &app);
    bool chosen() const { return command_->parsed(); }
    int run() const;

    // A number such as -1 is no option: for the command line, before it is parsed.
    static void protect_numbers(std::vector<std::string> &words);

  private:
    int start() const;
    int list() const;
    int move() const;
    int stop() const;

    CLI::App *command_, *start_, *list_, *move_, *stop_;
    std::string name_, cores_, policy_, program_, amount_;
    bool now_ = false;
};

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// `sennit simulate`: a workload on a virtual machine, under one policy after the other (sim/).
#pragma once

#include <CLI/CLI.hpp>

#include <memory>

namespace sennit::tool {

// Adds the subcommand with its options. run() does the work and returns the exit code.
class Simulate {
  public:
    explicit Simulate(CLI::App &app);
    ~Simulate();
    bool chosen() const;
    int run();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace sennit::tool

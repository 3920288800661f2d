// SPDX-License-Identifier: Apache-2.0
// `sennit simulate`: a workload on a virtual machine, under one policy after the other (sim/). The
// command becomes the program lib/sennit-simulate for it.
#pragma once

#include "sim/fabric.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace sennit::tool {

// Adds the subcommand with its options. run() does the work and returns the exit code. Where a
// network is asked for that only sennit-simgrid has (`fabric`), that program goes on in its place.
class Simulate {
  public:
    explicit Simulate(CLI::App &app, sim::MakeFabric *fabric = nullptr);
    ~Simulate();
    bool chosen() const;
    int run(char **arguments);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// The whole of such a program; its arguments are those of the command.
int simulator_main(int count, char **arguments, sim::MakeFabric *fabric = nullptr);

} // namespace sennit::tool

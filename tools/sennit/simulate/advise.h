// SPDX-License-Identifier: Apache-2.0
// `sennit advise FOLDER`: a recorded run is simulated once as it was, and once with each of some
// changes. What helps most is said first, with what to type for it.
//
// A gain is told together with what it may be: all runs are repeated with tasks that take a little
// longer or shorter by chance. How far the unchanged run is from the recorded one says how much of
// it to believe.
#pragma once

#include "sim/machine.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace sennit::tool {

class Advise {
  public:
    // Adds the command with its options.
    explicit Advise(CLI::App &app);
    ~Advise();
    bool chosen() const;
    // Throws trace::TraceError for a folder that has no sound trace.
    int run();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace sennit::tool

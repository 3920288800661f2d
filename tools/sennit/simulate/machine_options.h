// SPDX-License-Identifier: Apache-2.0
// The simulated machine on a command line: an option for each row of sim/parameters.def.
#pragma once

#include "sim/machine.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

namespace sennit::tool {

inline void add_machine_options(CLI::App &command, sim::Machine &machine) {
    for (const sim::Parameter &parameter : sim::parameters()) {
        const std::string help = parameter.unit.empty()
                                     ? std::string(parameter.help)
                                     : fmt::format("{} ({})", parameter.help, parameter.unit);
        command.add_option(fmt::format("--{}", parameter.name), machine.*parameter.field, help)
            ->capture_default_str()
            ->group("Machine");
    }
}

} // namespace sennit::tool

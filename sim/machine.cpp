// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace sennit::sim {
namespace {

constexpr Parameter g_parameters[] = {
#define SENNIT_PARAMETER(field, name, fallback, least, most, unit, help)                           \
    {name, &Machine::field, least, most, unit, help},
#include "parameters.def"
#undef SENNIT_PARAMETER
};

} // namespace

std::span<const Parameter> parameters() {
    return g_parameters;
}

const Parameter *find_parameter(std::string_view name) {
    for (const Parameter &parameter : g_parameters)
        if (parameter.name == name)
            return &parameter;
    return nullptr;
}

std::string fault_of(const Machine &machine) {
    for (const Parameter &parameter : g_parameters) {
        const double value = machine.*parameter.field;
        if (std::isnan(value) || value < parameter.least || value > parameter.most)
            return fmt::format("--{} {:g} is not from {:g} to {:g}", parameter.name, value,
                               parameter.least, parameter.most);
    }
    for (const auto field :
         {&Machine::ranks, &Machine::ranks_per_card, &Machine::threads, &Machine::numa})
        if (const double count = machine.*field; count != std::floor(count))
            return fmt::format("{:g} is not a whole number of ranks, threads or NUMA domains",
                               count);
    if (machine.network != Network::simgrid && machine.switch_bandwidth > 0)
        return "--switch-bandwidth is for --network simgrid";
    if (machine.network == Network::simgrid && machine.rank_bandwidth > 0)
        return "--rank-bandwidth is for --network loggp";
    if (machine.network != Network::simgrid && !machine.platform.empty())
        return "--platform is for --network simgrid";
    std::error_code error; // a pipe would be waited for
    if (!machine.platform.empty() && (!std::filesystem::is_regular_file(machine.platform, error) ||
                                      !std::ifstream(machine.platform)))
        return fmt::format("{} cannot be read", machine.platform);
    if (machine.ranks * machine.threads > 16e6)
        return "more than 16 million threads";
    return {};
}

} // namespace sennit::sim

// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sennit::sim {
namespace {

constexpr struct {
    const char *name;
    Policy policy;
    Marks marks;
} g_choices[] = {
    {"steal", Policy::steal, Marks::none}, {"fifo", Policy::fifo, Marks::none},
    {"lifo", Policy::lifo, Marks::none},   {"ma1", Policy::ma1, Marks::sends},
    {"ma2", Policy::ma2, Marks::paths},    {"ma3", Policy::ma3, Marks::depths},
    {"sa", Policy::sa, Marks::sends},      {"fa", Policy::fa, Marks::none},
    {"path", Policy::ma3, Marks::global},
};

} // namespace

Choice parse_choice(const std::string &policy, const std::string &order) {
    Order wanted;
    if (order == "auto")
        wanted = Order::automatic;
    else if (order == "creation")
        wanted = Order::creation;
    else if (order == "ready")
        wanted = Order::ready;
    else
        throw std::invalid_argument(
            fmt::format("order '{}' is unknown: use auto, creation or ready", order));
    for (const auto &choice : g_choices)
        if (policy == choice.name)
            return {policy, policy::rules_of(choice.policy, wanted), choice.marks};
    if (policy == "auto")
        throw std::invalid_argument(
            "policy 'auto' is what suits a program's code, and there is none "
            "here: use fa, or steal");
    throw std::invalid_argument(
        fmt::format("policy '{}' is unknown: use {}", policy, fmt::join(known_choices(), ", ")));
}

std::vector<std::string> known_choices() {
    std::vector<std::string> names;
    for (const auto &choice : g_choices)
        names.emplace_back(choice.name);
    return names;
}

} // namespace sennit::sim

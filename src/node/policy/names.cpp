// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include "node/policy/fair.h"
#include "node/policy/lend.h"
#include "node/policy/moldable.h"
#include "node/policy/static.h"

#include <cstddef>
#include <iterator>

namespace sennit::node {
namespace {

constexpr Static kStatic;
constexpr Lend kLend;
constexpr Fair kFair;
constexpr Moldable kMoldable;

constexpr std::string_view kNames[] = {"static", "lend", "fair", "moldable"};
constexpr const Policy *kPolicies[] = {&kStatic, &kLend, &kFair, &kMoldable};
static_assert(std::size(kNames) == std::size(kPolicies));

} // namespace

std::span<const std::string_view> policy_names() {
    return kNames;
}

const Policy *policy_of(std::string_view name) {
    for (std::size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == name)
            return kPolicies[i];
    return nullptr;
}

} // namespace sennit::node

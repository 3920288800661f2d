// SPDX-License-Identifier: Apache-2.0
// What the options --policy, --bind, -n, --threads and --mpi accept. The words of the policies are
// those of base/config.h, so that the command and the runtime cannot disagree.
#pragma once

#include "common/mpi_kind.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

std::vector<std::string> known_policies();

// Where --bind binds the threads of a rank, in OpenMP's words.
struct Binding {
    const char *word;
    const char *proc_bind;
    const char *places; // null: none
};
std::vector<std::string> known_bindings();
std::string bind_help();

// Each throws Failure when the text is not acceptable.
std::string parse_policy(const std::string &text);
const Binding *parse_bind(const std::string &text);
int parse_count(const char *option, const std::string &text, int largest);
std::optional<MpiKind> parse_mpi(const std::string &text); // nullopt: auto

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// The rows of options.def, for who reads these variables: the library has no runtime to ask.
#pragma once

#include "base/config.h"

#include <cstdio>

namespace sennit::mpi {

enum class CollectiveChoice : int { SENNIT_ENUMERATORS(SENNIT_COLLECTIVE_FORMS) };
enum class DoorbellChoice : int { SENNIT_ENUMERATORS(SENNIT_DOORBELL_CHOICES) };
enum class LendingChoice : int { SENNIT_ENUMERATORS(SENNIT_ON_OFF) };
enum class NodeCollectiveChoice : int { SENNIT_ENUMERATORS(SENNIT_ON_OFF) };
enum class DetachProgress : int { SENNIT_ENUMERATORS(SENNIT_DETACH_PROGRESS) };

namespace options {
#define SENNIT_CHOICE(field, ...)                                                                  \
    inline constexpr OptionRow field = SENNIT_CHOICE_ROW(field, __VA_ARGS__);
#define SENNIT_TEXT(field, ...)                                                                    \
    inline constexpr OptionRow field = SENNIT_TEXT_ROW(field, __VA_ARGS__);
#include "mpi/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_TEXT

template <class Choice>
Choice read_choice(const OptionRow &row) {
    return static_cast<Choice>(
        sennit::read_choice(row.variable, row.fallback, row.range,
                            [](const char *line) { std::fprintf(stderr, "sennit: %s\n", line); }));
}
} // namespace options

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
// The runtime's environment options, read once when the library is loaded. A bad value costs one
// line on stderr and leaves the default. options.def is the table of them.
#pragma once

#include "base/option_rows.h"

#include <cstdint>
#include <string_view>

namespace sennit {

enum class HangMode : int { SENNIT_ENUMERATORS(SENNIT_HANG_MODES) };
enum class Policy : int { SENNIT_ENUMERATORS(SENNIT_POLICIES) };
enum class Order : int { SENNIT_ENUMERATORS(SENNIT_ORDERS) };

// A field for each row; texts are never null, empty = off.
struct Config {
#define SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help) Type field;
#define SENNIT_NUMBER(field, variable, fallback, least, most, help) long field;
#define SENNIT_TEXT(field, variable, fallback, form, help) const char *field;
#include "base/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_NUMBER
#undef SENNIT_TEXT
};

// Valid after config_setup, constant from then on.
const Config &config();
void config_setup();
// What `auto` stands for in this program; before anybody else looks.
void choose_policy(Policy policy);

// Is the variable set at all?
bool is_given(const char *variable);
// The word of config().policy.
std::string_view policy_word();

} // namespace sennit

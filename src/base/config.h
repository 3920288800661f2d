// SPDX-License-Identifier: Apache-2.0
// Sennit's own environment options, read once when the library is loaded. A bad value costs one
// line on stderr and leaves the default.
#pragma once

#include <cstdint>
#include <string_view>

namespace sennit {

enum class HangMode : int { report, abort, off };
enum class Policy : int { automatic, fifo, lifo, ma1, ma2, ma3, sa, fa, steal, global };
enum class Order : int { automatic, creation, ready };

struct Config {
    // choice: index of the word in options.def; number; text (never null, empty = off)
    int policy;
    int order;
    long spin_us;
    long throttle;
    long window;
    long sends;
    long stack_cache;
    long free_agents;
    long poll_us;
    long local_ranks;
    int hang;
    long hang_grace;
    const char *system_files;
    int collectives;   // src/mpi/runtime.cpp reads it
    const char *chaos; // src/mpi/chaos.cpp reads it: it knows no runtime
    const char *stats;
    const char *trace;

    Policy chosen_policy() const { return static_cast<Policy>(policy); }
    Order chosen_order() const { return static_cast<Order>(order); }
};

// Valid after config_setup, constant from then on.
const Config &config();
void config_setup();
// What `auto` stands for in this program; before anybody else looks.
void choose_policy(Policy policy);

// Word number `index` of a choice's "a|b|c" in options.def.
std::string_view choice_word(std::string_view words, int index);
// The word of chosen_policy().
std::string_view policy_word();

} // namespace sennit

// SPDX-License-Identifier: Apache-2.0
// Which process this library finds itself in. A virtual rank has it by LD_PRELOAD, in front of all
// others, and takes it out of its environment before main: a program that the rank starts is an
// ordinary process, and does not get it.
#pragma once

namespace sennit::loader::inside {

// A virtual rank, or a child that it has forked: /proc shows both as the loader.
bool is_rank();

// A virtual rank whose memory others share: not its child.
bool shares_memory();

// What the kernel would have for /proc/self/exe if this were a process of its own. Null: it is
// unknown.
const char *program_path();

// Its arguments, with a null at their end.
char **arguments();

// The texts of its environment as it was at the start, one behind the other. False: there is none
// at `at`, or behind it. `text` is what a process would have; null where it would have nothing.
bool next_of_environment(const char *&at, const char *&text);

} // namespace sennit::loader::inside

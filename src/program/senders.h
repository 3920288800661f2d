// SPDX-License-Identifier: Apache-2.0
// What a binary tells of a kind of tasks before its first task has run: the compiler's marks, and
// for sends, where they are silent, the machine code. Marks of some files say nothing about those
// of others.
#pragma once

#include <optional>

namespace sennit::program {

// True: such tasks send. False: they never do. Nothing: not known. Any thread.
std::optional<bool> known_to_send(const void *entry);

// Do such tasks only compute: they never wait for anything, as the marks say? Asked of each task
// that is made in a hurry, so each kind is looked up once; again when the process has loaded
// something, for the function may be another one then. Any thread.
bool known_to_compute(const void *entry);

} // namespace sennit::program

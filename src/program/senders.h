// SPDX-License-Identifier: Apache-2.0
// What a binary tells of a kind of tasks before its first task has run: the compiler's marks, and
// where they are silent the machine code. Marks of some files say nothing about those of others.
#pragma once

#include <optional>

namespace sennit::program {

// True: such tasks send. False: they never do. Nothing: not known. Any thread.
std::optional<bool> known_to_send(const void *entry);

} // namespace sennit::program

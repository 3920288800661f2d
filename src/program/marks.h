// SPDX-License-Identifier: Apache-2.0
// Marks that a compiler left in a binary: these tasks send. The policy fa starts with them instead
// of waiting for the first of each kind to run.
//
// They are an ELF note in an allocated section (".note.sennit", read through the program headers,
// so that strip leaves it alone):
//
//     name  "Sennit"      type  0x53454e44 ("SEND")
//     desc  32-bit words, each the distance from the word itself to the entry function of a task
//
// In assembly, for one task:
//
//     .section .note.sennit, "a", @note
//     .balign 4
//     .long 7, 4, 0x53454e44
//     .asciz "Sennit"
//     .balign 4
//     .long task_entry - .
#pragma once

#include <optional>

namespace sennit::program {

// Does the object that contains this function say that it sends? Nothing where the object has no
// such note: no compiler has looked. Looks the note up each time. Any thread.
std::optional<bool> marked_as_sender(const void *entry);

} // namespace sennit::program

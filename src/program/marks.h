// SPDX-License-Identifier: Apache-2.0
// Marks that a compiler left in a binary: what functions do, above all those of tasks. The policy
// fa starts with them instead of waiting for the first task of each kind to run.
//
// They are ELF notes in an allocated section (".note.sennit", read through the program headers, so
// that strip leaves it alone), in the words of marks_format.h. Each file that is compiled adds
// notes of its own, and each looks at its own functions only: what is in no note is not known.
//
// In assembly, for one task that sends:
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

// True: it may, on some path. With `all_known`, false means that it never does; without, nothing.
struct Marks {
    bool sends = false;
    bool receives = false;
    bool blocks = false;
    bool all_known = true;

    bool operator==(const Marks &) const = default; // Marks{}: it only computes
};

// Of a function, with all that it calls. Nothing where no note has it. Looks the notes up each
// time. Any thread.
std::optional<Marks> marks_of(const void *function);

// Does any object of the process have a note?
bool any_marks();

} // namespace sennit::program

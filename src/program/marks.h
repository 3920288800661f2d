// SPDX-License-Identifier: Apache-2.0
// Marks that a compiler left in a binary: what functions do, above all those of tasks. The policy
// fa starts with them instead of waiting for the first task of each kind to run.
//
// They are ELF notes in an allocated section (".note.sennit", read through the program headers, so
// that strip leaves it alone). Words have 32 bits. A *distance* goes from the word that it is in to
// a function. Each file that is compiled adds notes of its own, and each looks at its own functions
// only: what is in no note is not known. There are two types:
//
//     name "Sennit"  type 0x53454e44 ("SEND"): these tasks send; of what else they do nothing is
//     said desc           distances to the entry functions of tasks
//
//     name "Sennit"  type 0x4d41524b ("MARK"): what functions do, one record after the other
//     desc           distance to the function
//                    flags: 1 it may send, 2 receive, 4 block or suspend its task;
//                           8 it may call what the compiler does not know;
//                           above 16 bits: the number of calls
//                    that many distances to functions it may call and whose records, of other
//                    files, belong to it; or to their stubs in the procedure linkage table
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

    bool only_computes() const { return all_known && !sends && !receives && !blocks; }
};

// Of a function, with all that it calls. Nothing where no note has it. Looks the notes up each
// time. Any thread.
std::optional<Marks> marks_of(const void *function);

} // namespace sennit::program

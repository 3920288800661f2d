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

#include <cstdint>
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

// The notes of marks.h, word by word: the compiler plug-in (pass/) writes them, marks.cpp reads
// them. Words have 32 bits. A *distance* goes from the word that it is in to a function. There are
// two types, both of the name "Sennit":
//
//     "SEND"  these tasks send; of what else they do nothing is said:
//             distances to the entry functions of tasks
//     "MARK"  what functions do, one record after the other, each
//             - a distance to the function
//             - flags, and above 16 bits the number of calls
//             - that many distances to functions it may call and whose records, of other files,
//               belong to it; or to their stubs in the procedure linkage table

namespace sennit::program::note {

inline constexpr char kSection[] = ".note.sennit";
inline constexpr char kName[] = "Sennit";
inline constexpr std::uint32_t kSenders = 0x53454e44; // "SEND"
inline constexpr std::uint32_t kRecords = 0x4d41524b; // "MARK"

enum Flag : std::uint32_t {
    kSends = 1,    // it may send
    kReceives = 2, // receive
    kBlocks = 4,   // block, or suspend its task
    kUnknown = 8,  // call what the compiler does not know
};

// A record, in words.
inline constexpr unsigned kFunction = 0; // the distance to it
inline constexpr unsigned kFlags = 1;
inline constexpr unsigned kCalls = 2; // the first of the distances to what it calls

inline constexpr std::uint32_t kMostCalls = 0xffff;
constexpr std::uint32_t flags_word(std::uint32_t flags, std::uint32_t calls) {
    return flags | calls << 16;
}
constexpr std::uint32_t calls_of(std::uint32_t flags_word) {
    return flags_word >> 16;
}

} // namespace sennit::program::note

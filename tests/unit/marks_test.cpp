// SPDX-License-Identifier: Apache-2.0
// program/marks.h: this program's own note marks two of its functions.
#include "program/marks.h"

#include <gtest/gtest.h>

extern "C" {
[[gnu::noinline]] void sennit_test_sender(int *value) {
    *value += 1;
}
[[gnu::noinline]] void sennit_test_computer(int *value) {
    *value += 2;
}
[[gnu::noinline]] void sennit_test_other_sender(int *value) {
    *value += 3;
}
}

asm(".pushsection .note.sennit, \"a\", @note\n"
    ".balign 4\n"
    ".long 7, 4, 0x12345678\n" // another type: not ours
    ".asciz \"Sennit\"\n"
    ".balign 4\n"
    ".long sennit_test_computer - .\n"
    ".long 7, 8, 0x53454e44\n"
    ".asciz \"Sennit\"\n"
    ".balign 4\n"
    ".long sennit_test_sender - .\n"
    ".long sennit_test_other_sender - .\n"
    ".popsection\n");

TEST(Marks, OnlyTheFunctionsOfTheNote) {
    using sennit::program::marked_as_sender;
    EXPECT_EQ(marked_as_sender(reinterpret_cast<void *>(&sennit_test_sender)), true);
    EXPECT_EQ(marked_as_sender(reinterpret_cast<void *>(&sennit_test_other_sender)), true);
    EXPECT_EQ(marked_as_sender(reinterpret_cast<void *>(&sennit_test_computer)), false);
    EXPECT_EQ(marked_as_sender(nullptr), std::nullopt);
    int local;
    EXPECT_EQ(marked_as_sender(&local), std::nullopt);
}

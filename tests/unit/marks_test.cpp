// SPDX-License-Identifier: Apache-2.0
// tasks/program/marks.h: this program's own notes mark some of its functions.
// tasks/program/senders.h: where they are silent.
#include "tasks/program/marks.h"
#include "tasks/program/senders.h"

#include <dlfcn.h>
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
[[gnu::noinline]] void sennit_test_caller(int *value) {
    *value += 4;
}
[[gnu::noinline]] void sennit_test_called(int *value) {
    *value += 5;
}
[[gnu::noinline]] void sennit_test_calls_stranger(int *value) {
    *value += 6;
}
[[gnu::noinline]] void sennit_test_beyond(int *value) {
    *value += 7;
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

// Two files: in the first one function calls another that is in the second; these two call each
// other. A third calls what no file knows, a fourth nothing.
asm(".pushsection .note.sennit, \"a\", @note\n"
    ".balign 4\n"
    ".long 7, 9 * 4, 0x4d41524b\n"
    ".asciz \"Sennit\"\n"
    ".balign 4\n"
    ".long sennit_test_caller - ., 1 << 16 | 2, sennit_test_called - .\n"
    ".long sennit_test_calls_stranger - ., 1 << 16, sennit_test_sender - 1 - .\n"
    ".long sennit_test_computer - ., 0\n"
    ".long 0\n" // not whole: ignored
    ".long 7, 3 * 4, 0x4d41524b\n"
    ".asciz \"Sennit\"\n"
    ".balign 4\n"
    ".long sennit_test_called - ., 1 << 16 | 5, sennit_test_caller - .\n"
    ".long 7, 2 * 4, 0x4d41524b\n" // more calls than words: ignored
    ".asciz \"Sennit\"\n"
    ".balign 4\n"
    ".long sennit_test_beyond - ., 9 << 16 | 1\n"
    ".popsection\n");

namespace {

using sennit::program::known_to_compute;
using sennit::program::known_to_send;
using sennit::program::Marks;
using sennit::program::marks_of;

const void *address(void (*function)(int *)) {
    return reinterpret_cast<const void *>(function);
}

} // namespace

TEST(Marks, OfSendersNothingElseIsKnown) {
    for (const auto function : {&sennit_test_sender, &sennit_test_other_sender}) {
        const auto marks = marks_of(address(function));
        ASSERT_TRUE(marks);
        EXPECT_TRUE(marks->sends);
        EXPECT_FALSE(marks->all_known);
        EXPECT_EQ(known_to_send(address(function)), true);
    }
}

TEST(Marks, WhatIsInNoNoteIsUnknown) {
    int local;
    EXPECT_FALSE(marks_of(nullptr));
    EXPECT_FALSE(marks_of(&local));
    EXPECT_FALSE(marks_of(address(&sennit_test_beyond)));
    EXPECT_EQ(known_to_send(&local), std::nullopt);
}

TEST(Marks, CallsAreFollowedFromFileToFile) {
    const auto marks = marks_of(address(&sennit_test_caller));
    ASSERT_TRUE(marks);
    EXPECT_TRUE(marks->sends);
    EXPECT_TRUE(marks->receives);
    EXPECT_TRUE(marks->blocks);
    EXPECT_TRUE(marks->all_known);
    EXPECT_EQ(known_to_send(address(&sennit_test_caller)), true);
}

TEST(Marks, ACallIntoTheUnknownIsNoPromise) {
    const auto marks = marks_of(address(&sennit_test_calls_stranger));
    ASSERT_TRUE(marks);
    EXPECT_FALSE(marks->sends);
    EXPECT_FALSE(marks->all_known);
    EXPECT_EQ(known_to_send(address(&sennit_test_calls_stranger)), std::nullopt);
}

TEST(Marks, WhatOnlyComputesIsKnown) {
    const auto marks = marks_of(address(&sennit_test_computer));
    ASSERT_TRUE(marks);
    EXPECT_TRUE(*marks == Marks{});
    EXPECT_EQ(known_to_send(address(&sennit_test_computer)), false);
}

// Looked up once, and asked for again.
TEST(Marks, OnlyWhatIsMarkedIsKnownToCompute) {
    for (int time = 0; time < 2; ++time) {
        EXPECT_TRUE(known_to_compute(address(&sennit_test_computer)));
        EXPECT_FALSE(known_to_compute(address(&sennit_test_sender)));
        EXPECT_FALSE(known_to_compute(address(&sennit_test_caller)));
        EXPECT_FALSE(known_to_compute(address(&sennit_test_calls_stranger)));
        EXPECT_FALSE(known_to_compute(address(&sennit_test_beyond)));
    }
}

// More kinds than there is room for: those without a place count as waiting, and no answer is
// another's.
TEST(Marks, ThereIsRoomForSomeKinds) {
    alignas(16) static char kinds[4096][16];
    for (const auto &kind : kinds)
        EXPECT_FALSE(known_to_compute(kind));
    EXPECT_FALSE(known_to_compute(address(&sennit_test_sender)));
}

#ifdef __x86_64__
// A mark of one file says nothing about the functions of another: these are scanned.
TEST(Marks, WhatIsNotListedIsScanned) {
    void *library = dlopen(CODE_SAMPLES "marked.so", RTLD_LAZY);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_EQ(known_to_send(dlsym(library, "sample_marked")), true);
    EXPECT_EQ(known_to_send(dlsym(library, "sample_of_another_file")), true);
    EXPECT_EQ(known_to_send(dlsym(library, "sample_calls_nothing")), std::nullopt);
}
#endif

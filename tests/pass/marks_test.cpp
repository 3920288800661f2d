// SPDX-License-Identifier: Apache-2.0
// The marks that the plug-in writes (marks/*.c, optimized and not), as the runtime reads them.
#include "program/marks.h"
#include "program/names.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace {

using sennit::program::Marks;
using sennit::program::marks_of;

class WrittenMarks : public testing::TestWithParam<const char *> {
  protected:
    static Marks of(const char *name) {
        const auto no = [](const char *) { return false; };
        sennit::program::set_names({.sends = no,
                                    .makes_tasks = no,
                                    .suspends = no,
                                    .makes_thread_data = no,
                                    .is_the_programs = no});
        const std::string path = std::string(MARKED) + GetParam() + ".so";
        void *library = dlopen(path.c_str(), RTLD_LAZY);
        EXPECT_NE(library, nullptr) << dlerror();
        const auto marks = marks_of(library ? dlsym(library, name) : nullptr);
        EXPECT_TRUE(marks) << name;
        return marks.value_or(Marks{});
    }
};
INSTANTIATE_TEST_SUITE_P(, WrittenMarks, testing::Values("O0", "O2"),
                         [](const auto &level) { return level.param; });

} // namespace

TEST_P(WrittenMarks, CallsIntoOtherFilesAreFollowed) {
    const Marks sends = of("sends");
    EXPECT_TRUE(sends.sends);
    EXPECT_TRUE(sends.blocks);
    EXPECT_FALSE(sends.receives);
    const Marks receives = of("receives");
    EXPECT_TRUE(receives.receives);
    EXPECT_FALSE(receives.sends);
    EXPECT_FALSE(receives.blocks);
    EXPECT_TRUE(receives.all_known);
}

TEST_P(WrittenMarks, LibcAndRecursionCompute) {
    EXPECT_TRUE(of("computes") == Marks{});
    EXPECT_TRUE(of("other_recurses") == Marks{});
    EXPECT_TRUE(of("blocks").blocks);
    EXPECT_TRUE(of("blocks").all_known);
}

TEST_P(WrittenMarks, WhatIsNotCompiledWithThePlugInIsUnknown) {
    EXPECT_FALSE(of("unknown").all_known);
    EXPECT_FALSE(of("indirect").all_known);
    EXPECT_FALSE(of("unknown").sends);
}

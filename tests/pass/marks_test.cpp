// SPDX-License-Identifier: Apache-2.0
// The marks that the plug-in writes (marks/*, optimized and not), as the runtime reads them.
#include "tasks/program/marks.h"
#include "tasks/program/senders.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using sennit::program::Marks;
using sennit::program::marks_of;

class WrittenMarks : public testing::TestWithParam<const char *> {
  protected:
    static void *library() {
        const auto no = [](const char *) { return false; };
        sennit::program::set_names({.sends = no,
                                    .makes_tasks = no,
                                    .suspends = no,
                                    .blocks = no,
                                    .is_the_programs = no});
        const std::string path = std::string(MARKED) + GetParam() + ".so";
        void *found = dlopen(path.c_str(), RTLD_LAZY);
        EXPECT_NE(found, nullptr) << dlerror();
        return found;
    }
    static void *symbol(const char *name) {
        void *from = library();
        return from ? dlsym(from, name) : nullptr;
    }
    static Marks of(const void *function) {
        const auto marks = marks_of(function);
        EXPECT_TRUE(marks);
        return marks.value_or(Marks{});
    }
    static Marks of(const char *name) { return of(symbol(name)); }
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

#ifdef MARKED_FORTRAN
// What flang's code calls when it makes tasks: none is run.
static std::vector<void *> g_entries;
#pragma GCC visibility push(default)
extern "C" {
int __kmpc_global_thread_num(void *) {
    return 0;
}
void *__kmpc_omp_task_alloc(void *, int, int, std::size_t, std::size_t, void *entry) {
    static void *shared[16];
    static void *task[16] = {shared};
    g_entries.push_back(entry);
    return static_cast<void *>(task);
}
int __kmpc_omp_task(void *, int, void *) {
    return 0;
}
}
#pragma GCC visibility pop

TEST_P(WrittenMarks, FortransTasksAreMarked) {
    double x[8];
    g_entries.clear();
    const auto makes_tasks = reinterpret_cast<void (*)(double *)>(symbol("makes_tasks_"));
    ASSERT_NE(makes_tasks, nullptr);
    makes_tasks(x);
    ASSERT_EQ(g_entries.size(), 5U);
    const Marks sends = of(g_entries[0]);
    EXPECT_TRUE(sends.sends && !sends.receives && sends.all_known);
    const Marks receives = of(g_entries[1]);
    EXPECT_TRUE(receives.receives && !receives.sends && receives.all_known);
    EXPECT_TRUE(of(g_entries[2]) == Marks{});
    const Marks sends_elsewhere = of(g_entries[3]);
    EXPECT_TRUE(sends_elsewhere.sends && sends_elsewhere.blocks && sends_elsewhere.all_known);
    EXPECT_TRUE(of(g_entries[4]).blocks);
}
#endif

// SPDX-License-Identifier: Apache-2.0
// tasks/program/code.h on samples/code.c, compiled in several ways.
#include "openmp/runtime/library.h"
#include "tasks/program/code.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace {

using sennit::program::calls_send;
using sennit::program::has_sending_tasks;
using sennit::runtime::is_send;

class Code : public testing::TestWithParam<const char *> {
  protected:
    // Of a sample, compiled in this test's way.
    static void *function(const char *name, const char *sample = "") {
        const std::string path = std::string(CODE_SAMPLES) + GetParam() + sample + ".so";
        void *library = dlopen(path.c_str(), RTLD_LAZY);
        EXPECT_NE(library, nullptr) << dlerror();
        void *found = library ? dlsym(library, name) : nullptr;
        EXPECT_NE(found, nullptr) << name;
        return found;
    }
};

} // namespace

#ifdef __x86_64__
TEST_P(Code, SendsAreFound) {
    for (const char *name : {"sample_sends", "sample_sends_at_the_end", "sample_sends_in_a_branch",
                             "sample_sends_in_fortran", "sample_sends_below"})
        EXPECT_EQ(calls_send(function(name)), true) << name;
}

INSTANTIATE_TEST_SUITE_P(, Code,
                         testing::Values("plain", "optimized", "without-plt", "branch-targets",
                                         "bound-at-start"),
                         [](const auto &way) {
                             std::string name = way.param;
                             for (char &c : name)
                                 c = c == '-' ? '_' : c;
                             return name;
                         });

TEST_P(Code, NothingElseIsTakenForOne) {
    for (const char *name :
         {"sample_computes", "sample_receives", "sample_names_a_send", "sample_recurses"})
        EXPECT_EQ(calls_send(function(name)), std::nullopt) << name;
}

TEST_P(Code, AProgramWhoseTasksSendIsKnown) {
    EXPECT_TRUE(has_sending_tasks(function("sample_makes_tasks", "-sending")));
    EXPECT_FALSE(has_sending_tasks(function("sample_makes_tasks", "-computing")));
    EXPECT_FALSE(has_sending_tasks(function("sample_sends"))) << "there are no tasks";
}

TEST_P(Code, TheSearchEndsAFewLevelsDown) {
    EXPECT_EQ(calls_send(function("sample_sends_far_below")), std::nullopt);
}
#endif

TEST(CodeNames, Sends) {
    for (const char *name :
         {"MPI_Send", "PMPI_Isend", "MPI_Ssend", "MPI_Ibsend", "mpi_send_", "mpi_isend_f08_",
          "mpi_send_f08ts_", "TAMPI_Isend", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Isendrecv",
          "MPI_Rsend", "MPI_Pready_range", "MPI_Put", "mpi_raccumulate_"})
        EXPECT_TRUE(is_send(name)) << name;
    for (const char *name :
         {"MPI_Recv", "MPI_Send_init", "mpi_send_init_", "MPI_Sender", "send", "MPI_", "", "sendto",
          "MPI_Psend_init", "MPI_Get", "MPI_Start", "mpi_startall_", "MPI_Win_start", "MPI_Bcast",
          "MPI_Send_but_with_a_name_that_is_longer_than_any"})
        EXPECT_FALSE(is_send(name)) << name;
}

TEST(CodeNames, WhatIsNoFunctionTellsNothing) {
    int local = 0;
    EXPECT_EQ(calls_send(&local), std::nullopt);
    EXPECT_EQ(calls_send(nullptr), std::nullopt);
    EXPECT_FALSE(has_sending_tasks(nullptr));
    EXPECT_FALSE(sennit::program::process_has_sending_tasks());
    EXPECT_EQ(calls_send(reinterpret_cast<void *>(&calls_send)), std::nullopt);
}

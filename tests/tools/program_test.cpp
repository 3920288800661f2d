// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "support.h"

#include <sys/stat.h>

namespace sennit::tool {
namespace {

std::string refusal(const std::string &path) {
    return failure_of([&] { inspect_program(path, {}, false); });
}

TEST(Program, ReachesAnMpiThroughALibrary) {
    const Program found = inspect_program(program("through-middle"), {}, false);
    ASSERT_EQ(found.mpi_libraries.size(), 1u);
    EXPECT_EQ(found.mpi_libraries[0].library.path, program("libmpi.so.40"));
    EXPECT_EQ(found.mpi_libraries[0].library.needed_by, program("libmiddle.so"));
    EXPECT_EQ(choose_mpi(found, std::nullopt), MpiKind::openmpi);
}

TEST(Program, WithTwoMpisIsRefusedUnlessOneIsNamed) {
    const Program found = inspect_program(program("two-mpis"), {}, false);
    const std::string text = failure_of([&] { choose_mpi(found, std::nullopt); });
    EXPECT_TRUE(contains(text, "two MPIs"));
    EXPECT_TRUE(contains(text, "libmpich.so.12"));
    EXPECT_TRUE(contains(text, "libmpi.so.40"));
    EXPECT_EQ(choose_mpi(found, MpiKind::openmpi), MpiKind::openmpi);
}

TEST(Program, WithAnUnsupportedMpiIsRefused) {
    const Program found = inspect_program(program("old-mpi"), {}, false);
    EXPECT_TRUE(contains(failure_of([&] { choose_mpi(found, std::nullopt); }), "libmpi.so.20"));
}

TEST(Program, WithoutMpiHasNone) {
    EXPECT_EQ(choose_mpi(inspect_program(program("plain"), {}, false), std::nullopt), std::nullopt);
}

TEST(Program, LibraryPathGoesAfterRpathAndBeforeRunpath) {
    const TemporaryFolder folder;
    std::filesystem::copy(program("libgomp.so.1"), folder.path("libgomp.so.1"));
    const auto found_in = [&](const char *name) {
        const Program found = inspect_program(program(name), {folder.path()}, false);
        return found.openmp_libraries.at(0).library;
    };
    EXPECT_EQ(found_in("openmp-by-runpath").path, folder.path("libgomp.so.1"));
    EXPECT_EQ(found_in("openmp-by-rpath").path, program("libgomp.so.1"));
    EXPECT_TRUE(found_in("openmp-by-rpath").found_by_rpath);
}

TEST(Program, ALibraryThatIsNowhereIsListedWithoutAPath) {
    const auto found_with = [](const std::vector<std::string> &library_path) {
        return inspect_program(program("old-mpi"), library_path, false).mpi_libraries.at(0).library;
    };
    EXPECT_EQ(found_with({}).path, "");
    EXPECT_EQ(found_with({PROGRAMS}).path, program("libmpi.so.20"));
}

TEST(Program, StaticOnesAreRefused) {
    EXPECT_TRUE(contains(refusal(program("static-program")), "static binary"));
    EXPECT_TRUE(contains(refusal(program("static-pie-program")), "static binary"));
}

TEST(Program, ASharedLibraryIsNoProgram) {
    EXPECT_TRUE(contains(refusal(program("libmpi.so.40")), "shared library, not a program"));
}

TEST(Program, AScriptIsRefusedUnlessItsMpiIsNamed) {
    const TemporaryFolder folder;
    const std::string script = folder.write("script", "#!/bin/sh\nexit 0\n");
    EXPECT_TRUE(contains(refusal(script), "script"));
    EXPECT_FALSE(inspect_program(script, {}, true).elf);
}

TEST(Program, FilesThatNobodyCanRunAreRefused) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(refusal(folder.path("absent")), "No such file"));
    EXPECT_TRUE(contains(refusal(folder.path()), "folder"));
    EXPECT_TRUE(contains(refusal("no-such-command-anywhere"), "not in PATH"));
    const std::string file = folder.write("file", "text");
    chmod(file.c_str(), 0644);
    EXPECT_TRUE(contains(refusal(file), "not executable"));
}

TEST(Program, SetUidAndSetGidOnesAreRefused) {
    const TemporaryFolder folder;
    const std::string copy = folder.path("copy");
    std::filesystem::copy(program("two-mpis"), copy);
    ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
    EXPECT_TRUE(contains(refusal(copy), "set-uid"));
    ASSERT_EQ(chmod(copy.c_str(), 02755), 0);
    EXPECT_TRUE(contains(refusal(copy), "set-gid"));
}

} // namespace
} // namespace sennit::tool

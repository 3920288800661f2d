// SPDX-License-Identifier: Apache-2.0
#include "launch/program.h"

#include "support.h"

#include <sys/stat.h>

namespace sennit::tool {
namespace {

std::string refusal(const std::string &path) {
    return failure_of([&] { inspect_program({path}, {}); });
}

TEST(Program, ReachesAnMpiThroughALibrary) {
    const Program found = inspect_program({program("through-middle")}, {});
    ASSERT_EQ(found.mpi_libraries.size(), 1u);
    EXPECT_EQ(found.mpi_libraries[0].library.path, program("libmpi.so.40"));
    EXPECT_EQ(found.mpi_libraries[0].library.needed_by, program("libmiddle.so"));
    EXPECT_EQ(choose_mpi(found, std::nullopt), MpiKind::openmpi);
}

TEST(Program, OfWhichTheLinkerKeptOnlySennitsLibrary) {
    const Program found = inspect_program({program("only-sennit")}, {});
    EXPECT_EQ(choose_mpi(found, std::nullopt), MpiKind::mpich);
}

TEST(Program, WithTwoMpisIsRefusedUnlessOneIsNamed) {
    const Program found = inspect_program({program("two-mpis")}, {});
    const std::string text = failure_of([&] { choose_mpi(found, std::nullopt); });
    EXPECT_TRUE(contains(text, "two MPIs"));
    EXPECT_TRUE(contains(text, "libmpich.so.12"));
    EXPECT_TRUE(contains(text, "libmpi.so.40"));
    EXPECT_EQ(choose_mpi(found, MpiKind::openmpi), MpiKind::openmpi);
}

TEST(Program, WithAnUnsupportedMpiIsRefused) {
    const Program found = inspect_program({program("old-mpi")}, {});
    EXPECT_TRUE(contains(failure_of([&] { choose_mpi(found, std::nullopt); }), "libmpi.so.20"));
    EXPECT_TRUE(contains(failure_of([&] { choose_mpi(found, MpiKind::mpich); }), "would crash it"));
}

TEST(Program, TellsItsMpiByWhatThatDefinesWhateverItsNameIs) {
    const auto mpi_of = [](const char *name, std::optional<MpiKind> asked = std::nullopt) {
        return choose_mpi(inspect_program({program(name)}, {}), asked);
    };
    EXPECT_EQ(mpi_of("uses-other-mpich"), MpiKind::mpich);
    EXPECT_EQ(mpi_of("uses-other-openmpi"), MpiKind::openmpi);
    EXPECT_EQ(mpi_of("uses-other-mpiabi"), MpiKind::mpiabi);
    EXPECT_TRUE(contains(failure_of([&] { mpi_of("uses-other-unknown"); }),
                         "say whose ABI it has, --mpi mpich or --mpi openmpi"));
    EXPECT_EQ(mpi_of("uses-other-unknown", MpiKind::openmpi), MpiKind::openmpi);
    EXPECT_TRUE(contains(failure_of([&] { mpi_of("uses-other-mpich", MpiKind::openmpi); }),
                         "would crash it"));
}

TEST(Program, ForAnotherLibcIsRefused) {
    EXPECT_TRUE(contains(refusal(program("for-musl")), "is a program for musl"));
}

TEST(Program, WithoutMpiHasNone) {
    EXPECT_EQ(choose_mpi(inspect_program({program("plain")}, {}), std::nullopt), std::nullopt);
}

TEST(Program, LibraryPathGoesAfterRpathAndBeforeRunpath) {
    const TemporaryFolder folder;
    std::filesystem::copy(program("libgomp.so.1"), folder.path("libgomp.so.1"));
    const auto found_in = [&](const char *name) {
        const Program found = inspect_program({program(name)}, {folder.path()});
        return found.openmp_libraries.at(0).library;
    };
    EXPECT_EQ(found_in("openmp-by-runpath").path, folder.path("libgomp.so.1"));
    EXPECT_EQ(found_in("openmp-by-rpath").path, program("libgomp.so.1"));
    EXPECT_TRUE(found_in("openmp-by-rpath").found_by_rpath);
}

TEST(Program, ALibraryThatIsNowhereIsListedWithoutAPath) {
    const auto found_with = [](const std::vector<std::string> &library_path) {
        return inspect_program({program("old-mpi")}, library_path).mpi_libraries.at(0).library;
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

TEST(Program, AScriptTellsWhichProgramItStarts) {
    const TemporaryFolder folder;
    const std::string app = program("through-middle");
    for (const std::string &text :
         {"#!/bin/sh\n# old: " + program("two-mpis") + "\nset -e\n(exec '" + app + "' \"$@\")\n",
          "#!/usr/bin/env -S A=1 bash\nif true; then A=2 " + app + "; fi\n", app + " arguments\n",
          "#!/bin/sh\n" + program("openmp-by-runpath") + "\n" + app + "\n"}) {
        const Program found = inspect_program({folder.write("script", text)}, {});
        EXPECT_TRUE(found.script);
        EXPECT_FALSE(found.starts_ranks);
        EXPECT_EQ(found.file, app) << text;
        EXPECT_EQ(choose_mpi(found, std::nullopt), MpiKind::openmpi) << text;
    }
}

TEST(Program, AScriptAsksForWhatItsProgramAsksFor) {
    const TemporaryFolder folder;
    const std::string app = folder.write("app", importing("GOMP_task", program("through-middle")));
    for (const std::string &file : {app, folder.write("script", app + "\n")})
        EXPECT_TRUE(inspect_program({file}, {}).imports.makes_tasks) << file;
}

TEST(Program, AScriptMayStartTheRanksItself) {
    const TemporaryFolder folder;
    const std::string text = "#!/bin/sh\nmpiexec.openmpi -n 2 " + program("through-middle") + "\n";
    EXPECT_TRUE(inspect_program({folder.write("script", text)}, {}).starts_ranks);
}

// With a command in PATH that leads to a program of MPI.
class ProgramInPath : public ::testing::Test {
  protected:
    ProgramInPath() : before_(std::getenv("PATH")) {
        folder_.write("chance", "exec " + program("through-middle") + "\n");
        setenv("PATH", (folder_.path() + ":" + before_).c_str(), 1);
    }
    ~ProgramInPath() override { setenv("PATH", before_.c_str(), 1); }

    Program inspect_text(const std::string &text) const {
        return inspect_program({folder_.write("script", "#!/bin/sh\n" + text)}, {});
    }

    const TemporaryFolder folder_;

  private:
    const std::string before_;
};

TEST_F(ProgramInPath, IsFollowedWhereACommandStands) {
    for (const char *text : {"chance",
                             "A=1 chance -x\n",
                             "true && ! chance",
                             "if chance; then :; fi",
                             "(chance)",
                             "x=`chance`",
                             "x=$(chance a)",
                             "echo \"$(chance a)\"",
                             "exec nice -n 1 chance",
                             "mpirun -n 2 \\\n chance",
                             "env A=1 chance",
                             "$LAUNCHER chance",
                             "sh -c 'chance a'",
                             "eval \"chance $x\"",
                             "app=chance\n$app",
                             "app=\"time chance\"\n${app} a",
                             "run() { \"$@\"; }\nrun chance",
                             "case $1 in\n a) chance;;\nesac",
                             "cat <<END >x\nnothing\nEND\nchance",
                             "cat < x | chance 2>&1 > y"})
        EXPECT_EQ(inspect_text(text).file, program("through-middle")) << text;
}

TEST_F(ProgramInPath, IsNotFollowedWhereItIsAWordByChance) {
    for (const char *text :
         {"echo chance", "echo a chance", "opt=\" chance -x \"\necho $opt",
          "cat -r chance > chance", "true # chance", "for chance in a; do :; done", "chance=1",
          "echo 'a\nchance\n'", "cat <<END\nchance\nEND", "case $1 in\n chance) ;;\nesac",
          "chance() { :; }", "[ -x chance ]", "[[ a || chance ]]"})
        EXPECT_FALSE(inspect_text(text).uses_mpi_or_openmp()) << text;
}

TEST_F(ProgramInPath, IsFoundBehindASetUidOne) {
    const std::string copy = folder_.path("copy");
    std::filesystem::copy(program("two-mpis"), copy);
    ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
    const Program found = inspect_text(copy + "\nchance\n");
    EXPECT_TRUE(contains(found.warning, copy + "', which is set-uid")) << found.warning;
    EXPECT_EQ(found.file, program("through-middle"));
    EXPECT_EQ(inspect_text("chance").warning, "");
}

TEST_F(ProgramInPath, StartsRanksIfALauncherIsACommand) {
    EXPECT_EQ(inspect_text("set -e\n  exec mpirun `echo $N` chance\n").starts_ranks_by,
              "exec mpirun `echo $N` chance");
    EXPECT_FALSE(inspect_text("echo mpirun; chance").starts_ranks);
    folder_.write("srun", "exec \"$@\"\n");
    const Program typed = inspect_program({"srun", "-n", "2", "chance"}, {});
    EXPECT_EQ(typed.starts_ranks_by, "srun -n 2 chance");
    EXPECT_EQ(typed.file, program("through-middle"));
}

TEST(Program, AProgramThatStartsOthersIsFollowed) {
    const TemporaryFolder folder;
    const std::string app = program("through-middle");
    const std::string script = folder.write("script", "exec " + app + "\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_read);
    for (const std::vector<std::string> &command :
         std::vector<std::vector<std::string>>{{"env", "A=1", app},
                                               {"nice", "-n", "1", "env", app, "argument"},
                                               {"sh", "-c", "A=1 " + app + " && true"},
                                               {"sh", script}}) {
        const Program found = inspect_program(command, {});
        EXPECT_EQ(found.file, app) << command[0];
        EXPECT_EQ(choose_mpi(found, std::nullopt), MpiKind::openmpi);
    }
    EXPECT_FALSE(inspect_program({program("plain"), app}, {}).uses_mpi_or_openmp());
}

TEST(Program, WhatItLoadsLaterIsNotKnown) {
    const TemporaryFolder folder;
    const std::string script = folder.write("script", "#!/usr/bin/python3\nimport mpi4py\n");
    for (const std::string &command : {script, std::string("python3")}) {
        const Program found = inspect_program({command}, {});
        EXPECT_TRUE(found.imports.brings_more);
        EXPECT_FALSE(found.uses_mpi_or_openmp());
    }
    EXPECT_FALSE(inspect_program({program("plain")}, {}).imports.brings_more);
    EXPECT_FALSE(inspect_program({program("plain")}, {}).imports.makes_tasks);
}

TEST(Program, WhatIsNeitherProgramNorScriptIsRefused) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(refusal(folder.write("data", std::string("\0\1", 2))), "neither"));
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

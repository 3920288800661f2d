// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher_options.h"
#include "launch/mpiexec.h"

#include "support.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace sennit::tool {
namespace {

constexpr Launcher all_launchers[] = {Launcher::hydra, Launcher::intel, Launcher::orterun,
                                      Launcher::prrte};

using Words = std::vector<std::string>;

LauncherWord read(const Words &words) {
    std::size_t at = 0;
    const auto word = read_launcher_option(words, at);
    EXPECT_TRUE(word) << words[0];
    EXPECT_EQ(at + 1, words.size()) << words[0];
    return *word;
}

Words given_to(Launcher launcher, const Words &words) {
    return words_for(launcher, read(words));
}

TEST(LauncherOptions, EachRowIsFilledByItsValues) {
    std::set<std::string> seen;
    for (int i = 0; i < launcher_option_count; ++i) {
        const LauncherOption &option = launcher_options[i];
        EXPECT_FALSE(option.help.empty()) << option.names;
        EXPECT_TRUE(seen.insert(option.typed()).second) << option.names << " is there twice";
        bool is_known = option.effect == LauncherEffect::refused;
        const bool is_assignment = option.values.find('=') != std::string_view::npos;
        for (const std::string_view call : option.calls) {
            is_known |= !call.empty();
            const bool has_second = call.find("%2") != std::string_view::npos;
            const bool has_any = call.find('%') != std::string_view::npos;
            EXPECT_TRUE(!has_second || option.arity() == 2 || is_assignment) << option.names;
            EXPECT_TRUE(!has_any || option.arity() >= 1) << option.names;
        }
        EXPECT_TRUE(is_known) << option.names << ": no mpiexec has it";
    }
}

TEST(LauncherOptions, HaveTheNameOfTheLauncherThatGetsThem) {
    EXPECT_EQ(given_to(Launcher::hydra, {"--host", "a:2,b"}), Words({"-hosts", "a:2,b"}));
    EXPECT_EQ(given_to(Launcher::orterun, {"-hosts", "a"}), Words({"--host", "a"}));
    EXPECT_EQ(given_to(Launcher::hydra, {"--hostfile=f"}), Words({"-f", "f"}));
    EXPECT_EQ(given_to(Launcher::orterun, {"-genv", "A", "b=c d"}), Words({"-x", "A=b=c d"}));
    EXPECT_EQ(given_to(Launcher::hydra, {"-x", "A=b=%2"}), Words({"-genv", "A", "b=%2"}));
    EXPECT_EQ(given_to(Launcher::hydra, {"-x", "A"}), Words()); // it hands all variables on
    EXPECT_EQ(given_to(Launcher::prrte, {"-genvlist", "A,B"}), Words({"-x", "A", "-x", "B"}));
    EXPECT_EQ(given_to(Launcher::prrte, {"-l"}), Words({"--output", "tag"}));
    EXPECT_EQ(given_to(Launcher::hydra, {"--timeout", "5"}), Words({"MPIEXEC_TIMEOUT=5"}));
    EXPECT_EQ(given_to(Launcher::intel, {"--bind-to", "none"}),
              Words({"-genv", "I_MPI_PIN", "off"}));
    EXPECT_EQ(given_to(Launcher::intel, {"--bind-to", "core"}),
              Words({"-genv", "I_MPI_PIN_DOMAIN", "core"}));
    EXPECT_EQ(given_to(Launcher::orterun, {"-mca", "a", "b"}), Words({"--mca", "a", "b"}));
    for (const Launcher launcher : all_launchers)
        EXPECT_EQ(given_to(launcher, {"--mpiexec", "-foo  1"}), Words({"-foo", "1"}));
}

TEST(LauncherOptions, ThatALauncherDoesNotHaveAreRefused) {
    EXPECT_TRUE(contains(failure_of([] { given_to(Launcher::hydra, {"-mca", "a", "b"}); }),
                         "-mca: the mpiexec of MPICH has nothing like it"));
    EXPECT_TRUE(contains(failure_of([] { read({"--app", "f"}); }), "would start without Sennit"));
    EXPECT_TRUE(contains(failure_of([] { read({"-mca", "a"}); }), "-mca needs NAME VALUE"));
}

TEST(LauncherOptions, AreNoneOfTheProgramNorOfAnyOtherForm) {
    for (const std::string &word :
         Words{"host", "---host", "--hoster", "-", "--", "--report-bindings=1"}) {
        std::size_t at = 0;
        EXPECT_FALSE(read_launcher_option({word, "x"}, at)) << word;
    }
}

TEST(LauncherOptions, OfWhichLauncherIsSaidByItsVersion) {
    EXPECT_EQ(launcher_from_version("HYDRA build details:\n    Version: 4.0.2"), Launcher::hydra);
    EXPECT_EQ(launcher_from_version("Intel(R) MPI Library for Linux* OS, Version 2021.19.0"),
              Launcher::intel);
    EXPECT_EQ(launcher_from_version("mpiexec (OpenRTE) 4.1.4"), Launcher::orterun);
    EXPECT_EQ(launcher_from_version("mpiexec (Open MPI) 5.0.11"), Launcher::prrte);
    EXPECT_EQ(launcher_from_version("something else"), std::nullopt);
}

// docs/mpi-faults.md says why. What the user has set stays.
TEST(LaunchCommand, OfSeveralProgramsOpenMpi5ReadsNoFilesOfPmix) {
    const auto has_none = [](Launcher launcher, std::size_t programs, bool spawns_several = false) {
        const std::vector<Launch> all(programs, Launch{1, {"./app"}, {}, spawns_several});
        const Words line = compose_launch({MpiKind::openmpi, launcher, "/x/mpiexec", ""}, all);
        const auto at = std::find(line.begin(), line.end(), "PMIX_MCA_mca_base_param_files=none");
        return at != line.end() && at < std::find(line.begin(), line.end(), "/x/mpiexec");
    };
    unsetenv("PMIX_MCA_mca_base_param_files");
    EXPECT_TRUE(has_none(Launcher::prrte, 2));
    EXPECT_FALSE(has_none(Launcher::prrte, 1));
    EXPECT_TRUE(has_none(Launcher::prrte, 1, true));
    EXPECT_FALSE(has_none(Launcher::orterun, 1, true));
    EXPECT_FALSE(has_none(Launcher::orterun, 2));
    setenv("PMIX_MCA_mca_base_param_files", "mine", 1);
    EXPECT_FALSE(has_none(Launcher::prrte, 2));
    unsetenv("PMIX_MCA_mca_base_param_files");
}

} // namespace
} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.h"

#include "launch/run.h"
#include "launch/virtual_rank.h"
#include "support.h"

#include <optional>
#include <set>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

// A complete installation whose libraries are empty ones.
class Environment : public ::testing::Test {
  protected:
    Environment() {
        fs::create_directories(folder_.path("lib/omp"));
        for (const char *name : {"libsennit-omp.so", "libsennit-mpich.so", "libsennit-openmpi.so",
                                 "libsennit-cuda.so", "libsennit-hip.so"})
            fs::copy(program("libgomp.so.1"), folder_.path("lib/") + name);
        for (const char *name :
             {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so", "libsennit-omp.so"})
            fs::create_symlink("../libsennit-omp.so", folder_.path("lib/omp/") + name);
        installation_.emplace(folder_.path());
    }

    Plan plan(const char *name, std::map<std::string, std::string> outer = {}) const {
        return plan_of({program(name)}, std::move(outer));
    }
    Plan plan_of(std::vector<std::string> command,
                 std::map<std::string, std::string> outer = {}) const {
        JobSpec spec = spec_;
        spec.command = std::move(command);
        return make_plan(spec, *installation_, reader(std::move(outer)));
    }

    static std::string value(const Plan &plan, const std::string &name) {
        for (const Setting &setting : plan.settings)
            if (setting.name == name)
                return setting.value;
        return "(not set)";
    }

    std::string lib(const std::string &name) const { return folder_.path("lib/" + name); }

    TemporaryFolder folder_;
    std::optional<Installation> installation_;
    JobSpec spec_;
};

TEST_F(Environment, OfAnMpiProgramPreloadsTheLibraryOfItsMpi) {
    const Plan made = plan("through-middle");
    EXPECT_EQ(made.mpi, MpiKind::openmpi);
    EXPECT_EQ(value(made, "LD_PRELOAD"), lib("libsennit-openmpi.so"));
    EXPECT_EQ(value(made, "LD_LIBRARY_PATH"), lib("omp"));
    EXPECT_EQ(value(made, "OMP_NUM_THREADS"), "(not set)");
    EXPECT_EQ(value(made, "SENNIT_POLICY"), "(not set)");
}

TEST_F(Environment, OfVirtualRanksAsksNoMpiForOneAddressOnAllRanks) {
    const auto made = [this](MpiKind mpi, std::map<std::string, std::string> outer) {
        Plan plan = this->plan("through-middle");
        plan.mpi = mpi;
        plan.settings = {{"PMIX_MCA_typed", "1"}};
        set_for_virtual(plan, reader(std::move(outer)));
        return plan;
    };
    const std::string windows = "MPIR_CVAR_SHM_SYMHEAP_RETRY";
    const std::string store = "PMIX_MCA_gds";
    const std::string offered = "PMIX_GDS_MODULE";
    EXPECT_EQ(value(made(MpiKind::mpich, {}), windows), "0");
    EXPECT_EQ(value(made(MpiKind::mpiabi, {}), windows), "0");
    EXPECT_EQ(value(made(MpiKind::openmpi, {}), windows), "(not set)");
    EXPECT_EQ(value(made(MpiKind::mpich, {{windows, "7"}}), windows), "(not set)"); // stays
    EXPECT_EQ(value(made(MpiKind::openmpi, {{offered, "shmem2,hash"}}), store), "hash");
    EXPECT_EQ(value(made(MpiKind::openmpi, {{offered, "ds21,ds12,hash"}}), store), "(not set)");
    EXPECT_EQ(value(made(MpiKind::openmpi, {{offered, "shmem2"}, {store, "shmem2"}}), store),
              "(not set)");
}

TEST_F(Environment, OfVirtualRanksHasNoMoreBuffersThanTheirQueueTakes) {
    const auto made = [this](MpiKind mpi, std::map<std::string, std::string> outer) {
        Plan plan = this->plan("through-middle");
        plan.mpi = mpi;
        set_for_virtual(plan, reader(std::move(outer)));
        return plan;
    };
    for (const std::string name : {"UCX_POSIX_RX_BUFS_GROW", "UCX_SYSV_RX_BUFS_GROW"}) {
        EXPECT_EQ(value(made(MpiKind::mpich, {}), name), "260");
        EXPECT_EQ(value(made(MpiKind::openmpi, {}), name), "(not set)");
        EXPECT_EQ(value(made(MpiKind::mpich, {{name, "7"}}), name), "(not set)"); // stays
    }
}

TEST_F(Environment, CarriesWhatWasAskedFor) {
    spec_.threads = 3;
    spec_.policy = "lifo";
    spec_.trace = "/tmp/trace";
    Plan made = plan("through-middle");
    set_local_ranks(made, 4, 8, reader({}));
    EXPECT_EQ(value(made, "OMP_NUM_THREADS"), "3");
    EXPECT_EQ(value(made, "SENNIT_POLICY"), "lifo");
    EXPECT_EQ(value(made, "SENNIT_TRACE"), "/tmp/trace");
    EXPECT_EQ(value(made, "SENNIT_LOCAL_RANKS"), "4");
}

TEST_F(Environment, KeepsTheOuterListsBehindOursAndInFrontOfOurPreloads) {
    const Plan made =
        plan("through-middle", {{"LD_LIBRARY_PATH", "/a:/b"}, {"LD_PRELOAD", "x.so"}});
    EXPECT_EQ(value(made, "LD_LIBRARY_PATH"), lib("omp") + ":/a:/b");
    EXPECT_EQ(value(made, "LD_PRELOAD"), "x.so:" + lib("libsennit-openmpi.so"));
}

TEST_F(Environment, ComesInFrontOfAddressSanitizer) {
    const auto options = [&](std::map<std::string, std::string> outer) {
        outer["LD_PRELOAD"] = "x.so";
        return value(plan("sanitized-program", std::move(outer)), "ASAN_OPTIONS");
    };
    EXPECT_EQ(options({}), "verify_asan_link_order=0");
    EXPECT_EQ(options({{"ASAN_OPTIONS", "a=1"}}), "a=1:verify_asan_link_order=0");
    EXPECT_EQ(options({{"ASAN_OPTIONS", "verify_asan_link_order=1"}}), "(not set)");
    spec_.settings = {{"ASAN_OPTIONS", "b=2"}};
    const Plan made = plan("sanitized-program", {{"LD_PRELOAD", "x.so"}, {"ASAN_OPTIONS", "a=1"}});
    EXPECT_EQ(made.settings.back().value, "b=2:verify_asan_link_order=0");
    spec_.settings.clear();
    EXPECT_EQ(value(plan("through-middle", {{"LD_PRELOAD", "x.so"}}), "ASAN_OPTIONS"), "(not set)");
}

TEST_F(Environment, PutsAPreloadedMpiBehindOurs) {
    const std::string mpi = "/opt/lib/libmpi.so.40";
    const std::string ours = "x.so:" + lib("libsennit-openmpi.so") + ":" + mpi;
    for (const std::string &before : {mpi + ":x.so", ours}) // the latter: applied twice
        EXPECT_EQ(value(plan("through-middle", {{"LD_PRELOAD", before}}), "LD_PRELOAD"), ours);
}

TEST_F(Environment, AppliedTwiceIsTheSame) {
    const Plan once = plan("through-middle");
    const Plan twice = plan("through-middle", {{"LD_LIBRARY_PATH", value(once, "LD_LIBRARY_PATH")},
                                               {"LD_PRELOAD", value(once, "LD_PRELOAD")}});
    EXPECT_EQ(value(twice, "LD_LIBRARY_PATH"), value(once, "LD_LIBRARY_PATH"));
    EXPECT_EQ(value(twice, "LD_PRELOAD"), value(once, "LD_PRELOAD"));
}

TEST_F(Environment, AnOpenMpProgramWithoutMpiGetsOnlyTheRuntime) {
    const Plan made = plan("openmp-by-runpath");
    EXPECT_EQ(made.mpi, std::nullopt);
    EXPECT_EQ(value(made, "LD_PRELOAD"), "(not set)");
    EXPECT_EQ(value(made, "LD_LIBRARY_PATH"), lib("omp"));
}

TEST_F(Environment, OpenMpBehindLibcIsBroughtForwardByAPreload) {
    const Plan made = plan("openmp-through-library");
    EXPECT_EQ(value(made, "LD_PRELOAD"), lib("libsennit-omp.so"));
    ASSERT_FALSE(made.notes.empty());
    EXPECT_TRUE(contains(made.notes[0], "libgomp.so.1 comes after libc"));
}

TEST_F(Environment, OfAProgramThatNeedsAnAcceleratorHasTheLibraryInFrontOfIt) {
    const std::string option = "SENNIT_ACCELERATORS";
    const auto preloaded = [&](const char *name, std::map<std::string, std::string> outer) {
        return value(plan(name, std::move(outer)), "LD_PRELOAD");
    };
    EXPECT_EQ(preloaded("cuda-and-openmp", {}), lib("libsennit-cuda.so"));
    EXPECT_EQ(preloaded("cuda-and-openmp", {{option, "auto"}}), lib("libsennit-cuda.so"));
    EXPECT_EQ(preloaded("cuda-and-openmp", {{option, "off"}}), "(not set)");
    EXPECT_EQ(preloaded("openmp-by-runpath", {}), "(not set)");
    EXPECT_EQ(preloaded("openmp-by-runpath", {{option, "hip"}}), lib("libsennit-hip.so"));
    EXPECT_TRUE(contains(failure_of([&] { plan("cuda-and-openmp", {{option, "on"}}); }),
                         "use one of auto, cuda, hip, off"));
    spec_.settings = {{option, "off"}};
    EXPECT_EQ(preloaded("cuda-and-openmp", {}), "(not set)");
    fs::remove(lib("libsennit-cuda.so"));
    EXPECT_EQ(preloaded("cuda-and-openmp", {}), "(not set)");
    spec_.settings = {};
    EXPECT_TRUE(contains(failure_of([&] { plan("cuda-and-openmp"); }), "libsennit-cuda.so"));
}

TEST_F(Environment, RpathToAStockRuntimeIsOvercomeByAPreload) {
    const Plan made = plan("openmp-by-rpath");
    EXPECT_EQ(value(made, "LD_PRELOAD"), lib("libsennit-omp.so"));
    ASSERT_FALSE(made.notes.empty());
    EXPECT_TRUE(contains(made.notes[0], "DT_RPATH"));
}

TEST_F(Environment, AProgramWithoutMpiAndOpenMpRunsAsItIsUnlessItsMpiIsNamed) {
    const Plan made = plan("plain");
    EXPECT_TRUE(made.runs_as_it_is);
    EXPECT_TRUE(made.settings.empty());
    EXPECT_TRUE(contains(made.warning.value_or(""), "neither MPI nor OpenMP"));
    spec_.mpi = MpiKind::mpich;
    EXPECT_EQ(value(plan("plain"), "LD_PRELOAD"), lib("libsennit-mpich.so"));
}

TEST_F(Environment, BindsThreadsInTheWordsOfOpenMp) {
    spec_.bind = parse_bind("numa");
    EXPECT_EQ(value(plan("openmp-by-runpath"), "OMP_PROC_BIND"), "true");
    EXPECT_EQ(value(plan("openmp-by-runpath"), "OMP_PLACES"), "numa_domains");
    spec_.bind = parse_bind("none");
    EXPECT_EQ(value(plan("openmp-by-runpath"), "OMP_PROC_BIND"), "false");
    EXPECT_EQ(value(plan("openmp-by-runpath"), "OMP_PLACES"), "(not set)");
    EXPECT_TRUE(contains(failure_of([] { parse_bind("chip"); }), "use one of none, thread, core"));
}

TEST_F(Environment, OfAProgramWithoutOpenMpHasWhatRecordsTheTrace) {
    const std::string both = lib("libsennit-openmpi.so") + ":" + lib("libsennit-omp.so");
    EXPECT_EQ(value(plan("through-middle"), "LD_PRELOAD"), lib("libsennit-openmpi.so"));
    EXPECT_EQ(value(plan("through-middle", {{"SENNIT_TRACE", "/tmp/trace"}}), "LD_PRELOAD"), both);
    spec_.trace = "/tmp/trace";
    EXPECT_EQ(value(plan("through-middle"), "LD_PRELOAD"), both);
    EXPECT_EQ(value(plan("openmp-by-runpath"), "LD_PRELOAD"), "(not set)");
}

TEST_F(Environment, OfAProgramWithoutOpenMpHasWhatTellsOfHangs) {
    const std::string alone = lib("libsennit-openmpi.so");
    const std::string both = alone + ":" + lib("libsennit-omp.so");
    spec_.watched = true;
    const std::string only = "SENNIT_ONLY_WATCHED";
    EXPECT_EQ(value(plan("through-middle"), "LD_PRELOAD"), both);
    EXPECT_EQ(value(plan("through-middle"), only), "1");
    EXPECT_EQ(value(plan("through-middle", {{"SENNIT_HANG", "abort"}}), "LD_PRELOAD"), both);
    EXPECT_EQ(value(plan("openmp-by-runpath", {{only, "1"}}), only), "0");
    EXPECT_EQ(value(plan("through-middle", {{"SENNIT_HANG", "off"}}), "LD_PRELOAD"), alone);
    EXPECT_EQ(value(plan("openmp-by-runpath"), "LD_PRELOAD"), "(not set)");
    EXPECT_TRUE(plan("plain").runs_as_it_is); // it waits for no rank
}

TEST_F(Environment, OpenMpThatComesLaterIsReplacedByAPreload) {
    EXPECT_EQ(value(plan_of({"python3", "x.py"}), "LD_PRELOAD"), lib("libsennit-omp.so"));
    const std::string script = folder_.write("script", "exec " + program("openmp-by-runpath"));
    EXPECT_EQ(value(plan_of({script}), "LD_PRELOAD"), lib("libsennit-omp.so"));
    EXPECT_EQ(plan_of({script}).warning, std::nullopt);
    const Plan unknown = plan_of({folder_.write("unknown", "mpiexec \"$APP\"")});
    EXPECT_TRUE(contains(unknown.warning.value_or(""), "--mpi"));
    EXPECT_EQ(value(plan_of({"env", "A=1", program("openmp-by-runpath")}), "LD_PRELOAD"),
              "(not set)");
}

TEST_F(Environment, TheLauncherTellsTheMpiOfWhatComesLater) {
    const std::map<std::string, std::string> rank = {
        {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}};
    EXPECT_EQ(plan_of({"python3"}).mpi, std::nullopt);
    EXPECT_EQ(plan_of({"python3"}, rank).mpi, MpiKind::mpich);
    EXPECT_EQ(plan("openmp-by-runpath", rank).mpi, std::nullopt);
}

TEST_F(Environment, AnOpenMpiThatComesLaterIsPreloadedBehindOurs) {
    spec_.mpi = MpiKind::openmpi;
    fs::create_directories(folder_.path("mpi/bin"));
    fs::create_directories(folder_.path("mpi/lib"));
    folder_.write("mpi/bin/mpiexec", "");
    folder_.write("mpi/lib/libmpi.so.40", "");
    const auto preload = [&](const std::vector<std::string> &command) {
        return value(plan_of(command, {{"PATH", folder_.path("mpi/bin")}}), "LD_PRELOAD");
    };
    EXPECT_EQ(preload({"python3"}), lib("libsennit-openmpi.so") + ":" + lib("libsennit-omp.so") +
                                        ":" + folder_.path("mpi/lib/libmpi.so.40"));
    EXPECT_EQ(preload({program("through-middle")}), lib("libsennit-openmpi.so"));
}

TEST_F(Environment, RanksShareTheProcessorsUnlessThreadsAreSaid) {
    const auto threads = [&](int ranks, std::optional<int> processors,
                             std::map<std::string, std::string> outer) {
        Plan made = plan("through-middle");
        set_local_ranks(made, ranks, processors, reader(std::move(outer)));
        return value(made, "OMP_NUM_THREADS");
    };
    EXPECT_EQ(threads(4, 8, {}), "2");
    EXPECT_EQ(threads(3, 8, {}), "2");
    EXPECT_EQ(threads(4, 2, {}), "1");
    EXPECT_EQ(threads(1, 8, {}), "(not set)");
    EXPECT_EQ(threads(4, std::nullopt, {}), "(not set)");
    EXPECT_EQ(threads(4, 8, {{"OMP_NUM_THREADS", "3"}}), "(not set)");
    spec_.threads = 5;
    EXPECT_EQ(threads(4, 8, {}), "5");
}

TEST_F(Environment, AnIncompleteInstallationIsRefusedByName) {
    fs::remove(lib("libsennit-openmpi.so"));
    EXPECT_TRUE(contains(failure_of([&] { plan("through-middle"); }), "libsennit-openmpi.so"));
    EXPECT_EQ(failure_of([&] { plan("openmp-by-runpath"); }), ""); // needs none of it
    fs::remove(lib("omp/libgomp.so.1"));
    EXPECT_TRUE(contains(failure_of([&] { plan("openmp-by-runpath"); }), "lib/omp/libgomp.so.1"));
}

// By a link that stays, and is the same for all that this user starts.
TEST(Installation, InAFolderThatTheLoaderCannotTakeIsReachedByALink) {
    const TemporaryFolder folder;
    for (const char *name : {"my sennit", "a:b;c", "$LIB"}) {
        const std::string home = folder.path(name);
        fs::create_directories(home + "/lib/omp");
        const Installation installation(home);
        const std::string omp = installation.openmp_folder();
        EXPECT_EQ(omp.find_first_of(": ;$"), std::string::npos) << omp;
        EXPECT_TRUE(fs::equivalent(omp, home + "/lib/omp"));
        EXPECT_EQ(Installation(home).openmp_folder(), omp);
        EXPECT_EQ(installation.home(), home);
        fs::remove(fs::path(omp).parent_path().parent_path());
    }
    const std::string plain = folder.path("plain");
    EXPECT_EQ(Installation(plain).library_folder(), plain + "/lib");
}

TEST_F(Environment, AnInstallationWithoutLinksHasThemInAFolderOfTheUsers) {
    fs::remove_all(lib("omp"));
    const Installation made(folder_.path());
    EXPECT_TRUE(fs::equivalent(made.openmp_folder() + "/libgomp.so.1", lib("libsennit-omp.so")));
    EXPECT_TRUE(made.missing_files(nullptr).empty());
    EXPECT_EQ(Installation(folder_.path()).openmp_folder(), made.openmp_folder());
    fs::remove_all(made.openmp_folder());
}

TEST(ShellWords, AreQuotedWhereAShellWouldChangeThem) {
    EXPECT_EQ(shell_words({"./app", "-n", "a=b"}), "./app -n a=b");
    EXPECT_EQ(shell_words({"", "a b", "$x", "it's"}), "'' 'a b' '$x' 'it'\\''s'");
}

// Their folder is on a path that the system bounds; a launcher's name for a job is not.
TEST_F(Environment, JobsWithLongOrStrangeNamesMeetInFoldersOfTheirOwn) {
    const auto job = [&](const std::string &name) {
        return virtual_job(spec_, reader({{"PMIX_NAMESPACE", name}}));
    };
    EXPECT_EQ(job("prterun-node7-1234"), "prterun-node7-1234");
    const std::string host(60, 'h');
    const std::vector<std::string> names = {
        "a@1", "a.1", "a/1", "a-1", "prterun-" + host + "-1@1", "prterun-" + host + "-2@1"};
    std::set<std::string> jobs;
    for (const std::string &name : names) {
        EXPECT_EQ(job(name), job(name));
        EXPECT_LE(job(name).size(), 40U) << name;
        EXPECT_EQ(job(name).find('/'), std::string::npos) << name;
        jobs.insert(job(name));
    }
    EXPECT_EQ(jobs.size(), names.size());
}

} // namespace
} // namespace sennit::tool

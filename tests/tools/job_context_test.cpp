// SPDX-License-Identifier: Apache-2.0
#include "launch/job_context.h"

#include "support.h"

namespace sennit::tool {
namespace {

TEST(JobContext, AnOrdinaryShellIsInNoJob) {
    EXPECT_FALSE(find_job_context(reader({{"PATH", "/bin"}, {"SLURM_JOB_ID", "7"}})));
}

TEST(JobContext, HydraTellsRankAndLocalRanks) {
    const auto job =
        find_job_context(reader({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}}));
    ASSERT_TRUE(job);
    EXPECT_EQ(job->launcher_kind, MpiKind::mpich);
    EXPECT_EQ(job->rank, 3);
    EXPECT_EQ(job->world_size, 4);
    EXPECT_EQ(job->local_size, 2);
}

TEST(JobContext, OpenMpiGoesBeforeThePmixUnderIt) {
    const auto job = find_job_context(reader({{"PMIX_RANK", "1"},
                                              {"OMPI_COMM_WORLD_RANK", "1"},
                                              {"OMPI_COMM_WORLD_SIZE", "8"},
                                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}));
    ASSERT_TRUE(job);
    EXPECT_EQ(job->launcher_kind, MpiKind::openmpi);
    EXPECT_EQ(job->local_size, 4);
}

TEST(JobContext, SlurmCountsTheTasksOfThisNode) {
    const auto job_on = [](const char *node, const char *tasks) {
        return *find_job_context(reader({{"SLURM_PROCID", "6"},
                                         {"SLURM_STEP_ID", "0"},
                                         {"SLURM_STEP_NUM_TASKS", "7"},
                                         {"SLURM_STEP_TASKS_PER_NODE", tasks},
                                         {"SLURM_NODEID", node}}));
    };
    EXPECT_EQ(job_on("3", "2(x3),1").local_size, 1);
    EXPECT_EQ(job_on("2", "2(x3),1").local_size, 2);
    EXPECT_EQ(job_on("4", "2(x3),1").local_size, std::nullopt);
    EXPECT_EQ(job_on("0", "2(xq)").local_size, std::nullopt);
    EXPECT_EQ(job_on("0", "2").world_size, 7);
    EXPECT_EQ(job_on("0", "2").launcher_kind, std::nullopt);
}

TEST(JobContext, JobsThatOneLauncherStartsHaveNames) {
    const auto job_of = [](const char *step, const char *world) {
        return find_job_context(reader({{"SLURM_PROCID", "6"},
                                        {"SLURM_JOB_ID", "12"},
                                        {"SLURM_STEP_ID", step},
                                        {"PMIX_NAMESPACE", world}}))
            ->job;
    };
    EXPECT_EQ(job_of("0", "a"), job_of("0", "a"));
    EXPECT_NE(job_of("0", "a"), job_of("1", "a"));
    EXPECT_NE(job_of("0", "a"), job_of("0", "b"));
}

TEST(JobContext, WhetherSignalsGoToAllProcessesOfARankIsKnownOfSomeLaunchers) {
    EXPECT_TRUE(
        find_job_context(reader({{"PMI_RANK", "0"}, {"MPI_LOCALNRANKS", "2"}}))->signals_all);
    EXPECT_FALSE(find_job_context(reader({{"PMI_RANK", "0"}}))->signals_all);
    EXPECT_FALSE(find_job_context(reader({{"PALS_RANKID", "0"}}))->signals_all);
}

TEST(JobContext, FluxCountsTheRanksOfOneNode) {
    const auto job_on = [](const char *nodes) {
        return *find_job_context(reader({{"FLUX_TASK_RANK", "3"},
                                         {"FLUX_TASK_LOCAL_ID", "1"},
                                         {"FLUX_JOB_SIZE", "4"},
                                         {"FLUX_JOB_NNODES", nodes},
                                         {"PMI_RANK", "3"},
                                         {"SLURM_STEP_ID", "0"},
                                         {"SLURM_LOCALID", "0"},
                                         {"SLURM_PROCID", "0"}}));
    };
    EXPECT_STREQ(job_on("1").launcher, "Flux");
    EXPECT_EQ(job_on("1").rank, 3);
    EXPECT_EQ(job_on("1").local_rank, 1);
    EXPECT_EQ(job_on("1").local_size, 4);
    EXPECT_EQ(job_on("2").world_size, 4);
    EXPECT_EQ(job_on("2").local_size, std::nullopt);
}

TEST(JobContext, PalsCountsTheRanksOfThisNode) {
    const auto job = find_job_context(reader({{"PALS_RANKID", "5"},
                                              {"PALS_LOCAL_RANKID", "1"},
                                              {"PALS_LOCAL_SIZE", "4"},
                                              {"PMI_RANK", "5"},
                                              {"PMI_SIZE", "8"}}));
    ASSERT_TRUE(job);
    EXPECT_EQ(job->rank, 5);
    EXPECT_EQ(job->world_size, 8);
    EXPECT_EQ(job->local_rank, 1);
    EXPECT_EQ(job->local_size, 4);
}

TEST(JobContext, EachLauncherTellsTheRanksOfANodeApart) {
    const auto local = [](const std::map<std::string, std::string> &variables) {
        return find_job_context(reader(variables))->local_rank;
    };
    EXPECT_EQ(local({{"PMI_RANK", "3"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}}), 1);
    EXPECT_EQ(local({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}), 0);
    EXPECT_EQ(local({{"SLURM_PROCID", "6"}, {"SLURM_STEP_ID", "0"}, {"SLURM_LOCALID", "2"}}), 2);
    EXPECT_EQ(local({{"PMI_RANK", "0"}}), std::nullopt);
}

TEST(JobContext, SlurmsBatchScriptIsNoRank) {
    EXPECT_FALSE(find_job_context(reader({{"SLURM_PROCID", "0"}})));
    EXPECT_FALSE(
        find_job_context(reader({{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}})));
}

TEST(JobContext, ARankOfAnotherMpiIsRefused) {
    const auto job =
        find_job_context(reader({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}}));
    EXPECT_TRUE(contains(failure_of([&] { check_job_context(*job, MpiKind::openmpi, {}); }),
                         "start it with Open MPI's mpiexec"));
    EXPECT_EQ(failure_of([&] { check_job_context(*job, MpiKind::mpich, 2); }), "");
    EXPECT_EQ(failure_of([&] { check_job_context(*job, std::nullopt, {}); }), "");
}

TEST(JobContext, AnotherNumberOfRanksIsRefused) {
    const auto job =
        find_job_context(reader({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}}));
    EXPECT_TRUE(
        contains(failure_of([&] { check_job_context(*job, MpiKind::mpich, 4); }), "leave -n away"));
}

} // namespace
} // namespace sennit::tool

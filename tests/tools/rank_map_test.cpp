// SPDX-License-Identifier: Apache-2.0
// The shares of ranks, as `sennit doctor` shows them, on a machine that is described in files.
#include "inspect/rank_map.h"

#include "support.h"

namespace sennit::tool {
namespace {

// Two NUMA domains of four cores each.
class TwoDomains {
  public:
    TwoDomains() {
        write("cpu/online", "0-7");
        for (int cpu = 0; cpu < 8; ++cpu) {
            const std::string at = fmt::format("cpu/cpu{}/topology/", cpu);
            write(at + "thread_siblings_list", std::to_string(cpu));
            write(at + "core_siblings_list", cpu < 4 ? "0-3" : "4-7");
        }
        write("node/online", "0-1");
        write("node/node0/cpulist", "0-3");
        write("node/node1/cpulist", "4-7");
    }
    std::vector<std::string> map(int first, int processors, int ranks) const {
        omp::CpuSet allowed;
        for (int cpu = first; cpu < first + processors; ++cpu)
            allowed.add(cpu);
        return rank_map(allowed, ranks, folder_.path().c_str());
    }

  private:
    void write(const std::string &name, const std::string &text) const {
        std::filesystem::create_directories(
            std::filesystem::path(folder_.path(name)).parent_path());
        folder_.write(name, text + "\n");
    }

    TemporaryFolder folder_;
};

TEST(RankMap, NamesProcessorsAndDomains) {
    const TwoDomains machine;
    using Lines = std::vector<std::string>;
    EXPECT_EQ(machine.map(0, 8, 1), Lines({"processors 0-7, in NUMA domains 0 and 1"}));
    EXPECT_EQ(machine.map(0, 8, 2),
              Lines({"processors 0-3, in NUMA domain 0", "processors 4-7, in NUMA domain 1"}));
    EXPECT_EQ(machine.map(0, 8, 3)[1], "processors 2-4, in NUMA domains 0 and 1");
    EXPECT_EQ(machine.map(4, 4, 4),
              Lines({"processor 4", "processor 5", "processor 6", "processor 7"}));
}

TEST(RankMap, OfManyRanksShowsTheFirstOnes) {
    EXPECT_EQ(TwoDomains().map(0, 8, 100).size(), 64u);
}

TEST(RankMap, OfAMachineThatIsNotDescribedHasProcessorsOnly) {
    omp::CpuSet allowed;
    allowed.add(0);
    allowed.add(1);
    EXPECT_EQ(rank_map(allowed, 2, "/nowhere"),
              std::vector<std::string>({"processor 0", "processor 1"}));
}

} // namespace
} // namespace sennit::tool

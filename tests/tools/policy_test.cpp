// SPDX-License-Identifier: Apache-2.0
#include "launch/policy.h"

#include "support.h"

namespace sennit::tool {
namespace {

TEST(Policy, EveryOneOfThisVersionIsAccepted) {
    for (const char *name :
         {"auto", "fifo", "lifo", "ma1", "ma2", "ma3", "sa", "fa", "steal", "global"})
        EXPECT_EQ(parse_policy(name), name);
}

TEST(Policy, AnUnknownOneIsRefusedWithTheList) {
    for (const char *name : {"nonsense", "", "FIFO", "fifo ", "auto|fifo"}) {
        const std::string text = failure_of([&] { parse_policy(name); });
        EXPECT_TRUE(contains(text, "unknown")) << name;
        EXPECT_TRUE(contains(text, "auto, fifo, lifo, ma1, ma2, ma3, sa, fa, steal, global"))
            << name;
    }
}

TEST(Count, IsAWholeNumberInItsRange) {
    EXPECT_EQ(parse_count("-n", "1", 8), 1);
    EXPECT_EQ(parse_count("-n", "8", 8), 8);
    for (const char *text : {"0", "9", "-3", "", "4x", "x", " 4", "+4", "1.5", "99999999999999"})
        EXPECT_TRUE(contains(failure_of([&] { parse_count("-n", text, 8); }), "from 1 to 8"))
            << text;
}

TEST(MpiOption, AutoLeavesTheChoiceToTheBinary) {
    EXPECT_EQ(parse_mpi("auto"), std::nullopt);
    EXPECT_EQ(parse_mpi("mpich"), MpiKind::mpich);
    EXPECT_EQ(parse_mpi("openmpi"), MpiKind::openmpi);
    EXPECT_TRUE(
        contains(failure_of([] { parse_mpi("lam"); }), "use auto, mpich, openmpi or mpiabi"));
}

} // namespace
} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Names of pools, and how a process takes part in one.
#include "node/pool.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace sennit::node;

class Pool : public testing::Test {
  protected:
    void SetUp() override {
        clear();
        setenv("SENNIT_BOARD", "/somewhere/board", 1);
    }
    void TearDown() override {
        clear();
        unsetenv("SENNIT_BOARD");
    }
    static void clear() {
        for (const char *name : {"SENNIT_POOL", "SENNIT_SHARE", "SENNIT_PRIORITY"})
            unsetenv(name);
    }
    static double share(const char *text) {
        double result = -1;
        return read_share(text, result) ? result : -1;
    }
};

TEST_F(Pool, ANameBecomesAFilesName) {
    for (const char *name : {"a", "night", "pool-2", "v1.5_x", "0123456789012345678901234567890"})
        EXPECT_TRUE(is_pool_name(name)) << name;
    for (const char *name : {"", "a/b", "../x", ".hidden", "-n", "two words", "caf\xc3\xa9", "a\n",
                             "01234567890123456789012345678901"})
        EXPECT_FALSE(is_pool_name(name)) << name;
    char path[kPathRoom];
    pool_path("night", path, sizeof path);
    EXPECT_STREQ(path, "/somewhere/board-pool-night");
}

TEST_F(Pool, AShareIsAFractionOrANumber) {
    EXPECT_DOUBLE_EQ(share("3/4"), 0.75);
    EXPECT_DOUBLE_EQ(share("0.75"), 0.75);
    EXPECT_DOUBLE_EQ(share(".5"), 0.5);
    EXPECT_DOUBLE_EQ(share("2"), 2);
    EXPECT_DOUBLE_EQ(share("1.5/3"), 0.5);
    for (const char *text : {"", "0", "-1", "1/0", "0/4", "3/4/5", "x", "1e3", "nan", "inf", "75%",
                             " 1", "1/", "/2", "9999999999", "."})
        EXPECT_EQ(share(text), -1) << text;
}

TEST_F(Pool, APriorityIsANumberOrLeftover) {
    Precedence read;
    EXPECT_TRUE(read_priority("-3", read));
    EXPECT_EQ(read.priority, -3);
    EXPECT_FALSE(read.leftover);
    EXPECT_TRUE(read_priority("leftover", read));
    EXPECT_TRUE(read.leftover);
    for (const char *text : {"", "high", "1.5", "1 ", "99999999999", "leftovers"})
        EXPECT_FALSE(read_priority(text, read)) << text;
}

TEST_F(Pool, TheEnvironmentSaysHowAProcessTakesPart) {
    Reason bad;
    Membership member = read_membership(bad);
    EXPECT_FALSE(bad) << bad.text;
    EXPECT_FALSE(member.in_pool);
    EXPECT_STREQ(member.path, "/somewhere/board");
    EXPECT_EQ(member.share, 1);

    setenv("SENNIT_POOL", "night", 1);
    setenv("SENNIT_SHARE", "1/4", 1);
    setenv("SENNIT_PRIORITY", "7", 1);
    member = read_membership(bad);
    EXPECT_FALSE(bad) << bad.text;
    EXPECT_TRUE(member.in_pool);
    EXPECT_STREQ(member.path, "/somewhere/board-pool-night");
    EXPECT_EQ(member.share, 0.25);
    EXPECT_EQ(member.precedence.priority, 7);
}

TEST_F(Pool, WhatMakesNoSenseCostsOneLineAndHasNoEffect) {
    const struct {
        const char *variable;
        const char *value;
    } cases[] = {{"SENNIT_POOL", "a/b"}, {"SENNIT_SHARE", "much"}, {"SENNIT_PRIORITY", "high"}};
    for (const auto &[variable, value] : cases) {
        clear();
        setenv(variable, value, 1);
        Reason bad;
        const Membership member = read_membership(bad);
        EXPECT_NE(std::string(bad.text).find(variable), std::string::npos) << bad.text;
        EXPECT_FALSE(member.in_pool);
        EXPECT_EQ(member.share, 1);
        EXPECT_EQ(member.precedence.priority, 0);
    }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// A board of its own for each test about cores that processes share. A Share stands for a process;
// several may be in one here.
#pragma once

#include "node/share.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace sennit::node {

namespace fs = std::filesystem;

inline constexpr std::int64_t kForEver = 100'000'000'000;

class SharedCores : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "sennit-cores-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        Reason reason;
        ASSERT_TRUE(board_.open((folder_ + "/board").c_str(), reason)) << reason.text;
    }
    void TearDown() override {
        board_.close();
        fs::remove_all(folder_);
    }

    // One that takes part, on the cores 0 to `cores` - 1. The main thread of a test often holds
    // cores of several, and sleeps when the system says so: only tests of sleepers tell threads.
    struct Process {
        Board &board;
        BoardSlot *slot;
        Share share;
        Process(Board &its, std::uint64_t job, int cores, bool tells_threads = false) : board(its) {
            ProcessInfo member;
            for (int core = 0; core < cores; ++core)
                member.cores.add(core);
            slot = board.join(job, member);
            share.set_patience(kForEver);
            if (!tells_threads)
                share.hide_threads();
            share.begin(board, *slot);
        }
        ~Process() {
            share.end();
            board.leave(*slot);
        }
        Process(const Process &) = delete;
        Process &operator=(const Process &) = delete;
        int wants() const { return board.core_table().wants(board.number_of(*slot)); }
    };
    int used() {
        int count = 0;
        for (int core = 0; core < board_.core_table().end(); ++core)
            count += board_.core_table().state(core).user != kNobody;
        return count;
    }

    std::string folder_;
    Board board_;
};

} // namespace sennit::node

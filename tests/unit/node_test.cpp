// SPDX-License-Identifier: Apache-2.0
// The board of a node: who joins, leaves, dies; and the doorbells.
#include "base/compiler.h"
#include "node/board.h"
#include "node/identity.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// What others do just before this thread's next flock.
thread_local std::function<void()> g_before_lock;

} // namespace

// In place of libc's.
extern "C" int flock(int file, int operation) noexcept {
    if (const auto others = std::exchange(g_before_lock, nullptr))
        others();
    return static_cast<int>(syscall(SYS_flock, file, operation));
}

namespace {

using namespace sennit::node;
using sennit::wait::Bell;
namespace fs = std::filesystem;

class Node : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "sennit-node-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        path_ = folder_ + "/board";
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::unique_ptr<Board> open() {
        auto board = std::make_unique<Board>();
        Reason reason;
        EXPECT_TRUE(board->open(path_.c_str(), reason)) << reason.text;
        return board;
    }
    std::string refusal() {
        Board board;
        Reason reason;
        EXPECT_FALSE(board.open(path_.c_str(), reason));
        return reason.text;
    }
    static int members(Board &board, std::uint64_t job) {
        int count = 0;
        board.each([&](int, const BoardSlot &slot) { count += slot.job.load() == job; });
        return count;
    }

    std::string folder_;
    std::string path_;
};

// A process of its own that does `work`, and then waits to be killed, or runs another program.
class Process {
  public:
    explicit Process(const std::function<bool()> &work, const char *program = nullptr) {
        int said[2];
        if (pipe(said) != 0)
            std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            const char well = work() ? 'y' : 'n';
            if (write(said[1], &well, 1) != 1)
                _exit(1);
            if (program)
                execlp(program, program, "1000", nullptr);
            for (;;)
                pause();
        }
        char answer = 'n';
        EXPECT_EQ(read(said[0], &answer, 1), 1);
        EXPECT_EQ(answer, 'y');
        close(said[0]);
        close(said[1]);
    }
    ~Process() { kill_it(); }
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    void kill_it(bool reap = true) {
        if (pid_ > 0)
            kill(pid_, SIGKILL);
        if (pid_ > 0 && !reap) { // a zombie
            siginfo_t ended{};
            waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
            return;
        }
        if (pid_ > 0)
            waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

ProcessInfo member(int rank) {
    ProcessInfo made;
    made.rank = rank;
    return made;
}

// A board whose only process was killed.
void leave_unused(const std::string &path) {
    const Process killed([&] {
        Board board;
        Reason reason;
        return board.open(path.c_str(), reason);
    });
}

TEST_F(Node, MembersAreSeenUntilTheyLeave) {
    const auto board = open();
    const auto other = open();
    BoardSlot *const one = board->join(7, member(1));
    BoardSlot *const two = other->join(7, member(2));
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    int ranks = 0;
    board->each([&](int, const BoardSlot &slot) {
        EXPECT_EQ(slot.job.load(), 7U);
        ranks += slot.member.rank;
    });
    EXPECT_EQ(ranks, 3);
    other->leave(*two);
    EXPECT_EQ(members(*board, 7), 1);
    board->leave(*one);
    board->close();
    EXPECT_TRUE(fs::exists(path_));
    other->close();
    EXPECT_FALSE(fs::exists(path_)) << "the last one removes it";
}

// exec() keeps the process's number and the time of its start.
TEST_F(Node, WhatTheProgramBeforeExecLeftIsFreed) {
    const auto board = open();
    BoardSlot *const past = board->join(7, member(1));
    past->image ^= 1;
    past->cores.counts.store(1);
    BoardSlot *const now = board->join(8, member(1));
    EXPECT_EQ(now, past);
    EXPECT_EQ(members(*board, 7), 0);
    EXPECT_EQ(members(*board, 8), 1);
    board->leave(*now);
    board->close();
}

// A thread of it was sweeping the slot of a dead process, or taking a free one, when another one
// called exec(): the slot is the process's, has no job, and tells of whoever had it before.
TEST_F(Node, WhatWasInHandsWhenExecCameIsFreed) {
    const auto board = open();
    for (int i = 0; i < 2; ++i) {
        BoardSlot &left = board->slot(i);
        left.holder.store(own_identity());
        left.image = i == 0 ? own_image() ^ 1 : 0;
        left.cores.counts.store(i == 0 ? 1 : 0);
    }
    BoardSlot *const now = board->join(8, member(1));
    ASSERT_NE(now, nullptr);
    EXPECT_EQ(board->number_of(*now), 0) << "the first one was freed";
    EXPECT_EQ(now->cores.counts.load(), 0U) << "with what was in it";
    EXPECT_EQ(board->slot(1).holder.load(), 0U);
    // Who shares cores sweeps, also by another library of the process, which has no lock of ours.
    now->cores.counts.store(1);
    BoardSlot &swept = board->slot(1);
    swept.image = own_image() ^ 1;
    swept.holder.store(own_identity());
    BoardSlot *const second = board->join(9, member(1));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(board->number_of(*second), 2) << "nobody takes from its hands what is swept just now";
    swept.holder.store(0);
    board->leave(*second);
    board->leave(*now);
    board->close();
}

TEST_F(Node, ModeIsForTheUserAlone) {
    const mode_t before = umask(0);
    const auto board = open();
    umask(before);
    struct stat facts{};
    ASSERT_EQ(stat(path_.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U);
    board->close();
}

TEST_F(Node, WhoIsKilledIsSwept) {
    const auto board = open();
    Process other([&] {
        Board theirs;
        Reason reason;
        return theirs.open(path_.c_str(), reason) && theirs.join(7, member(1));
    });
    EXPECT_EQ(members(*board, 7), 1);
    EXPECT_EQ(board->sweep(), 0) << "it lives";
    kill(other.pid(), SIGSTOP);
    EXPECT_EQ(board->sweep(), 0) << "it is stopped, and lives";
    other.kill_it(false);
    EXPECT_EQ(board->sweep(), 1) << "nobody has waited for it, but it has ended";
    EXPECT_EQ(members(*board, 7), 0);
    EXPECT_EQ(board->sweep(), 0);
    board->close();
}

// The process lives on. It tells nobody of the other program, which knows of no board.
TEST_F(Node, WhoRunsAnotherProgramIsSwept) {
    const auto board = open();
    const Process other(
        [&] {
            Board theirs;
            Reason reason;
            return theirs.open(path_.c_str(), reason) && theirs.join(7, member(1));
        },
        "sleep");
    int freed = 0;
    for (int i = 0; i < 6000 && freed == 0; ++i) {
        freed = board->sweep();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(members(*board, 7), 0);
    EXPECT_EQ(waitpid(other.pid(), nullptr, WNOHANG), 0) << "it has ended";
    board->close();
}

TEST_F(Node, AFullBoardRefusesUntilSomebodyDies) {
    const auto board = open();
    Process other([&] {
        Board theirs;
        Reason reason;
        return theirs.open(path_.c_str(), reason) && theirs.join(7, member(0));
    });
    int taken = 1;
    while (BoardSlot *slot = board->join(8, member(taken))) {
        ASSERT_NE(slot, nullptr);
        ASSERT_LT(++taken, kMostSlots + 1);
    }
    EXPECT_EQ(taken, kMostSlots);
    other.kill_it();
    EXPECT_NE(board->join(8, member(0)), nullptr);
    EXPECT_EQ(board->join(8, member(0)), nullptr);
    board->close();
}

TEST_F(Node, WhatKilledProcessesLeaveIsBegunAnew) {
    {
        Process other([&] {
            Board theirs;
            Reason reason;
            return theirs.open(path_.c_str(), reason) && theirs.join(7, member(1));
        });
    }
    ASSERT_TRUE(fs::exists(path_));
    const auto board = open();
    EXPECT_EQ(members(*board, 7), 0);
    board->close();
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Node, ALauncherRemovesWhatKilledProcessesLeave) {
    const auto used = open();
    remove_unused(path_.c_str());
    EXPECT_TRUE(fs::exists(path_)) << "it is in use";
    used->close();
    EXPECT_FALSE(fs::exists(path_));
    leave_unused(path_);
    EXPECT_TRUE(fs::exists(path_));
    remove_unused(path_.c_str());
    EXPECT_FALSE(fs::exists(path_));
    remove_unused(path_.c_str()); // nothing there
}

// It finds the file that a killed process has left. Before it has the lock, others take that file
// over, leave it, and make a new one.
TEST_F(Node, WhatOthersHaveMadeMeanwhileIsNotRemoved) {
    leave_unused(path_);
    std::unique_ptr<Board> board;
    g_before_lock = [&] {
        open()->close();
        ASSERT_FALSE(fs::exists(path_));
        board = open();
    };
    remove_unused(path_.c_str());
    ASSERT_TRUE(board);
    EXPECT_TRUE(fs::exists(path_)) << "the file of a board in use is gone";
    board->close();
    EXPECT_FALSE(fs::exists(path_));
}

// Nor is it a board that is only about to be begun: whoever has made the file finds it again.
TEST_F(Node, WhatOthersBeginMeanwhileIsNotRemoved) {
    leave_unused(path_);
    g_before_lock = [&] {
        fs::remove(path_);
        close(::open(path_.c_str(), O_CREAT | O_RDWR, 0600));
    };
    remove_unused(path_.c_str());
    EXPECT_TRUE(fs::exists(path_));
}

TEST_F(Node, ALongPathIsTheWholePath) {
    const std::string folder = folder_ + "/" + std::string(200, 'a') + "/" + std::string(200, 'b');
    fs::create_directories(folder);
    setenv("SENNIT_BOARD", (folder + "/board").c_str(), 1);
    char path[kPathRoom];
    board_path(path, sizeof path);
    EXPECT_EQ(path, folder + "/board");
    path_ = path;
    open()->close();
    setenv("SENNIT_BOARD", ("/tmp/" + std::string(5000, 'a')).c_str(), 1);
    board_path(path, sizeof path);
    path_ = path;
    EXPECT_NE(refusal().find("too long"), std::string::npos) << refusal();
    unsetenv("SENNIT_BOARD");
}

TEST_F(Node, AForeignFileIsRefused) {
    const int file = ::open(path_.c_str(), O_CREAT | O_RDWR, 0644);
    ASSERT_GE(file, 0);
    ASSERT_EQ(fchmod(file, 0644), 0);
    close(file);
    EXPECT_NE(refusal().find("open to others"), std::string::npos) << refusal();
    fs::remove(path_);
    {
        std::ofstream text(path_);
        text << "what somebody has written";
    }
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
    EXPECT_NE(refusal().find("no board of Sennit's"), std::string::npos) << refusal();
    remove_unused(path_.c_str());
    EXPECT_EQ(fs::file_size(path_), 25U) << "nobody touches it";
    fs::remove(path_);
    fs::create_symlink(folder_ + "/elsewhere", path_);
    EXPECT_NE(refusal().find("cannot be opened"), std::string::npos) << refusal();
    EXPECT_FALSE(fs::exists(folder_ + "/elsewhere"));
}

TEST_F(Node, ABoardOfAnotherVersionInUseIsRefused) {
    Segment theirs;
    Reason reason;
    ASSERT_TRUE(theirs.open(path_.c_str(), 4096, [](void *) {}, reason)) << reason.text;
    EXPECT_NE(refusal().find("another version"), std::string::npos) << refusal();
    theirs.close();
    open()->close(); // out of use, it is begun anew
}

TEST_F(Node, NoFolderNoBoard) {
    path_ = folder_ + "/missing/board";
    EXPECT_NE(refusal().find("cannot be opened"), std::string::npos) << refusal();
}

TEST_F(Node, AFileWithoutANameWillDo) {
    const int file = memfd_create("board", 0);
    ASSERT_GE(file, 0);
    path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
    EXPECT_FALSE(is_in_use(path_.c_str()));
    const auto board = open();
    EXPECT_TRUE(is_in_use(path_.c_str()));
    Process other([&] {
        Board theirs;
        Reason reason;
        return theirs.open(path_.c_str(), reason) && theirs.join(7, member(1));
    });
    EXPECT_EQ(members(*board, 7), 1);
    board->close();
    close(file);
}

// The launcher's number may be another process's here, or nobody's.
TEST_F(Node, OnlyMemoryIsAFileWithoutAName) {
    const int file = ::open(path_.c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(file, 0);
    const std::string name = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
    Board board;
    Reason reason;
    EXPECT_FALSE(board.open(name.c_str(), reason));
    EXPECT_NE(std::strstr(reason.text, "no memory of a launcher's"), nullptr) << reason.text;
    EXPECT_EQ(fs::file_size(path_), 0U) << "nobody touches it";
    const int memory = memfd_create("board", 0);
    const std::string kept = "/proc/self/fd/" + std::to_string(memory);
    char path[kPathRoom];
    for (const std::string &given : {name, kept}) {
        setenv("SENNIT_BOARD", given.c_str(), 1);
        board_path(path, sizeof path);
        EXPECT_EQ(path == given, given == kept) << path;
    }
    unsetenv("SENNIT_BOARD");
    close(memory);
    close(file);
}

// Groups of processes, as the system's files show them, of either version.
TEST_F(Node, TheTimeThatAContainerMayUseIsALimit) {
    const auto write = [&](const std::string &name, const char *text) {
        const fs::path path = folder_ + "/cgroup/" + name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    };
    setenv("SENNIT_SYSTEM_FILES", folder_.c_str(), 1);
    EXPECT_EQ(quota(), 0) << "nothing is said";
    write("self", "0::/outer/inner");
    EXPECT_EQ(quota(), 0);
    write("outer/inner/cpu.max", "max 100000");
    EXPECT_EQ(quota(), 0);
    EXPECT_EQ(within_quota(8), 8);
    write("outer/cpu.max", "150000 100000");
    EXPECT_EQ(quota(), 2);
    EXPECT_EQ(within_quota(8), 2);
    EXPECT_EQ(within_quota(1), 1);
    write("self", "7:cpuset:/\n4:cpu,cpuacct:/batch/job\n1:name=systemd:/outer");
    EXPECT_EQ(quota(), 0);
    write("cpu,cpuacct/batch/job/cpu.cfs_quota_us", "-1");
    write("cpu,cpuacct/batch/job/cpu.cfs_period_us", "50000");
    EXPECT_EQ(quota(), 0);
    write("cpu,cpuacct/batch/job/cpu.cfs_quota_us", "150000");
    EXPECT_EQ(quota(), 3);
    unsetenv("SENNIT_SYSTEM_FILES");
}

TEST_F(Node, ManyComeAndGo) {
#ifdef SENNIT_TSAN // which keeps memory for each mapping that there was, 24 GB for so many
    constexpr int rounds = 300;
#else
    constexpr int rounds = 3400;
#endif
    const auto board = open();
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < rounds; ++i) {
                Board mine;
                Reason reason;
                ASSERT_TRUE(mine.open(path_.c_str(), reason)) << reason.text;
                BoardSlot *const slot = mine.join(9, member(t));
                ASSERT_NE(slot, nullptr);
                mine.each([&](int, BoardSlot &other) { other.bell.ring(); });
                mine.leave(*slot);
                mine.close();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(members(*board, 9), 0);
    board->close();
    EXPECT_FALSE(fs::exists(path_));
}

TEST(Identity, OfAProcessThatEndsAndOfAnother) {
    const Identity own = own_identity();
    EXPECT_EQ(pid_of(own), getpid());
    EXPECT_TRUE(is_alive(own));
    EXPECT_FALSE(is_alive(own + 1)) << "the same number, another start";
    EXPECT_FALSE(is_alive(0));
    constexpr int start_bits = 22, program_bits = 20;
    constexpr Identity program = ((Identity{1} << program_bits) - 1) << start_bits;
    EXPECT_NE(own & program, 0U);
    EXPECT_FALSE(is_alive(own ^ program)) << "the same process, another program";
    EXPECT_TRUE(is_alive(own & ~program)) << "a program that is not known may be this one";
}

// Every message is received, though nobody sleeps with a timer shorter than the test.
TEST(Bell, NoRingIsLost) {
    constexpr int messages = 20'000;
    constexpr std::int64_t for_ever = 60'000'000'000;
    Bell bells[2];
    std::atomic<int> sent[2] = {0, 0};
    const auto receive = [&](int side, int number) {
        for (;;) {
            if (sent[side].load(std::memory_order_relaxed) >= number)
                return true;
            const std::uint32_t seen = bells[side].arm();
            if (sent[side].load(std::memory_order_relaxed) >= number)
                return true;
            if (!bells[side].sleep(seen, for_ever))
                return sent[side].load() >= number;
        }
    };
    const auto send = [&](int side, int number) {
        sent[side].store(number, std::memory_order_relaxed);
        bells[side].ring();
    };
    std::thread other([&] {
        for (int i = 1; i <= messages; ++i) {
            ASSERT_TRUE(receive(1, i));
            send(0, i);
        }
    });
    for (int i = 1; i <= messages; ++i) {
        send(1, i);
        ASSERT_TRUE(receive(0, i));
    }
    other.join();
}

TEST(Bell, RingsWithoutSleepersCostNoCall) {
    Bell bell;
    EXPECT_FALSE(bell.ring());
    const std::uint32_t seen = bell.arm();
    EXPECT_TRUE(bell.armed());
    EXPECT_TRUE(bell.ring());
    EXPECT_FALSE(bell.ring()) << "one ring is enough";
    EXPECT_TRUE(bell.sleep(seen, 60'000'000'000)) << "it has rung since";
    EXPECT_FALSE(bell.sleep(bell.arm(), 1000));
}

// ---- where ranks meet ---------------------------------------------------------------------------

TEST_F(Node, APlaceToMeetIsForOneJob) {
    const auto board = open();
    ASSERT_NE(board->join(7, member(0)), nullptr);
    ASSERT_NE(board->join(8, member(0)), nullptr);
    Assembly *const one = board->claim_assembly(7);
    Assembly *const two = board->claim_assembly(8);
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    EXPECT_NE(one, two);
    EXPECT_EQ(&board->assembly(board->number_of(*two)), two);
    one->release();
    EXPECT_EQ(board->claim_assembly(8), one);
    board->close();
}

TEST_F(Node, TheLastMemberToLeaveGivesAPlaceBack) {
    const auto board = open();
    ASSERT_NE(board->join(7, member(0)), nullptr);
    Assembly *const one = board->claim_assembly(7);
    one->begin(3);
    one->leave();
    one->leave();
    EXPECT_EQ(one->job(), 7U);
    EXPECT_NE(board->claim_assembly(7), one);
    one->leave();
    EXPECT_EQ(board->claim_assembly(7), one);
    board->close();
}

TEST_F(Node, PlacesOfJobsThatLiveAreKeptAndThoseOfTheDeadAreNot) {
    const auto board = open();
    ASSERT_NE(board->join(8, member(0)), nullptr);
    const auto dead = [&](std::uint64_t job) {
        return std::make_unique<Process>([&, job] {
            Board theirs;
            Reason reason;
            return theirs.open(path_.c_str(), reason) && theirs.join(job, member(0)) &&
                   theirs.claim_assembly(job);
        });
    };
    const auto other = dead(7);
    int claimed = 1;
    while (board->claim_assembly(8))
        ASSERT_LT(++claimed, 1000);
    Assembly *theirs = nullptr;
    for (int i = 0; i < claimed; ++i)
        if (board->assembly(i).job() == 7)
            theirs = &board->assembly(i);
    other->kill_it();
    EXPECT_EQ(board->claim_assembly(8), theirs);
    EXPECT_EQ(board->claim_assembly(8), nullptr);
    board->close();
}

TEST_F(Node, ASlotsPartHasComeToNoCallOfThisProcess) {
    const auto board = open();
    BoardSlot *const slot = board->join(7, member(0));
    ASSERT_NE(slot, nullptr);
    const int number = board->number_of(*slot);
    board->part(number).came.store(1);
    board->part(number).posted[3].post(1, 7);
    board->leave(*slot);
    BoardSlot *const next = board->join(8, member(0));
    ASSERT_EQ(board->number_of(*next), number);
    EXPECT_FALSE(board->part(number).has_come(1));
    EXPECT_EQ(board->part(number).posted[3].call_if_posted(1), 0U);
    board->close();
}

} // namespace

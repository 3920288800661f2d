// SPDX-License-Identifier: Apache-2.0
// Processes that share cores on one board, and are killed: whatever they were doing, nothing of
// theirs stays behind.
//
// 1. Threads join and leave, without being killed.
// 2. A process that joins, leaves, takes and gives cores, or sweeps is stepped through it by
//    ptrace(2), and killed after so many instructions: each number in turn, or as many as there is
//    time for. (Left out where the system does not allow that.)
// 3. Members run two threads each that take, rest with, leave, lend and ask for cores; some join
//    and leave all the time, and sweep. The parent kills one of them (SIGKILL) at random moments,
//    and forks another one. Now and then it stops killing until every core is owned by a living
//    member again.
//
// After each kill of 2., and at the end of 3., the parent sweeps, joins, and looks for what is
// left.
//
// Usage: board-stress [--joins N] [--steps N] [--kills N] [--members N] [--seed N]
#include "node/look.h"
#include "node/share.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace sennit::node;
using Random = std::mt19937_64;

constexpr int kCores = 4;
constexpr int kThreads = 2;
constexpr std::int64_t kPatienceNs = 2'000'000;
constexpr int kQuietMs = 60'000; // for owners to come back on a busy machine

[[noreturn]] void fail(const std::string &text) {
    std::fprintf(stderr, "board-stress: %s\n", text.c_str());
    std::exit(1);
}

ProcessInfo member() {
    ProcessInfo made;
    for (int core = 0; core < kCores; ++core)
        made.cores.add(core);
    return made;
}

// What its processes count together.
struct Tally {
    std::atomic<long> joins;
    std::atomic<long> takes;
};

void open(Board &board, const std::string &path) {
    Reason reason;
    if (!board.open(path.c_str(), reason))
        fail(reason.text);
}

// ---- a member -----------------------------------------------------------------------------------

void compute(Random &random) {
    for (auto turns = random() % 2000; turns > 0; --turns)
        asm volatile("");
}

void use_cores(Share &share, int rounds, std::uint64_t seed, Tally &tally) {
    Random random(seed);
    while (rounds-- > 0) {
        Hold hold = share.take(static_cast<int>(random() % kCores));
        ++tally.takes;
        for (auto points = random() % 8; points > 0; --points) {
            compute(random);
            if (share.is_to_leave(hold))
                hold = share.leave(hold);
        }
        switch (random() % 4) {
        case 0:
            share.rest(hold);
            compute(random);
            share.give(share.go_on(hold, kNobody));
            break;
        case 1:
            share.rest(hold);
            share.sleep(hold);
            break;
        case 2:
            share.ask(static_cast<int>(random() % kCores));
            [[fallthrough]];
        default:
            share.give(hold);
        }
    }
}

// From its join to its leave. `rounds` 0: it does nothing else.
void take_part(Board &board, int rounds, Random &random, Tally &tally) {
    BoardSlot *const slot = board.join(1 + random() % 1000, member());
    if (!slot)
        fail("the board is full");
    Share share;
    share.set_patience(kPatienceNs);
    share.begin(board, *slot);
    std::vector<std::thread> threads;
    for (int thread = 1; rounds > 0 && thread < kThreads; ++thread)
        threads.emplace_back(use_cores, std::ref(share), rounds, random(), std::ref(tally));
    use_cores(share, rounds, random(), tally);
    for (std::thread &thread : threads)
        thread.join();
    share.end();
    board.leave(*slot);
    ++tally.joins;
}

[[noreturn]] void be_member(const std::string &path, std::uint64_t seed, Tally &tally) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Random random(seed);
    Board board;
    open(board, path);
    const bool only_joins = random() % 3 == 0;
    for (;;) {
        take_part(board, only_joins ? static_cast<int>(random() % 2) : 100, random, tally);
        if (only_joins && board.sweep() > 0)
            divide_cores(board);
    }
}

// ---- what is left -------------------------------------------------------------------------------

// Nobody but the caller lives on the board.
void check_nothing_is_left(Board &board, const std::string &when) {
    const auto wrong = [&](const char *what, int number, const char *how) {
        fail(when + ": " + what + " " + std::to_string(number) + " " + how);
    };
    board.sweep();
    BoardSlot *const slot = board.join(7, member());
    if (!slot)
        fail(when + ": the board is full");
    Share share;
    share.begin(board, *slot);
    const CoreTable &table = board.core_table();
    const int own = board.number_of(*slot);
    for (int core = 0; core < table.end(); ++core) {
        const CoreState state = table.state(core);
        if (state.user != kNobody || state.recalled || state.rests)
            wrong("core", core, "is used by nobody");
        if (state.owner != own)
            wrong("core", core, "has an owner who is gone");
    }
    for (int number = 0; number < kMostSlots; ++number) {
        if (table.wants(number) != 0)
            wrong("slot", number, "wants cores, and is nobody's");
        if (number != own && board.slot(number).holder.load() != 0)
            wrong("slot", number, "is still taken");
    }
    if (table.anybody_wants())
        fail(when + ": a bit says that somebody wants a core, and nobody does");
    share.end();
    board.leave(*slot);
}

// ---- killed at each instruction -----------------------------------------------------------------

// A process that is to be killed in `act`.
struct Victim {
    Board board;
    BoardSlot *slot = nullptr;
    Share share;
    Hold holds[2];

    explicit Victim(const std::string &path) { open(board, path); }
    void join() {
        slot = board.join(9, member());
        share.set_patience(kPatienceNs);
        share.begin(board, *slot);
    }
    void take() {
        for (Hold &hold : holds)
            hold = share.take(kNobody);
        board.core_table().want(board.number_of(*slot)); // as a third thread would
    }
    void use() {
        Hold hold = share.take(kNobody);
        share.rest(hold);
        hold = share.go_on(hold, kNobody);
        board.core_table().recall(hold.core, kNobody);
        share.give(share.leave(hold));
        share.ask(1);
    }
};

struct Act {
    const char *name;
    void (*prepare)(Victim &);
    void (*act)(Victim &);
    bool finds_a_dead_one = false;
};

constexpr auto kNothing = [](Victim &) {};
const Act kActs[] = {
    {"join", kNothing, [](Victim &victim) { victim.join(); }},
    {"leave",
     [](Victim &victim) {
         victim.join();
         victim.take();
     },
     [](Victim &victim) { victim.board.leave(*victim.slot); }},
    {"use", [](Victim &victim) { victim.join(); }, [](Victim &victim) { victim.use(); }},
    {"sweep", kNothing,
     [](Victim &victim) {
         if (victim.board.sweep() > 0)
             divide_cores(victim.board);
     },
     true},
};

// It stops before it acts, and when it has.
[[noreturn]] void be_victim(const std::string &path, const Act &act) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Victim victim(path);
    act.prepare(victim);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
        _exit(1);
    raise(SIGSTOP);
    act.act(victim);
    raise(SIGSTOP);
    _exit(0);
}

// How many of so many instructions it has had when it stops: less, if that was the end of the act.
// kNotAllowed: the system lets nobody do this.
constexpr long kNotAllowed = -1;

long step(pid_t victim, long instructions) {
    int how = 0;
    if (waitpid(victim, &how, 0) != victim || !WIFSTOPPED(how))
        return kNotAllowed;
    for (long done = 0; done < instructions; ++done) {
        if (ptrace(PTRACE_SINGLESTEP, victim, nullptr, nullptr) != 0 ||
            waitpid(victim, &how, 0) != victim || !WIFSTOPPED(how))
            return kNotAllowed;
        if (WSTOPSIG(how) == SIGSTOP)
            return done;
    }
    return instructions;
}

void bury(pid_t one) {
    kill(one, SIGKILL);
    waitpid(one, nullptr, 0);
}

// Who lies dead on the board: it had cores, and wanted one.
void leave_a_dead_one(const std::string &path) {
    int said[2];
    if (pipe(said) != 0)
        fail("no pipe");
    const pid_t child = fork();
    if (child == 0) {
        Victim victim(path);
        victim.join();
        victim.take();
        _exit(write(said[1], "x", 1) == 1 && pause() == 0 ? 0 : 1);
    }
    char word = 0;
    if (read(said[0], &word, 1) != 1)
        fail("nobody to kill");
    close(said[0]);
    close(said[1]);
    bury(child);
}

// Returns what step() does.
long kill_after(const std::string &path, const Act &act, long instructions) {
    if (act.finds_a_dead_one)
        leave_a_dead_one(path);
    const pid_t victim = fork();
    if (victim == 0)
        be_victim(path, act);
    const long stepped = step(victim, instructions);
    bury(victim);
    return stepped;
}

// Of each act, at instructions from its first to its last one: at as many as make some `steps` in
// all. Returns how many kills that were.
long kill_at_each_instruction(const std::string &path, long steps, Random &random) {
    constexpr long kEndless = 1'000'000;
    Board board;
    open(board, path);
    long killed = 0;
    for (const Act &act : kActs) {
        const long all = kill_after(path, act, kEndless);
        if (all == kNotAllowed) {
            std::printf("no stepping through other processes here\n");
            break;
        }
        const long stride = 1 + all * all / 2 / steps;
        for (long from = 0; from < all; from += stride, ++killed) {
            const long at = from + static_cast<long>(random() % static_cast<std::uint64_t>(stride));
            kill_after(path, act, at);
            check_nothing_is_left(board, std::string(act.name) + ", killed after " +
                                             std::to_string(at) + " of " + std::to_string(all) +
                                             " instructions");
        }
        std::printf("%s: killed at each %ld of %ld instructions\n", act.name, stride, all);
    }
    board.close();
    return killed;
}

// ---- the parent ---------------------------------------------------------------------------------

class Crowd {
  public:
    Crowd(std::string path, int members, std::uint64_t seed, Tally &tally)
        : path_(std::move(path)), random_(seed), tally_(tally),
          members_(static_cast<std::size_t>(members)) {
        open(board_, path_);
        for (pid_t &one : members_)
            one = begin();
    }

    void kill_some(int kills) {
        for (int killed = 1; killed <= kills; ++killed) {
            usleep(static_cast<useconds_t>(random_() % 3000));
            pid_t &one = members_[random_() % members_.size()];
            end(one);
            one = begin();
            if (killed % 100 == 0)
                wait_for_owners();
        }
    }

    void check_what_is_left() {
        for (const pid_t one : members_)
            end(one);
        check_nothing_is_left(board_, "at the end");
        board_.close();
    }

  private:
    pid_t begin() {
        const std::uint64_t seed = random_();
        const pid_t child = fork();
        if (child == 0)
            be_member(path_, seed, tally_);
        if (child < 0)
            fail(std::string("fork: ") + std::strerror(errno));
        return child;
    }

    static void end(pid_t one) {
        kill(one, SIGKILL);
        int how = 0;
        if (waitpid(one, &how, 0) != one || !WIFSIGNALED(how))
            fail("a member has ended by itself");
    }

    bool all_are_owned() {
        const CoreTable &table = board_.core_table();
        for (int core = 0; core < kCores; ++core) {
            const int owner = table.state(core).owner;
            if (owner == kNobody || board_.slot(owner).job.load() == 0 ||
                !is_alive(board_.slot(owner).holder.load()))
                return false;
        }
        return true;
    }

    // By the members alone: the parent does not sweep.
    void wait_for_owners() {
        for (int waited = 0; !all_are_owned(); ++waited) {
            if (waited > kQuietMs)
                fail("a core is owned by nobody who lives, for a minute");
            usleep(1000);
        }
    }

    std::string path_;
    Random random_;
    Tally &tally_;
    std::vector<pid_t> members_;
    Board board_;
};

// Of threads of this process: `joins` in all.
void only_join(const std::string &path, int joins, std::uint64_t seed, Tally &tally) {
    constexpr int kJoiners = 3;
    Board board;
    open(board, path);
    std::vector<std::thread> threads;
    for (int one = 0; one < kJoiners; ++one)
        threads.emplace_back([&, one] {
            Random random(seed + static_cast<std::uint64_t>(one));
            for (int i = one; i < joins; i += kJoiners)
                take_part(board, 0, random, tally);
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int core = 0; core < kCores; ++core)
        if (board.core_table().state(core).user != kNobody)
            fail("core " + std::to_string(core) + " is used by nobody");
    board.each(
        [](int number, BoardSlot &) { fail("slot " + std::to_string(number) + " is taken"); });
    board.close();
}

} // namespace

int main(int count, char **arguments) {
    long joins = 10'000, steps = 50'000, kills = 300, members = 6, seed = 1;
    for (int i = 1; i + 1 < count; i += 2)
        for (const auto &[name, value] : {std::pair<const char *, long *>{"--kills", &kills},
                                          {"--joins", &joins},
                                          {"--steps", &steps},
                                          {"--members", &members},
                                          {"--seed", &seed}})
            if (std::strcmp(arguments[i], name) == 0)
                *value = std::atol(arguments[i + 1]);
    std::string folder = std::filesystem::temp_directory_path() / "sennit-stress-XXXXXX";
    if (!mkdtemp(folder.data()))
        fail("no folder for the board");
    const std::string path = folder + "/board";
    void *const shared =
        mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("no memory");
    Tally &tally = *new (shared) Tally{};
    only_join(path, static_cast<int>(joins), static_cast<std::uint64_t>(seed), tally);
    Random random(static_cast<std::uint64_t>(seed));
    const long stepped = steps > 0 ? kill_at_each_instruction(path, steps, random) : 0;
    {
        Crowd crowd(path, static_cast<int>(members), static_cast<std::uint64_t>(seed), tally);
        crowd.kill_some(static_cast<int>(kills));
        crowd.check_what_is_left();
    }
    std::filesystem::remove_all(folder);
    std::printf(
        "killed at %ld instructions and %ld moments, %ld joins, %ld cores taken: nothing left "
        "behind\n",
        stepped, kills, tally.joins.load(), tally.takes.load());
    return 0;
}

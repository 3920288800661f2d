// SPDX-License-Identifier: Apache-2.0
// The table of waits: one row for each kind, with what it was measured by. ladder.h climbs it;
// docs/dev/waiting.md tells whom each row is for, and who ends the wait.
//
// Invariant: how often a wait tests, yields and naps is its row, and it has no numbers of its own.
// Some rows are of waits that climb no ladder, for they are made of one rung.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit::wait {

// How the naps of one wait follow each other.
struct Naps {
    std::int64_t shortest_ns;
    std::int64_t longest_ns;
    int part = 1;         // a nap is longer than the last one by this part of it
    bool of_wait = false; // a nap is this part of the time that the thread has waited

    constexpr std::int64_t after(std::int64_t nap_ns) const {
        return std::min(nap_ns + nap_ns / part, longest_ns);
    }
    constexpr std::int64_t of(std::int64_t waited_ns) const {
        return std::clamp(waited_ns / part, shortest_ns, longest_ns);
    }
};

inline constexpr int kAnyNumber = -1;

// Zeros leave out a rung. Tests are those in vain.
struct LadderRow {
    int tests = 0;             // whatever others need
    int idle_tests = 0;        // in all, while nobody else has a use for the processor
    std::int64_t idle_ns = 0;  // and no longer; 0: as many as there are
    std::int64_t yield_ns = 0; // then the thread yields between two tests
    int tests_of_ring = 0;     // after a ring, before it sleeps again; 0: nobody rings
    int tests_of_nap = 1;      // the same after a nap
    Naps naps = {};
};

inline constexpr std::int64_t kUs = 1000;
inline constexpr std::int64_t kMs = 1000 * kUs;
constexpr std::uint64_t whole_us(std::int64_t ns) {
    return static_cast<std::uint64_t>(ns / kUs);
}

// ---- do yields pay (yield_watch.h) --------------------------------------------------------------

// A yield that takes longer than a wake-up does not. The first pause without yields is longer than
// a time slice; it doubles while tries fail. Eight threads on two processors, short tasks: to sleep
// after one slow yield took 2 to 10 times as long as before. So the mean of 64 decides.
inline constexpr std::int64_t kWakeUpNs = 50 * kUs;
inline constexpr std::int64_t kYieldsThatCount = 64;
inline constexpr Naps kPausesOfYields = {10 * kMs, 640 * kMs};
// To find out who has computed meanwhile takes about as long as such a yield: of a thread of the
// runtime, and of a rank, which reads the clock of its thread.
inline constexpr std::int64_t kShortYieldNs = 10 * kUs;
inline constexpr std::int64_t kShortYieldOfRankNs = 20 * kUs;

// ---- a rank in MPI, where ranks outnumber cores -------------------------------------------------

// MPI's own spinning took 2 ms a hop with 4 ranks of MPICH on 2 cores, 12 ms with 16. Among ranks
// that all wait a yield takes a microsecond or two, a wake-up 50. So a rank yields before it
// sleeps. One test is often not enough: MPI sends the answer in a later one.
inline constexpr LadderRow kRank = {
    .tests = 4, .yield_ns = 1 * kMs, .tests_of_ring = 4, .naps = {1 * kMs, 16 * kMs}};
// Some ranks have no bell here, for they are on other nodes: a timer finds what they have sent.
inline constexpr LadderRow kRankByTimer = {
    .tests = 4, .yield_ns = 1 * kMs, .tests_of_ring = 4, .naps = {kMs / 10, 2 * kMs}};
// To sleep costs a rank fiber no more than to yield. Some answers come within a microsecond, that
// is 16 tests; nine were too many where another fiber could go on.
inline constexpr LadderRow kRankFiber = {
    .idle_tests = 16, .tests_of_ring = 4, .naps = {1 * kMs, 4 * kMs}};
inline constexpr LadderRow kRankFiberByTimer = {
    .idle_tests = 16, .tests_of_ring = 4, .naps = {kMs / 10, 2 * kMs}};

// Inside of a call of MPI's that spins; a test is a look for messages. With 4 ranks of MPICH on 2
// cores a fence took 55 ms, now 0.2, and a rank that waits in it takes 0.5% of a core.
inline constexpr LadderRow kSpin = {
    .tests = 64, .yield_ns = 1 * kMs, .tests_of_ring = 32, .naps = {kMs / 10, 2 * kMs}};
// A fiber's nap is a small part of its wait: ranks may have to answer each other many times inside
// of one call, and each answer waits for the end of a nap. 1,200 splits of 4 ranks on 2 busy cores,
// Open MPI: with naps that double 66 took more than 3 ms, with these 25; the mean 850 and 450 us.
inline constexpr LadderRow kSpinOfFiber = {.tests = 64,
                                           .yield_ns = 1 * kMs,
                                           .tests_of_ring = 32,
                                           .tests_of_nap = 9,
                                           .naps = {20 * kUs, 2 * kMs, 32, true}};

// A program that tests in a loop of its own may compute between two tests. With naps up to 2 ms
// HPCC's RandomAccess did not end. So only each fourth test in vain leaves the core at all.
inline constexpr LadderRow kProgramTests = {.tests = 4, .naps = {50 * kUs, 50 * kUs}};
// So short is a yield if nobody else wants the core. Then as many times that long there is none.
inline constexpr std::int64_t kYieldToNobodyNs = 1 * kUs;
inline constexpr std::int64_t kPausesOfYield = 8;

// A collective of our own in MPI_Init, while ranks are late; the thread yields between its tests.
// Beside programs that compute, each yield costs their time slices: soon it sleeps. 128 ranks on
// two cores, MPI_Init and MPI_Finalize as virtual ranks: MPICH 18.5 s, now 8.5; Open MPI 19, 7.1.
inline constexpr LadderRow kLateRanks = {.tests = 16, .naps = {kMs / 10, 4 * kMs, 8}};

// MPI's own MPI_Init and MPI_Finalize there. Open MPI sleeps between two looks, which take some 20
// us: for each rank of a core it sleeps as long, and the looks of all take a quarter of the cores.
inline constexpr Naps kStartOfOpenMpi = {80 * kUs, 20 * kMs};
// MPICH spins. A thread that spins is found by a timer of its processor time, and naps. After a nap
// it may spin for a moment, then it naps again. It naps for some six such moments for each rank of
// a core, so most of the time is left for those that work.
inline constexpr std::int64_t kLooksForSpinsNs = 1 * kMs;
inline constexpr std::int64_t kLooksAgainNs = 50 * kUs;
inline constexpr Naps kStartOfMpich = {300 * kUs, 20 * kMs};

// ---- a task in MPI ------------------------------------------------------------------------------

// Before the task is suspended: some tests take about as long as to suspend and resume it, and 20
// us are lost at most where its worker has nothing else to do.
inline constexpr LadderRow kTask = {.tests = 4, .idle_tests = kAnyNumber, .idle_ns = 20 * kUs};
// Before a request is bound to a task, which takes some thousand instructions: about a microsecond.
inline constexpr LadderRow kBoundRequest = {.idle_tests = 17};
// Few tickets, by a worker that has nothing else to do: the way here and back takes longer than a
// test of them.
inline constexpr LadderRow kFewTickets = {.idle_tests = 8};
// A program that tests in a loop of its own: after so many tests in vain its task lets others run,
// which may be what would make the test succeed. Where ranks outnumber cores, kProgramTests.
inline constexpr LadderRow kTestsInTask = {.tests = 16};
// A call of a task that a helper thread could make, while others make theirs and get on.
inline constexpr LadderRow kHelper = {.naps = {200 * kUs, 200 * kUs}};

// ---- cores of a node, fibers of ranks -----------------------------------------------------------

// A thread without a core, where processes share them. A yield is worth it only where no other
// thread of its process runs meanwhile, which would have it. It naps as long as a thread may keep a
// core that its owner wants back: sleepers are looked for as often.
inline constexpr LadderRow kCore = {
    .yield_ns = 100 * kUs, .tests_of_ring = 1, .naps = {2 * kMs, 2 * kMs}};
inline constexpr LadderRow kNeededCore = {.tests_of_ring = 1, .naps = {2 * kMs, 2 * kMs}};
// After so long the thread runs without a core. A wait in vain halves this, another one adds an
// eighth: where a thread without a core is what others wait for, a short time costs least. Regions
// of 10 ms on lent cores, multiples of the mean: 1.05 to 1.09; after 2 ms at most, 1.03 to 1.22.
inline constexpr Naps kPatienceForCore = {1 * kMs, 20 * kMs, 8};
// A worker that holds a core while it has nothing to do: a wake-up often takes longer than such a
// wait. It yields: where it spun, regions of 0.1 ms took seven times as long. Shorter if others
// want the core.
inline constexpr LadderRow kRests = {.yield_ns = 1 * kMs};
inline constexpr LadderRow kRestsOnWantedCore = {.yield_ns = kMs / 10};
// A worker of rank fibers: some 20 us, then until the next fiber's time is over. Its shortest nap
// is for the time that another worker's fiber runs, which may make others ready.
inline constexpr LadderRow kCarrier = {.tests = 400, .naps = {300 * kUs, 10 * kMs}};
// For a fiber to leave its carrier, when its process has ended: it is poked after each nap.
inline constexpr LadderRow kEndOfFiber = {.tests = 20'000, .naps = {kMs / 10, kMs / 10}};

// ---- workers without work -----------------------------------------------------------------------

// One that may find tasks, unless SENNIT_SPIN_US says how long. It keeps its processor for longer
// than it takes to be woken. Where threads outnumber processors it yields: yields let others work,
// and a thread that has not slept needs no system call to be woken. With OMP_WAIT_POLICY=active it
// hardly ever sleeps.
inline constexpr LadderRow kWorker = {.idle_ns = 100 * kUs};
inline constexpr LadderRow kCrowdedWorker = {.yield_ns = 1 * kMs};
inline constexpr LadderRow kActiveWorker = {.idle_ns = 1000 * kMs};
// Where pushes wake nobody, one of the few that are awake: the next task is not far.
inline constexpr LadderRow kOneOfFew = {.idle_ns = 20 * kUs};
// A wait that is no worker's, before its task is parked: its end may be a moment away.
inline constexpr LadderRow kBrief = {.tests = 32};
// A thread of a split team, before it takes what others have not offered: a part of the time for
// which they have worked, at least what a steal takes, and no more than anybody would notice.
inline constexpr LadderRow kBeforeTakes = {.naps = {2 * kUs, 50 * kUs, 64, true}};

// The one that polls while others sleep. A thread that yields to another program is back after that
// one's time slice, not within the time that a message takes: so it spins for 20 us at least. Where
// threads outnumber processors, others need what frequent polls cost: then a nap is an eighth of
// the time that it has waited. The longest is the ticker's period.
inline constexpr LadderRow kIdlePoller = {
    .tests = 64, .idle_tests = 4096, .idle_ns = 20 * kUs, .naps = {50 * kUs, 1 * kMs, 8, true}};
// One that wakes up by itself and looks, where pushes wake nobody: naps as long as it has waited.
inline constexpr LadderRow kLightSleeper = {.naps = {10 * kMs, 1000 * kMs, 1, true}};
// One that begins the watch for hangs, where there is one: no thread is made before that.
inline constexpr LadderRow kWatchedSleeper = {.naps = {1000 * kMs, 1000 * kMs}};
// The ticker, while operations are pending, and for some ticks after the last one, so that programs
// that wait often do not wake it each time.
inline constexpr LadderRow kTicker = {.tests = 16, .naps = {1 * kMs, 1 * kMs}};

// ---- locks --------------------------------------------------------------------------------------

// The program's and OpenMP's. First as long as parking and waking take. Then, while the holder
// runs, the task does not make room for others, which would want the lock, too: with 600 tasks that
// hold it for 0.1 ms, 250 to 570 were begun at once before, 2 to 31 now (2 and 4 threads).
// With each task that is suspended on the thread for a lock, twice as long.
inline constexpr LadderRow kLock = {.idle_ns = 2 * kUs, .naps = {kMs / 10, 16 * kMs / 10}};
// libc's objects that other processes change, too: nobody here hears of that, so tasks look again.
// A futex of the program's own may be one of those; most are not.
inline constexpr LadderRow kSharedObject = {.naps = {1 * kMs, 1 * kMs}};
inline constexpr LadderRow kSharedFutex = {.naps = {10 * kMs, 10 * kMs}};
// The end of a child of the program's, or of a lock on a file, that no file tells of: a part of the
// time that the task has waited, so that no wait gets much longer by it.
inline constexpr LadderRow kOtherProcess = {.naps = {kMs / 2, 16 * kMs, 8, true}};

// ---- beginnings and ends ------------------------------------------------------------------------

// A board that another process opens or removes just now; then it is held by one that stands still.
inline constexpr LadderRow kBoardIsHeld = {.yield_ns = 1000 * kMs};
// At the program's end, for a thread that serves: a task that keeps it for ever does not keep the
// program.
inline constexpr LadderRow kLastThread = {.naps = {100 * kMs, 100 * kMs}};
// MPI_Finalize, for operations and tasks that are not over. It runs tasks, so long at a time, and
// yields. After the longest nap without an event it says what is missing, and goes on.
inline constexpr LadderRow kFinalize = {.naps = {kMs / 10, 10'000 * kMs}};

} // namespace sennit::wait

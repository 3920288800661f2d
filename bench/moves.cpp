// SPDX-License-Identifier: Apache-2.0
// How long it takes until a core that is lent is its owner's again, beside a program of the pool
// that computes on all cores (chunks.c), how long until that has it back, and how many such moves a
// second go.
//
// It takes part itself and owns some cores, all of which it lends. It takes one of them and gives
// it again.
//
// usage: moves SECONDS, with SENNIT_POOL; prints how many moves there were and how many a second;
// in us the median, the 99th percentile and the most of those to the owner, and of those back.
#include "base/clock.h"
#include "node/pool.h"
#include "node/share.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sys/prctl.h>
#include <vector>

namespace {

using namespace sennit;

// Between two looks. With shorter ones it takes as much of a processor as a program that computes,
// and the system lets it wait for its turn: that would be measured, too.
constexpr long kLookNs = 50'000;

node::Board board;
node::Share share;

void nap(long ns) {
    const timespec time = {0, ns};
    nanosleep(&time, nullptr);
}

class Times {
  public:
    void add(std::int64_t ns) { all_.push_back(ns); }
    void print() {
        std::sort(all_.begin(), all_.end());
        const auto at = [&](double part) {
            const auto last = static_cast<double>(all_.size() - 1);
            return static_cast<double>(all_[static_cast<std::size_t>(part * last)]) * 1e-3;
        };
        std::printf(" %.1f %.1f %.1f", at(.5), at(.99), at(1));
    }

  private:
    std::vector<std::int64_t> all_;
};

// The slot of the program, which has joined or is about to.
int wait_for_program(int own) {
    for (;; nap(1'000'000)) {
        int found = node::kNobody;
        board.each([&](int number, const node::BoardSlot &slot) {
            if (number != own && slot.cores.counts.load() != 0)
                found = number;
        });
        if (found != node::kNobody)
            return found;
    }
}

// The core that this process owns.
int own_core(int own) {
    const node::CoreTable &table = board.core_table();
    for (;; nap(1'000'000))
        for (int core = 0; core < table.end(); ++core)
            if (table.state(core).owner == own)
                return core;
}

// The only thread of a process never waits: without a core it runs beside who has it, and takes it
// at the first scheduling point at which it is there.
node::Hold take(int core) {
    node::Hold hold = share.take(core);
    for (; !hold; nap(kLookNs))
        if (share.is_to_leave(hold))
            hold = share.leave(hold);
    return hold;
}

// How long the program has waited for the core, or done without it, before it uses it. It does not
// always want one: a region may end on one core just now.
std::int64_t until_used(int core, int program) {
    const node::CoreTable &table = board.core_table();
    const node::CoreUse &use = board.slot(program).cores;
    std::int64_t since = monotonic_ns();
    for (; table.state(core).user != program; nap(kLookNs))
        if (table.wants(program) == 0 && use.without.load() == 0)
            since = monotonic_ns();
    return monotonic_ns() - since;
}

int move_to_and_fro(int own, double seconds) {
    const int program = wait_for_program(own);
    nap(500'000'000); // the keeper sees who has joined, and divides the cores
    const int core = own_core(own);
    std::mt19937 random(1);
    Times here;
    Times back;
    int moves = 0;
    const std::int64_t begin = monotonic_ns();
    const std::int64_t end = begin + static_cast<std::int64_t>(seconds * 1e9);
    while (monotonic_ns() < end) {
        nap(static_cast<long>(100'000 + random() % 200'000));
        const std::int64_t wanted = monotonic_ns();
        const node::Hold hold = take(core);
        here.add(monotonic_ns() - wanted);
        share.give(hold);
        back.add(until_used(core, program));
        moves += 2;
    }
    const double took = static_cast<double>(monotonic_ns() - begin) * 1e-9;
    std::printf("%d %.0f", moves, moves / took);
    here.print();
    back.print();
    std::printf("\n");
    return moves > 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    node::Reason reason;
    const node::Membership membership = node::read_membership(reason);
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0;
    if (seconds <= 0 || !membership.in_pool || reason || !board.open(membership.path, reason)) {
        std::fprintf(stderr, "usage: moves SECONDS, in a pool (SENNIT_POOL) %s\n", reason.text);
        return 2;
    }
    node::BoardSlot *const slot = board.join(node::new_job(), node::own_member(membership));
    if (!slot)
        return 2;
    share.begin(board, *slot);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // it looks by short naps
    const int code = move_to_and_fro(board.number_of(*slot), seconds);
    share.end();
    board.leave(*slot);
    board.close();
    return code;
}

// SPDX-License-Identifier: Apache-2.0
// part: # a target of CMakeLists.txt
// A process that takes part in a pool as the runtime does, one step for each word on its input:
//
//   take, give   its only thread gets a core, or runs without one, and computes; and gives it
//   doze         until the next word it sleeps, with its core
//   work N       progress
//   become       it goes on as another program, sleep(1), which knows of no pool
//   fill         joins again and again, until the board is full
//   moves N      in N steps of 10 ms each core gets another owner, one of those that take part
//
// It prints what it has done, and ends with its input. It goes on as PROGRAM, the rank of a job.
//
// Usage: pool_member PROGRAM JOB RANK
#include "node/pool.h"
#include "node/share.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <poll.h>
#include <random>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {
sennit::node::Board board;
sennit::node::Share share;

// The owners of cores change as a policy changes them (divide_cores).
void move_cores(int steps) {
    std::mt19937 random(1);
    for (int step = 0; step < steps; ++step) {
        std::vector<int> slots;
        board.each([&](int number, const sennit::node::BoardSlot &slot) {
            if (slot.cores.counts.load() != 0)
                slots.push_back(number);
        });
        for (int core = 0; core < board.core_table().end(); ++core)
            board.core_table().set_owner(core, slots[random() % slots.size()]);
        usleep(10'000);
    }
}

// Until there is input: in read() it would sleep.
void compute() {
    for (pollfd input = {STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 0) == 0;)
        sched_yield();
}

} // namespace

int main(int, char **arguments) {
    using namespace sennit::node;
    Reason reason;
    const Membership membership = read_membership(reason);
    if (reason || !board.open(membership.path, reason)) {
        std::fprintf(stderr, "pool_member: %s\n", reason.text);
        return 1;
    }
    ProcessInfo member;
    std::snprintf(member.program, sizeof member.program, "%s", arguments[1]);
    member.rank = std::atoi(arguments[3]);
    member.cores = allowed_cores();
    member.share = membership.share;
    member.priority = membership.precedence.priority;
    member.leftover = membership.precedence.leftover;
    BoardSlot *const slot = board.join(1000 + std::strtoull(arguments[2], nullptr, 10), member);
    if (!slot)
        return 1;
    share.begin(board, *slot);
    std::cout << "joined" << std::endl;
    Hold hold;
    for (std::string word; std::cin >> word;) {
        if (word == "take")
            hold = share.take(kNobody);
        else if (word == "give")
            share.give(hold);
        else if (word == "work")
            share.note_progress(1000);
        else if (word == "become")
            execlp("sleep", "sleep", "1000", nullptr);
        else if (word == "fill")
            while (board.join(999, member)) {
            }
        else if (int steps = 0; word == "moves" && std::cin >> steps)
            move_cores(steps);
        std::cout << word << ' ' << hold.core << std::endl;
        if (hold && word != "doze" && word != "give")
            compute();
    }
    share.end();
    board.leave(*slot);
    board.close();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A node on which processes come to want cores and give them back, as node/share.h does it, in the
// order that a test says.
#pragma once

#include "decide/cores/policy.h"

#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace core_game {

using namespace sennit::node;

struct Game {
    const CorePolicy &policy;
    std::vector<Claimant> claimants;
    std::vector<Core> cores;
    std::unique_ptr<bool[]> recalled;
    std::vector<std::vector<bool>> allowed; // [claimant][core]; empty: all
    Memory memory{};
    int recalls = 0;

    Game(const CorePolicy &with, int core_count, int domains = 1)
        : policy(with), cores(static_cast<std::size_t>(core_count)),
          recalled(new bool[static_cast<std::size_t>(core_count)]()) {
        for (int core = 0; core < core_count; ++core)
            at(core).domain = core * domains / core_count;
    }

    Core &at(int core) { return cores[static_cast<std::size_t>(core)]; }
    Claimant &claimant(int one) { return claimants[static_cast<std::size_t>(one)]; }
    int core_count() const { return static_cast<int>(cores.size()); }
    int claimant_count() const { return static_cast<int>(claimants.size()); }
    std::span<const bool> recalled_span() const { return {recalled.get(), cores.size()}; }
    bool &is_recalled(int core) { return recalled[static_cast<std::size_t>(core)]; }

    static bool is_allowed(void *argument, int core, int one) {
        const Game &game = *static_cast<Game *>(argument);
        return game.allowed.empty() ||
               game.allowed[static_cast<std::size_t>(one)][static_cast<std::size_t>(core)];
    }
    View view() { return {claimants, cores, {is_allowed, this}}; }

    int join(int program, double share = 1, int priority = 0, bool leftover = false) {
        Claimant fresh;
        fresh.program = program;
        fresh.share = share;
        fresh.priority = priority;
        fresh.leftover = leftover;
        claimants.push_back(fresh);
        return claimant_count() - 1;
    }
    void divide() {
        std::vector<int> owners(cores.size(), -7);
        sennit::node::divide(view(), memory, owners);
        for (Claimant &one : claimants)
            one.owns = 0;
        for (int core = 0; core < core_count(); ++core) {
            at(core).owner = owners[static_cast<std::size_t>(core)];
            if (at(core).owner != kNobody)
                ++claimant(at(core).owner).owns;
        }
    }
    bool rethink(std::int64_t now_ns) {
        const bool again = policy.rethink(view(), now_ns, memory);
        for (Claimant &one : claimants)
            if (const Memory::Program *known = find_program(memory, one.program))
                one.limit = known->limit;
        if (again)
            divide();
        for (int core = 0; (core = surplus(view(), recalled_span())) != kNobody;)
            is_recalled(core) = true;
        return again;
    }

    void take(int core, int one) {
        at(core).user = one;
        ++claimant(one).uses;
        --claimant(one).wants;
    }
    // A thread of it wants a core: gets one, or asks for one and waits.
    bool ask(int one) {
        ++claimant(one).wants;
        return ask_again(one);
    }
    bool ask_again(int one) {
        if (const int core = best_free(policy, view(), one); core != kNobody) {
            take(core, one);
            return true;
        }
        if (const int core = policy.recalls(view(), one, recalled_span()); core != kNobody) {
            is_recalled(core) = true;
            ++recalls;
        }
        return false;
    }
    // Its user is done with the core; who is told takes it. Returns who.
    int give(int core) {
        --claimant(at(core).user).uses;
        at(core).user = kNobody;
        is_recalled(core) = false;
        const int next = policy.receiver(view(), core);
        if (next != kNobody && policy.may_take(view(), core, next))
            take(core, next);
        return next;
    }
    // All users come to a scheduling point: who is to leave does, and wants another one. Those who
    // wait look again.
    void pass() {
        for (int core = 0; core < core_count(); ++core)
            if (is_recalled(core)) {
                const int user = at(core).user;
                give(core);
                ask(user);
            }
        for (int one = 0; one < claimant_count(); ++one)
            for (int waiting = claimant(one).wants; waiting > 0; --waiting)
                ask_again(one);
    }
    void settle(int passes = 200) {
        while (passes-- > 0)
            pass();
    }
    // It is to have so many threads that compute or wait for a core.
    void set_threads(int one, int threads) {
        while (claimant(one).wants > 0 && claimant(one).wants + claimant(one).uses > threads)
            --claimant(one).wants;
        for (int core = 0; core < core_count() && claimant(one).uses > threads; ++core)
            if (at(core).user == one)
                give(core);
        while (claimant(one).wants + claimant(one).uses < threads)
            ask(one);
    }
};

// Programs, ranks, domains and sets of cores at random.
inline std::unique_ptr<Game> random_game(const CorePolicy &policy, std::mt19937 &random) {
    const auto below = [&](int end) {
        return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    auto game = std::make_unique<Game>(policy, 1 + below(12), 1 + below(3));
    const int programs = 1 + below(4);
    for (int program = 0; program < programs; ++program) {
        const double share = 1 + below(3);
        const int priority = below(4) == 0 ? 1 : 0;
        const bool leftover = below(6) == 0;
        for (int ranks = 1 + below(3); ranks > 0; --ranks)
            game->join(program, share, priority, leftover);
    }
    if (below(2) == 0) {
        for (int one = 0; one < game->claimant_count(); ++one) {
            std::vector<bool> set(game->cores.size());
            for (std::size_t core = 0; core < set.size(); ++core)
                set[core] = below(3) != 0;
            set[static_cast<std::size_t>(below(game->core_count()))] = true;
            game->allowed.push_back(set);
        }
    }
    game->divide();
    return game;
}

} // namespace core_game

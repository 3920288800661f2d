// SPDX-License-Identifier: Apache-2.0
// divide(): how many cores each program gets, how many of them each rank of it, and which.
#include "decide/cores/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sennit::node {
namespace {

constexpr int kMostDomains = 64;

struct Division {
    const View &view;
    const Memory &memory;
    std::span<int> owners;
    int claimants, cores;
    int usable; // cores
    std::int16_t quota[kMostDivided] = {};
    std::int16_t owned[kMostDivided] = {};
    // Claimants of a program that take part: at the first of them. 0: it is not the first.
    std::int16_t members[kMostDivided] = {};

    Division(const View &of, const Memory &with, std::span<int> to)
        : view(of), memory(with), owners(to),
          claimants(std::min(count_of(of.claimants), kMostDivided)), cores(count_of(of.cores)),
          usable(usable_cores(of)) {}

    const Claimant &at(int claimant) const { return claimant_of(view, claimant); }
    bool takes_part(int claimant) const { return !at(claimant).leftover; }
    int program(int claimant) const { return at(claimant).program; }
    int &owner_of(int core) const { return owners[static_cast<std::size_t>(core)]; }
    int domain_of(int core) const {
        return static_cast<int>(static_cast<unsigned>(core_of(view, core).domain) % kMostDomains);
    }
    int first_of(int of_program) const {
        int one = 0;
        while (!takes_part(one) || program(one) != of_program)
            ++one;
        return one;
    }
    void assign(int core, int claimant) {
        int &owner = owner_of(core);
        if (owner != kNobody)
            --owned[owner];
        owner = claimant;
        if (claimant != kNobody)
            ++owned[claimant];
    }

    void count_members();
    void set_quotas();
    void round_quotas(std::span<float> remainders, int left, int least);
    void share_out(int first);
    bool give_one(int claimant);
    void keep();
    void fill();
    void spread();
    void rescue();
    void take_turns();
    bool waits_for_turn(int claimant, int owner) const;
};

void Division::count_members() {
    for (int one = 0; one < claimants; ++one)
        if (takes_part(one))
            ++members[first_of(program(one))];
}

// Whole numbers of cores: what each wishes for, scaled to what there is. Each program gets one at
// least as long as there are enough.
void Division::set_quotas() {
    double newcomers = 0, targets = 0, shares = 0;
    int programs = 0;
    const auto target = [&](int one) {
        const Memory::Program *known = find_program(memory, program(one));
        return known ? known->target : 0;
    };
    for (int one = 0; one < claimants; ++one) {
        if (members[one] == 0)
            continue;
        ++programs;
        shares += at(one).share;
        targets += target(one);
        newcomers += target(one) > 0 ? 0 : at(one).share;
    }
    if (programs == 0)
        return;
    const double per_share = shares > 0 ? usable / shares : 0;
    const double room = usable - newcomers * per_share;
    const double scale = targets > room ? room / targets : 1;
    const int least = programs <= usable ? 1 : 0;
    float remainders[kMostDivided] = {};
    double wished = 0;
    int given = 0;
    for (int one = 0; one < claimants; ++one) {
        if (members[one] == 0)
            continue;
        const double wish = target(one) > 0 ? target(one) * scale : at(one).share * per_share;
        const int whole = std::max(least, static_cast<int>(wish + 1e-6));
        quota[one] = static_cast<std::int16_t>(whole);
        // Of equals those that have some: who has its turn keeps it.
        remainders[one] = static_cast<float>(wish - whole + (at(one).owns > 0 ? 1e-3 : 0));
        wished += wish;
        given += whole;
    }
    round_quotas(remainders, std::min(usable, static_cast<int>(std::lround(wished))) - given,
                 least);
    for (int one = 0; one < claimants; ++one)
        if (members[one] > 0)
            share_out(one);
}

// The greatest remainders get the cores that are left, the smallest give what is missing.
void Division::round_quotas(std::span<float> remainders, int left, int least) {
    while (left != 0) {
        int best = kNobody;
        const auto remainder = [&](int one) { return remainders[static_cast<std::size_t>(one)]; };
        for (int one = 0; one < claimants; ++one)
            if (members[one] > 0 && (left > 0 || quota[one] > least) &&
                (best == kNobody ||
                 (left > 0 ? remainder(one) > remainder(best) : remainder(one) < remainder(best))))
                best = one;
        if (best == kNobody)
            return;
        const int step = left > 0 ? 1 : -1;
        quota[best] = static_cast<std::int16_t>(quota[best] + step);
        remainders[static_cast<std::size_t>(best)] -= static_cast<float>(step);
        left -= step;
    }
}

// A program's cores to its ranks: alike, and what is left to those that have more already.
void Division::share_out(int first) {
    const int count = quota[first], each = count / members[first];
    int more = count % members[first];
    const int of_program = program(first);
    for (int one = first; one < claimants; ++one)
        if (takes_part(one) && program(one) == of_program)
            quota[one] = static_cast<std::int16_t>(each);
    for (const bool has_more : {true, false})
        for (int one = first; one < claimants && more > 0; ++one)
            if (takes_part(one) && program(one) == of_program && quota[one] == each &&
                (at(one).owns > each) == has_more) {
                ++quota[one];
                --more;
            }
}

// Its present cores, as many as it is to have. It gives up those where it has the fewest.
void Division::keep() {
    for (int core = 0; core < cores; ++core) {
        const int owner = core_of(view, core).owner;
        owner_of(core) = kNobody;
        if (owner >= 0 && owner < claimants && takes_part(owner) && view.allowed(core, owner))
            assign(core, owner);
    }
    for (int one = 0; one < claimants; ++one) {
        if (owned[one] <= quota[one])
            continue;
        int in[kMostDomains] = {};
        for (int core = 0; core < cores; ++core)
            in[domain_of(core)] += owner_of(core) == one ? 1 : 0;
        while (owned[one] > quota[one]) {
            int worst = kNobody;
            for (int core = 0; core < cores; ++core)
                if (owner_of(core) == one &&
                    (worst == kNobody || in[domain_of(core)] <= in[domain_of(worst)]))
                    worst = core;
            --in[domain_of(worst)];
            assign(worst, kNobody);
        }
    }
}

// One more core: where it has most; else in a domain that has what it needs, and no more than that.
bool Division::give_one(int claimant) {
    int has[kMostDomains] = {}, free[kMostDomains] = {};
    for (int core = 0; core < cores; ++core) {
        has[domain_of(core)] += owner_of(core) == claimant ? 1 : 0;
        free[domain_of(core)] += owner_of(core) == kNobody && view.allowed(core, claimant) ? 1 : 0;
    }
    const int needs = quota[claimant] - owned[claimant];
    const auto worth = [&](int domain) {
        return has[domain] > 0         ? 2 * cores + has[domain]
               : free[domain] >= needs ? 2 * cores - free[domain]
                                       : free[domain];
    };
    int best = kNobody;
    for (int core = 0; core < cores; ++core)
        if (owner_of(core) == kNobody && view.allowed(core, claimant) &&
            (best == kNobody || worth(domain_of(core)) > worth(domain_of(best))))
            best = core;
    if (best != kNobody)
        assign(best, claimant);
    return best != kNobody;
}

// Those with the fewest cores to choose from are first; of equals, who needs most. Where they are
// too few for all equals, these have less alike.
void Division::fill() {
    std::int16_t choice[kMostDivided] = {}; // 0: it needs none, or has had its share
    for (int one = 0; one < claimants; ++one)
        if (owned[one] < quota[one])
            for (int core = 0; core < cores; ++core)
                if (view.allowed(core, one))
                    ++choice[one];
    for (;;) {
        int next = kNobody;
        for (int one = 0; one < claimants; ++one)
            if (choice[one] > 0 && (next == kNobody || choice[one] < choice[next] ||
                                    (choice[one] == choice[next] &&
                                     quota[one] - owned[one] > quota[next] - owned[next])))
                next = one;
        if (next == kNobody)
            return;
        int needed = 0, free = 0;
        for (int one = 0; one < claimants; ++one)
            needed += choice[one] == choice[next] ? quota[one] - owned[one] : 0;
        for (int core = 0; core < cores; ++core)
            for (int one = 0; one < claimants; ++one)
                if (owner_of(core) == kNobody && choice[one] == choice[next] &&
                    view.allowed(core, one)) {
                    ++free;
                    break;
                }
        const int needs = quota[next] - owned[next];
        const int gets = free < needed ? (needs * free + needed - 1) / needed : needs;
        for (int i = 0; i < gets && give_one(next); ++i)
            ;
        choice[next] = 0;
    }
}

// What those who may not run there could not take goes to the others.
void Division::spread() {
    int missing = 0;
    for (int one = 0; one < claimants; ++one)
        missing += std::max(0, quota[one] - owned[one]);
    const auto load = [&](int one) {
        return (owned[one] + 1) * members[first_of(program(one))] / at(one).share;
    };
    for (int core = 0; core < cores && missing > 0; ++core) {
        if (owner_of(core) != kNobody)
            continue;
        int best = kNobody;
        for (int one = 0; one < claimants; ++one)
            if (takes_part(one) && view.allowed(core, one) &&
                (best == kNobody || load(one) < load(best)))
                best = one;
        if (best == kNobody)
            continue;
        assign(core, best);
        --missing;
    }
}

// Nobody who should have one has none because another one has those that it may use.
void Division::rescue() {
    for (int one = 0; one < claimants; ++one) {
        if (quota[one] == 0 || owned[one] > 0)
            continue;
        int best = kNobody;
        for (int core = 0; core < cores; ++core)
            if (view.allowed(core, one) && owner_of(core) != kNobody &&
                owned[owner_of(core)] > (best == kNobody ? 1 : owned[owner_of(best)]))
                best = core;
        if (best != kNobody)
            assign(best, one);
    }
}

// It wants a core and has none. Another one's turn at the owner's core ends for a rank of the same
// program, or for a program that has no core.
bool Division::waits_for_turn(int claimant, int owner) const {
    const Claimant &one = at(claimant);
    if (one.leftover || owned[claimant] > 0 || one.wants == 0 || one.uses > 0 || one.owns > 0)
        return false;
    if (one.program == program(owner))
        return true;
    for (int other = 0; other < claimants; ++other)
        if (owned[other] > 0 && program(other) == one.program)
            return false;
    return true;
}

// The next one after the owner, so that everybody comes round.
void Division::take_turns() {
    for (int core = 0; core < cores; ++core) {
        const int owner = owner_of(core);
        if (owner == kNobody || owned[owner] != 1 || at(owner).owns == 0)
            continue;
        for (int step = 1; step < claimants; ++step) {
            const int next = (owner + step) % claimants;
            if (waits_for_turn(next, owner) && view.allowed(core, next)) {
                assign(core, next);
                break;
            }
        }
    }
}

} // namespace

void divide(const View &view, const Memory &memory, std::span<int> owners) {
    Division division(view, memory, owners);
    division.count_members();
    division.set_quotas();
    division.keep();
    division.fill();
    division.spread();
    division.rescue();
    division.take_turns();
}

const Memory::Program *find_program(const Memory &memory, int program) {
    for (const Memory::Program &one : memory.programs)
        if (one.taken != 0 && one.program == program)
            return &one;
    return nullptr;
}

} // namespace sennit::node

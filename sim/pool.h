// SPDX-License-Identifier: Apache-2.0
// Several programs on the cores of one node, event by event. Who gets which core is decided by the
// runtime's own policies (node/policy).
//
// A program computes, waits in MPI for its other ranks, and computes again. A rank that computes
// wants a core for each of its threads; one that waits gives its cores. Who is to leave a core does
// so at its next scheduling point. The first use of a core by another rank costs `move_s`.
#pragma once

#include "decide/cores/policy.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::sim {

// How much faster a program computes with so many cores: the universal scalability law (Gunther),
// k / (1 + contention (k - 1) + coherence k (k - 1)), but not more than `most`.
struct SpeedUp {
    double contention = 0;
    double coherence = 0;
    double most = 1e9;
    double operator()(double cores) const;
};

struct PoolPhase {
    int iterations = 1;
    double work_s = 1;    // of an iteration, all ranks together, with one core
    double wait_s = 0;    // at its end, without a core
    double imbalance = 0; // the rank with most work has (1 + imbalance) times the mean
    bool rotates = false; // it is another rank each time
    SpeedUp speed_up;
};

struct PoolProgram {
    std::string name;
    int ranks = 1;
    int threads = 0; // of a rank; 0: one for each core of the node
    double share = 1;
    int priority = 0;
    bool leftover = false;
    double start_s = 0;
    std::vector<PoolPhase> phases;

    double work_s() const;
    // Alone on so many cores, all the time, if its ranks have work alike.
    double time_s(int cores) const;
    // The fastest number of cores, of at most so many.
    int best_cores(int most) const;
};

// "bt.A" and the like, or "NAME:ranks=4,threads=12,work=20,iterations=100,wait=0.01,imbalance=.5,
// rotates=1,contention=.01,coherence=1e-4,most=20,share=2,priority=1,leftover=1,start=3"; a further
// phase begins with "/". Throws std::invalid_argument with one line on anything else.
PoolProgram parse_pool_program(const std::string &text);
// The programs of the paper on process virtualization, section 5.
std::vector<std::string> paper_programs();

struct Node {
    int cores = 48;
    int domains = 2;
    double point_s = 1e-3; // between two scheduling points of a thread
    double move_s = 20e-6;
};

struct PoolResult {
    double makespan_s = 0;     // of programs that are no services
    std::vector<double> end_s; // of each program
    double used = 0;           // cores, in the mean, until the end
    double lent = 0;           // of them not their owner's
    double computed = 0;       // work done, in core seconds of one core alone, services too
    std::uint64_t moves = 0;   // of a core, to another rank
    std::vector<std::vector<double>> targets; // by 0.1 s: cores that each program owns
};

// `split`: cores of each program, for good; empty: as the policy says.
PoolResult simulate_pool(const Node &node, const std::vector<PoolProgram> &programs,
                         const node::CorePolicy &policy, const std::vector<int> &split = {});
// Each program alone on the node, in turn.
double one_after_the_other_s(const Node &node, const std::vector<PoolProgram> &programs);

} // namespace sennit::sim

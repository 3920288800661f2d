// SPDX-License-Identifier: Apache-2.0
#include "dlb/talp.h"

#include <algorithm>
#include <cstdio>

namespace sennit::dlb {
namespace {

double by(std::int64_t ns, std::int64_t threads) {
    return threads > 0 ? static_cast<double>(ns) / static_cast<double>(threads) : 0;
}

// The processes of a node, or all.
struct Sums {
    Spent spent;
    std::int64_t threads = 0;
};

Sums sum_of_node(std::span<const Contribution> all, std::uint64_t node) {
    Sums sums;
    for (const Contribution &one : all)
        if (one.threads > 0 && one.node == node) {
            sums.spent += one.spent;
            sums.threads += one.threads;
        }
    return sums;
}

} // namespace

dlb_pop_metrics_t pop_metrics(std::span<const Contribution> all, int ranks) {
    dlb_pop_metrics_t result{};
    result.num_mpi_ranks = ranks;
    Sums sums;
    std::int64_t longest = 0; // of a thread
    double most = 0;          // outside of MPI, of a thread
    for (const Contribution &one : all) {
        if (one.threads <= 0 || one.spent.total() <= 0)
            continue;
        sums.spent += one.spent;
        sums.threads += one.threads;
        longest = std::max(longest, one.spent.total() / one.threads);
        most = std::max(most, by(one.spent.outside_mpi(), one.threads));
        result.avg_cpus += static_cast<float>(one.average_threads);
        result.num_measurements += one.measurements;
        result.num_mpi_calls += one.mpi_calls;
        result.num_omp_parallels += one.parallels;
        result.num_omp_tasks += one.tasks;
        result.elapsed_time = std::max(result.elapsed_time, one.elapsed_ns);
        const double useful = by(one.spent.useful, one.threads);
        if (useful >= result.max_useful_normd_proc) {
            result.max_useful_normd_proc = useful;
            result.mpi_normd_of_max_useful = by(one.spent.mpi, one.threads);
        }
    }
    result.num_cpus = static_cast<int>(sums.threads);
    result.useful_time = sums.spent.useful;
    result.mpi_time = sums.spent.mpi;
    result.omp_load_imbalance_time = sums.spent.imbalance;
    result.omp_scheduling_time = sums.spent.scheduling;
    result.omp_serialization_time = sums.spent.serial;
    result.useful_normd_app = by(sums.spent.useful, sums.threads);
    result.mpi_normd_app = by(sums.spent.mpi, sums.threads);
    double most_of_node = 0; // outside of MPI, of a thread
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool first = std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const Contribution &other) {
                                            return other.threads > 0 && other.node == all[i].node;
                                        });
        if (all[i].threads <= 0 || !first)
            continue;
        const Sums node = sum_of_node(all, all[i].node);
        ++result.num_nodes;
        most_of_node = std::max(most_of_node, by(node.spent.outside_mpi(), node.threads));
        result.max_useful_normd_node =
            std::max(result.max_useful_normd_node, by(node.spent.useful, node.threads));
    }
    if (sums.spent.useful <= 0)
        return result;
    // A process that was through sooner than another one waits for it, as in a phase of a trace.
    Spent spent = sums.spent;
    for (const Contribution &one : all)
        if (one.threads > 0 && one.spent.total() > 0)
            spent.mpi += longest * one.threads - one.spent.total();
    const auto threads = static_cast<int>(sums.threads);
    const MpiFactors mpi = mpi_factors(spent, most, threads);
    const auto outside = static_cast<double>(spent.outside_mpi());
    result.parallel_efficiency = static_cast<float>(spent.parallel());
    result.mpi_parallel_efficiency = static_cast<float>(spent.mpi_part());
    result.mpi_communication_efficiency = static_cast<float>(mpi.communication);
    result.mpi_load_balance = static_cast<float>(mpi.rank_balance);
    result.mpi_load_balance_in = static_cast<float>(part_of(most_of_node, most));
    result.mpi_load_balance_out = static_cast<float>(part_of(outside, most_of_node * threads));
    result.omp_parallel_efficiency = static_cast<float>(spent.openmp());
    result.omp_load_balance = static_cast<float>(spent.thread_balance());
    result.omp_scheduling_efficiency = static_cast<float>(spent.overhead());
    result.omp_serialization_efficiency = static_cast<float>(spent.serial_parts());
    return result;
}

void NodeSum::add(std::int64_t mpi_ns, std::int64_t useful_ns) {
    if (mpi_ns <= 0 && useful_ns <= 0)
        return;
    ++processes_;
    mpi_ += mpi_ns;
    useful_ += useful_ns;
    most_mpi_ = std::max(most_mpi_, mpi_ns);
    most_useful_ = std::max(most_useful_, useful_ns);
}

bool NodeSum::tell(const char *name, dlb_node_metrics_t &metrics) const {
    if (processes_ == 0)
        return false;
    metrics = {};
    std::snprintf(metrics.name, sizeof metrics.name, "%s", name);
    metrics.processes_per_node = processes_;
    metrics.total_useful_time = useful_;
    metrics.total_mpi_time = mpi_;
    metrics.max_useful_time = most_useful_;
    metrics.max_mpi_time = most_mpi_;
    const double elapsed = by(useful_ + mpi_, processes_);
    const auto most = static_cast<double>(most_useful_);
    metrics.parallel_efficiency = static_cast<float>(
        part_of(static_cast<double>(useful_), static_cast<double>(useful_ + mpi_)));
    metrics.communication_efficiency = static_cast<float>(part_of(most, elapsed));
    metrics.load_balance = static_cast<float>(part_of(by(useful_, processes_), most));
    return true;
}

} // namespace sennit::dlb

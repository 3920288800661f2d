// SPDX-License-Identifier: Apache-2.0
// How threads spend their time, in the hierarchy of the POP methodology for MPI and OpenMP
// together: the parts, the rule which part a thread's time belongs to, and the efficiencies.
// docs/user/see.md has the formulas. Each efficiency is the product of those below it.
//
// `sennit report` finds the parts from a trace, tasks/trace/spent_time.h while the program runs.
// Both use what is here, so they cannot differ.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit {

// 1 where there was nothing to lose.
constexpr double part_of(double of, double whole) {
    return whole > 0 ? of / whole : 1;
}

// The threads' time in a period: the parts add up to threads x its length. In nanoseconds.
struct Spent {
    std::int64_t useful = 0;     // in tasks and in the program, MPI not counted
    std::int64_t mpi = 0;        // in MPI calls, or without work because of messages
    std::int64_t serial = 0;     // without work, outside of parallel regions
    std::int64_t imbalance = 0;  // without work in a parallel region, while others had some
    std::int64_t scheduling = 0; // a ready task was there, or no thread of the region worked

    constexpr std::int64_t total() const { return useful + mpi + serial + imbalance + scheduling; }
    constexpr std::int64_t outside_mpi() const { return total() - mpi; }
    // `times` the parts of another one.
    constexpr Spent &add(const Spent &other, std::int64_t times) {
        useful += other.useful * times;
        mpi += other.mpi * times;
        serial += other.serial * times;
        imbalance += other.imbalance * times;
        scheduling += other.scheduling * times;
        return *this;
    }
    constexpr Spent &operator+=(const Spent &other) { return add(other, 1); }
    constexpr Spent &operator-=(const Spent &other) { return add(other, -1); }
    bool operator==(const Spent &) const = default;

    // OpenMP's part: three factors, and their product.
    double serial_parts() const { return quotient(outside_mpi() - serial, outside_mpi()); }
    double thread_balance() const {
        return quotient(useful + scheduling, useful + scheduling + imbalance);
    }
    double overhead() const { return quotient(useful, useful + scheduling); }
    double openmp() const { return quotient(useful, outside_mpi()); }
    // MPI's part, and both.
    double mpi_part() const { return quotient(outside_mpi(), total()); }
    double parallel() const { return quotient(useful, total()); }

  private:
    static double quotient(std::int64_t of, std::int64_t whole) {
        return part_of(static_cast<double>(of), static_cast<double>(whole));
    }
};

// What holds of a process at a moment.
struct Moment {
    int threads = 0;
    int useful = 0;  // threads that compute
    int mpi = 0;     // threads in MPI calls
    int ready = 0;   // tasks that could run
    int waits = 0;   // tasks that wait for messages, on no thread
    int regions = 0; // threads in parallel regions

    // How many threads do what, as a Spent of a nanosecond. Threads without work: there was a ready
    // task; or messages keep it away, from as many threads as tasks wait for some, or from all if
    // no thread works; or OpenMP has none for it.
    constexpr Spent doing() const {
        Spent now{.useful = useful, .mpi = mpi};
        int rest = std::max(0, threads - useful - mpi);
        now.scheduling = std::clamp(ready, 0, rest);
        rest -= static_cast<int>(now.scheduling);
        const bool stands = useful == 0 && (mpi > 0 || waits > 0);
        const int kept = stands ? rest : std::clamp(waits, 0, rest);
        now.mpi += kept;
        (regions == 0 ? now.serial : useful > 0 ? now.imbalance : now.scheduling) += rest - kept;
        return now;
    }
};

// MPI's two factors, of ranks whose threads were outside of MPI for so long (per thread).
struct MpiFactors {
    double rank_balance = 1;
    double communication = 1;
};
// `all`: of all threads of all ranks; `most`: outside of MPI, per thread, of the rank with the
// most; `threads`: of all ranks.
inline MpiFactors mpi_factors(const Spent &all, double most, int threads) {
    MpiFactors found;
    found.rank_balance = part_of(static_cast<double>(all.outside_mpi()), most * threads);
    found.communication = part_of(all.mpi_part(), found.rank_balance);
    return found;
}

} // namespace sennit

// SPDX-License-Identifier: Apache-2.0
// Loops as compilers describe them, and their iterations by number, 0 .. count-1. Values of a loop
// variable are kept as bits modulo 2^64, which suits signed and unsigned ones. A step downward is
// kept as a negated number.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sennit::omp {

struct Iterations {
    std::uint64_t start = 0;
    std::uint64_t step = 1;
    std::uint64_t count = 0;
    std::uint64_t end = 0; // for GCC's doors: exclusive, as the program gives it

    std::uint64_t value(std::uint64_t iteration) const { return start + iteration * step; }
    // The value where the iterations before number `iteration` end, exclusive. Behind the last
    // iteration it is the loop's own end, because one step more could leave the variable's type.
    std::uint64_t bound(std::uint64_t iteration) const {
        return iteration == count ? end : value(iteration);
    }

    // A loop over start, start + step .. before `end`, as GCC describes loops of `long`.
    static Iterations before(long start, long end, long step) {
        const bool up = step > 0;
        const bool empty = up ? start >= end : start <= end;
        return make(!empty, up, static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end),
                    static_cast<std::uint64_t>(step));
    }
    // The same for `unsigned long long`, where GCC gives the direction apart from the step.
    static Iterations before(bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
        return make(up ? start < end : start > end, up, start, end, step);
    }

    // The number of iterations of a loop over lower, lower + step .. upper, inclusive. It is
    // counted modulo the number of values of T, as LLVM's runtime does: flang describes an empty
    // loop as 0 .. 2^n - 1 with a step of 1.
    template <class T, class S>
    static std::uint64_t count_through(T lower, T upper, S step) {
        using U = std::make_unsigned_t<T>;
        if (step > 0 ? lower > upper : lower < upper)
            return 0;
        const bool up = step > 0;
        const U span = up ? static_cast<U>(upper) - static_cast<U>(lower)
                          : static_cast<U>(lower) - static_cast<U>(upper);
        const U stride = up ? static_cast<U>(step) : U{0} - static_cast<U>(step);
        return static_cast<U>(span / stride + 1);
    }

  private:
    static Iterations make(bool any, bool up, std::uint64_t start, std::uint64_t end,
                           std::uint64_t step) {
        const std::uint64_t span = up ? end - start : start - end;
        const std::uint64_t stride = up ? step : std::uint64_t{0} - step;
        return {start, step, any ? (span - 1) / stride + 1 : 0, end};
    }
};

} // namespace sennit::omp

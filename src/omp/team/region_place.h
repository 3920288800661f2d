// SPDX-License-Identifier: Apache-2.0
// Where a table has what is remembered of a region, by the region's function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::omp {

// Functions begin at multiples of 16.
inline std::size_t region_place(const void *function, std::size_t places) {
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    return (address >> 4 ^ address >> 10) % places;
}

} // namespace sennit::omp

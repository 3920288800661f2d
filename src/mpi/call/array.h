// SPDX-License-Identifier: Apache-2.0
// What a pending operation needs must not be lost: its task would never go on.
#pragma once

#include "base/array.h"

#include <cstdio>
#include <cstdlib>

namespace sennit::mpi {

template <class T>
using Pending = Array<T, 256>;

template <class T>
void add_pending(Pending<T> &array, const T &item) {
    if (array.push(item)) [[likely]]
        return;
    std::fprintf(stderr, "sennit: no memory for %zu pending MPI operations\n", array.size() + 1);
    std::abort();
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
// Directives that are one call of the runtime's: flush, error, and reductions over the threads of a
// construct (OpenMP 5.2, 15.8.5, 8.5, 5.5.8).
#pragma once

#include "omp/events/events.h"
#include "omp/events/site.h"
#include "omp/sync/sync.h"

#include <cstddef>

namespace sennit::omp {

void tell_flush(ompt::Site site);
SENNIT_TOLD void flush(ompt::Where auto site) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (ompt::on())
        tell_flush(site);
}

// The front door says the text to people, in its compiler's words.
void tell_error_slow(ompt::Site site, bool fatal, const char *message, std::size_t length);
SENNIT_TOLD void tell_error(ompt::Where auto site, bool fatal, const char *message,
                            std::size_t length) {
    if (ompt::on())
        tell_error_slow(site, fatal, message, length);
}

// How the threads of a team combine what each of them has: a team of one has nobody to wait for,
// else under a lock or with the compiler's atomic operations, if it `has_atomics`. With a tool
// never those: the compiler's code does not say when it has done with them.
enum class Combine { alone, locked, atomic };
Combine begin_reduction(ompt::Site site, Mutex &mutex, bool has_atomics);
void end_reduction(ompt::Site site, Mutex &mutex);

} // namespace sennit::omp

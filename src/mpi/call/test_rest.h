// SPDX-License-Identifier: Apache-2.0
// What a thread without a task does after some tests in vain of the program's (runtime.h). Set
// where ranks outnumber cores (crowd/tests.h).
#pragma once

#include <atomic>

namespace sennit::mpi {

extern constinit std::atomic<void (*)()> g_test_rest; // null: nothing

} // namespace sennit::mpi

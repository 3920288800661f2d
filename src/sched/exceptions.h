// SPDX-License-Identifier: Apache-2.0
// Where the program's C++ runtime keeps the exceptions that the thread handles: each fiber has its
// own.
#pragma once

namespace sennit::sched {

// The C++ ABI's __cxa_get_globals: a thread's pointer to handled exceptions, and its count of
// uncaught ones.
using ExceptionGlobals = void **(*)();

// The one that the program uses; null when it has none. Ours is linked statically and another.
ExceptionGlobals find_exception_globals();

} // namespace sennit::sched

// SPDX-License-Identifier: Apache-2.0
// The only place where Sennit's libraries read the environment (test `layers`).
//
// A program with more rights than its caller (set-uid, set-gid, file capabilities) may find Sennit
// by its RPATH. Its caller chose the environment, and must not choose what is loaded and written
// with the program's rights. So there every variable counts as not set. Stock runtimes take the
// numbers, such as OMP_NUM_THREADS, also there: not worth a second list that has to be right.
#pragma once

#include <cstdlib>

namespace sennit {

// Null: not set, or not to be trusted.
inline const char *trusted_environment(const char *name) {
    return secure_getenv(name);
}

} // namespace sennit

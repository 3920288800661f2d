// SPDX-License-Identifier: Apache-2.0
// Libraries in which no task is ever suspended. They hold nothing across a suspension, so they need
// none of our mutexes, whose calls cost more.
#pragma once

namespace sennit::pthread {

// Those that are loaded, and of which `library` is true, call libc's functions again where they
// called ours. Any time, any thread.
void leave_alone(bool (*library)(const char *path));

} // namespace sennit::pthread

// SPDX-License-Identifier: Apache-2.0
// A stub that has found no host starts this program (stub/stub.cpp). Under the lock of the job's
// folder it looks again, and makes the socket. The host is a process of its own then, in a session
// of its own, that nobody waits for.
#pragma once

#include <string>

namespace sennit::loader {

// Returns the exit code twice: of the process that was started, when the host can be found or an
// error has been told; and of the host, at its end.
int start_host(const std::string &folder, int space);

} // namespace sennit::loader

// SPDX-License-Identifier: Apache-2.0
// Libraries that pass messages. No task is ever suspended inside of them (src/mpi sees to that), so
// they hold nothing across a suspension, and each of their calls locks something.
#pragma once

namespace sennit::pthread {

// Those that are loaded call libc's functions again, not ours. Any time, any thread.
void leave_message_libraries_alone();

} // namespace sennit::pthread

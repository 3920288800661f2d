// SPDX-License-Identifier: Apache-2.0
// `sennit doctor`: in plain words, what was found, what would happen, what is missing.
#pragma once

#include "common/process_owner.h"
#include "launch/environment.h"

namespace sennit::tool {

// Report on this installation and machine and, when the request names one, on a program. Returns 0
// when nothing is missing, else 2.
int run_doctor(const Request &request);

// `sennit doctor --pid`: become a gdb that lists the suspended tasks of a running process.
[[noreturn]] void examine_process(int process, OtherUser other_user,
                                  const Installation &installation);

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Virtual ranks (src/ranks/loader), as the command starts them: what can be one, and the command
// line that becomes one.
#pragma once

#include "launch/environment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sennit::tool {

// Throws Failure for a program that cannot be loaded beside others, and where this process's limits
// do not allow it.
void refuse_virtual(const Plan &plan, const EnvironmentReader &environment);

// What goes into the plan's settings: the shared library of a Python of fixed addresses, which is
// run from it, and what keeps the MPI from asking for one address on all ranks. What the user has
// set stays.
void set_for_virtual(Plan &plan, const EnvironmentReader &environment);

// How many mappings of the kernel's a rank of this program will need, with some to spare, if its
// job has that many ranks on this node.
std::uint32_t expected_mappings(const Plan &plan, int threads, int ranks);

// Names the job for its ranks; internal, no option.
inline constexpr const char *virtual_job_variable = "SENNIT_VIRTUAL_JOB";

// Whose ranks on this node are in one address space: those of a pool, whenever they come; without
// one, of a job, as `sennit run` says, or the launcher, or this process's parent.
std::string virtual_job(const JobSpec &spec, const EnvironmentReader &environment);
// A name that no other job has, for `sennit run` to hand on.
std::string new_job_name();

// In place of the program and its arguments.
std::vector<std::string> virtual_command(const Plan &plan, const JobSpec &spec,
                                         const Installation &installation,
                                         const EnvironmentReader &environment);

} // namespace sennit::tool

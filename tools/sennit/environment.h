// SPDX-License-Identifier: Apache-2.0
// What is set in the environment of a program to put Sennit under it, and why. Pure: reads the
// outer environment through a function, changes nothing.
#pragma once

#include "installation.h"
#include "job_context.h"
#include "program.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

// What was asked for on the command line, checked.
struct Request {
    std::vector<std::string> command; // the program and its arguments
    std::optional<MpiKind> mpi;
    std::optional<int> ranks;
    std::optional<int> threads;
    std::optional<std::string> policy;
    std::optional<std::string> trace; // absolute
    bool dry_run = false;
    bool verbose = false;
};

struct Setting {
    std::string name;
    std::string value;
};

// How one program is going to run.
struct Plan {
    Program program;
    std::optional<MpiKind> mpi;
    std::vector<Setting> settings;
    std::vector<std::string> notes; // what a person might wonder about, one sentence each
};

// Inspect the program and decide. Throws Failure when it cannot be run under Sennit: see
// program.h, or it uses neither MPI nor OpenMP, or Sennit's own files are missing.
Plan make_plan(const Request &request, const Installation &installation,
               const EnvironmentReader &environment);

// SENNIT_LOCAL_RANKS, in the settings.
void set_local_ranks(Plan &plan, int ranks);

} // namespace sennit::tool

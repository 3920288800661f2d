// SPDX-License-Identifier: Apache-2.0
// What is set in the environment of a program to put Sennit under it, and why. Pure: reads the
// outer environment through a function, changes nothing.
#pragma once

#include "common/installation.h"
#include "launch/job_context.h"
#include "launch/launcher_options.h"
#include "launch/policy.h"
#include "launch/program.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

struct Setting {
    std::string name;
    std::string value;
};

// What was asked for on the command line, checked.
struct JobSpec {
    std::vector<std::string> command; // the program and its arguments
    std::vector<Setting> settings;    // "NAME=value" that was typed in front of it
    std::optional<MpiKind> mpi;
    std::optional<int> ranks;
    std::optional<int> threads;
    std::optional<std::string> split; // threads for each of these, auto or loops
    std::optional<std::string> policy;
    const Binding *bind = nullptr;    // where threads are bound; null: as the environment says
    std::optional<std::string> trace; // absolute
    bool talp = false;                // time is counted
    std::optional<std::string> pool;  // name, share, priority: as they were typed, checked
    std::optional<std::string> share;
    std::optional<std::string> priority;
    std::vector<LauncherWord> launcher_options; // for mpiexec, as typed
    std::vector<JobSpec> others; // programs of the same job behind ": -n": command, settings, ranks
    bool apart = false;          // they are jobs of their own: apart.h
    bool worlds = false; // they are one job, each with its own MPI_COMM_WORLD: addons/worlds
    bool is_one_of_several = false; // this spec is one of those
    bool as_virtual = false;        // as virtual ranks: virtual_rank.h
    bool as_fibers = false;         // which take turns on few kernel threads
    bool watched = false;           // `sennit run` is told when it hangs
    bool dry_run = false;
    bool verbose = false;
};

// How one program is going to run.
struct Plan {
    Program program;
    std::optional<MpiKind> mpi;
    std::vector<Setting> settings;
    std::vector<std::string> notes;     // what a person might wonder about, one sentence each
    bool only_watched = false;          // the OpenMP library is there to tell of hangs alone
    bool runs_as_it_is = false;         // Sennit has nothing to do in it
    std::optional<std::string> warning; // what Sennit cannot do for it although it was meant to
};

// What a variable is for the program: by `NAME=value` in front of it, else from outside.
std::string given_text(const JobSpec &spec, const EnvironmentReader &environment, const char *name);

// Inspect the program and decide. Throws Failure when it cannot be run under Sennit: see
// program.h, or Sennit's own files are missing. `environment`
// is that of the program but for what is set here: spec.settings are in it.
Plan make_plan(const JobSpec &spec, const Installation &installation,
               const EnvironmentReader &environment);

// It takes part in the pool that the spec names, which has `cores`: each rank has a thread for
// each of them, unless somebody has said otherwise, and they wait for cores. Before
// set_local_ranks.
void set_pool(Plan &plan, const JobSpec &spec, int cores, const EnvironmentReader &environment);

// For `ranks` on this machine: SENNIT_LOCAL_RANKS and, where they share `processors` and nobody has
// said how many threads each is to have, OMP_NUM_THREADS. Without it each would take them all.
void set_local_ranks(Plan &plan, int ranks, std::optional<int> processors,
                     const EnvironmentReader &environment);

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// What names mean. This room reads binaries; which symbols and files are MPI's or OpenMP's, those
// above know.
#pragma once

namespace sennit::program {

struct Names {
    bool (*sends)(const char *symbol);       // who calls it sends a message
    bool (*makes_tasks)(const char *symbol); // a compiler's entry point for tasks
    // Who imports it may suspend a task on an event from outside of the task graph.
    bool (*suspends)(const char *symbol);
    // Is a loaded file the program or its library, not one of the system, a compiler or MPI?
    bool (*is_the_programs)(const char *path);
};

const Names &names();
void set_names(const Names &names); // once, before anybody else

} // namespace sennit::program

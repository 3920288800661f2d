// SPDX-License-Identifier: Apache-2.0
// What names mean: which calls and files are MPI's or a compiler's, those above know.
#pragma once

namespace sennit::watch {

struct Names {
    bool (*is_on_file)(const char *call); // it reads or writes a file, so it may take long
    bool (*ends_by_program)(
        const char *call); // what it has begun is complete when the program says so
    // Is a loaded file a library between a task and its wait, which calls back into none of the
    // program's code?
    bool (*is_runtime_library)(const char *path);
};

} // namespace sennit::watch

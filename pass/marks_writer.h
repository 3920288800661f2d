// SPDX-License-Identifier: Apache-2.0
// Writes what the functions of a file do into a note (tasks/program/marks.h): of tasks, and of
// whatever other files may call.
#pragma once

#include "task_entries.h"

namespace sennit::pass {

// Has the module changed?
bool write_marks(llvm::Module &module, const TaskEntries &tasks, const llvm::Triple &target);

} // namespace sennit::pass

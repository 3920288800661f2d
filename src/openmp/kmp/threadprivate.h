// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sennit::kmp {

// Around fork(): nobody is in the middle of the list of threadprivate variables.
void threadprivate_before_fork();
void threadprivate_after_fork(); // in the child, too

} // namespace sennit::kmp

// SPDX-License-Identifier: Apache-2.0
// Whose process it is that this command is to look into. What is read of it (its program, its
// libraries, the names in both) was made by its user.
#pragma once

namespace sennit::tool {

enum class OtherUser { refused, allowed };

// Throws Failure if there is no such process, or if one of its user numbers is not this user's.
// Root may say that it wants to look all the same: `other_user`. Returns whether it is another
// user's.
bool require_own_process(int process, OtherUser other_user);

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Who else could have put a file where it lies? On a machine with several users, a folder that
// others may write holds what they like.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

// Root or this user owns what is there and every folder above it, links resolved, and nobody else
// may write there. A folder above it in which everybody may only make what is new (/tmp) counts as
// such: what is this user's there can be neither moved nor replaced by others.
bool only_we_may_change(const std::string &path);

// The same for a folder in which something new is to be made.
bool may_hold_what_is_ours(const std::string &folder);

// The folder that the environment names there by an absolute path; else empty.
std::string folder_of(const char *variable);

// Where a folder of this user's alone may be made, the best places first. Where others could move
// it away (a /tmp that is not sticky; a container that shows root as nobody), a place comes last:
// others can still neither enter the folder nor make another in this user's name.
std::vector<std::string> private_places();

} // namespace sennit::tool

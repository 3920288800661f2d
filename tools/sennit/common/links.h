// SPDX-License-Identifier: Apache-2.0
// Other names for Sennit's files, where the dynamic loader cannot find them under their own:
// symbolic links in a folder that only this user may enter, and that nobody else can replace. They
// stay, since programs that were started with them may start others at any time. All that this user
// starts shares them, and makes what is missing, so there is one of each, whoever comes first.
#pragma once

#include <span>
#include <string>

namespace sennit::tool {

// Can LD_PRELOAD and LD_LIBRARY_PATH have this path in them? They know no quotes.
bool loader_takes(const std::string &path);

// A link to `folder` with a name that the loader takes. Throws Failure.
std::string link_to(const std::string &folder);

// A folder in which `file` has these names. Throws Failure.
std::string folder_of_links(const std::string &file, std::span<const char *const> names);

} // namespace sennit::tool

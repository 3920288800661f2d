// SPDX-License-Identifier: Apache-2.0
// One line on stderr.
#pragma once

namespace sennit::objects {

[[gnu::format(printf, 1, 2)]] void complain(const char *format, ...);

} // namespace sennit::objects

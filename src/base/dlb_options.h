// SPDX-License-Identifier: Apache-2.0
// What counts here of DLB's options: of the variable DLB_ARGS, and of DLB_Init's arguments.
#pragma once

#include <cstring>
#include <string_view>

namespace sennit {

// Options are words. As in DLB, the last one counts. Null: there are none.
inline bool dlb_wants_talp(const char *options) {
    bool wanted = false;
    for (const char *word = options ? options : ""; *word;) {
        const std::size_t length = std::strcspn(word, " \t");
        const std::string_view text(word, length);
        if (text == "--talp" || text == "--talp=yes" || text == "--talp=1" || text == "--talp=true")
            wanted = true;
        else if (text == "--no-talp" || text == "--talp=no" || text == "--talp=0" ||
                 text == "--talp=false")
            wanted = false;
        word += length + std::strspn(word + length, " \t");
    }
    return wanted;
}

} // namespace sennit

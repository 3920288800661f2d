// SPDX-License-Identifier: Apache-2.0
#include "program/senders.h"

#include "program/code.h"
#include "program/marks.h"

namespace sennit::program {

std::optional<bool> known_to_send(const void *entry) {
    if (const std::optional<Marks> marks = marks_of(entry)) {
        if (marks->sends)
            return true;
        if (marks->all_known)
            return false;
    }
    return calls_send(entry);
}

} // namespace sennit::program

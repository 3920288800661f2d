// SPDX-License-Identifier: Apache-2.0
// Which objects talk to each other, if they send messages from rank to rank. The sender knows for
// which of its objects it sends, the receiver for which of its objects it receives. Both know the
// ranks and the tag.
#pragma once

#include "decide/objects/problem.h"

#include <span>
#include <vector>

namespace sennit::balance {

inline constexpr int kAnyone = -2; // a receiver that takes whatever comes; the same of tags

// What an object has sent to a rank with a tag, or has received from it.
struct Mail {
    bool is_sent;
    int rank; // of the object
    int peer; // the other rank, or kAnyone
    int tag;  // or kAnyone
    int object;
    double bytes;
};

// The links between objects, by the senders' bytes; a < b; each pair once, in the order of the
// objects. What an object sends goes to the objects of the other rank that receive with this tag.
// If these are several, each has a share that is as large as its part of what they receive. If
// there are none, it is nobody's. Receivers that name rank and tag come before those that take any.
std::vector<Link> partners(std::span<const Mail> mail);

} // namespace sennit::balance

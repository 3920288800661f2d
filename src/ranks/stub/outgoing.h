// SPDX-License-Identifier: Apache-2.0
// A stub's request on its way to the host.
#pragma once

#include "ranks/loader/rank_request.h"

namespace sennit::loader::stub {

// `head` has their sizes; text: `head.text_size` bytes.
struct Outgoing {
    RequestHead head;
    const std::int32_t *numbers = nullptr; // of the descriptors, in the rank
    const int *descriptors = nullptr;      // here
    const char *affinity = nullptr;
    const char *text = nullptr;
};

// 0, or what the kernel says: mostly that the host is gone. ETOOMANYREFS: there are too many of
// this user's descriptors on their way between processes, and it has not become better in a minute.
int send(int socket, const Outgoing &request);

} // namespace sennit::loader::stub

// SPDX-License-Identifier: Apache-2.0
// A stub's request on its way to the host.
#pragma once

#include "loader/messages.h"

namespace sennit::loader::stub {

// `head` has their sizes; text: `head.text_size` bytes.
struct Outgoing {
    RequestHead head;
    const std::int32_t *numbers = nullptr; // of the descriptors, in the rank
    const int *descriptors = nullptr;      // here
    const char *affinity = nullptr;
    const char *text = nullptr;
};

// False: the host is gone.
bool send(int socket, const Outgoing &request);

} // namespace sennit::loader::stub

// SPDX-License-Identifier: Apache-2.0
// The host's end of the socket between a stub and its host. All calls return false or nothing if
// the other side is gone, is silent for too long, or belongs to another user.
#pragma once

#include "loader/descriptor.h"
#include "loader/rank_request.h"

#include <optional>
#include <string>
#include <vector>

namespace sennit::loader {

bool is_same_user(int socket);

// What a stub sends (stub/outgoing.h). The descriptors that come back belong to this process. They
// have the order of request.descriptors. `too_many`: this process may not open so many.
std::optional<RankRequest> receive_request(int socket, std::vector<Descriptor> &descriptors,
                                           bool &too_many);

bool send_all(int socket, const void *bytes, std::size_t size);
bool receive_all(int socket, void *bytes, std::size_t size);

template <typename Message>
bool send_message(int socket, const Message &message) {
    return send_all(socket, &message, sizeof message);
}
template <typename Message>
bool receive_message(int socket, Message &message) {
    return receive_all(socket, &message, sizeof message);
}

} // namespace sennit::loader

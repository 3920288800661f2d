// SPDX-License-Identifier: Apache-2.0
// What a call does, as the runtime's policies, the timeline and reports are told.
#pragma once

#include "mpi/call/object.h"
#include "sennit.h"

#include <cstdint>

namespace sennit::mpi {

// As sennit_notice, which has no name for none.
enum class Notice { none, send = SENNIT_NOTICE_SEND, receive = SENNIT_NOTICE_RECEIVE };

// The direction of a call that both sends and receives.
constexpr int kExchange = SENNIT_NOTICE_SEND | SENNIT_NOTICE_RECEIVE;

struct Operation {
    const char *name = "";
    Notice notice = Notice::none;
    int peer = -1;
    int tag = -1;
    Object object = {};      // whose error handler is called
    Object turn = {};        // what it must keep its order on
    std::int64_t count = -1; // elements
    int requests = 0;        // of the program's own, in `handles`
    const void *handles = nullptr;
    const Operation *receives = nullptr; // beside what it sends, and started before
    std::uintptr_t type = 0;             // of a message: its datatype
    std::int64_t bytes = -1;     // that it moves; known where ranks outnumber cores (crowd/rings.h)
    bool assembled = false;      // a collective without messages (crowd/assembled.h)
    std::uint32_t gathering = 0; // the number by which the ranks gather for it (engine/assemble.h)
};

inline std::uint64_t group_of(Object object) {
    return object.kind == Object::Kind::communicator ? object.handle : 0;
}

// What reports say of an operation.
sennit_wait wait_of(const Operation &operation);

} // namespace sennit::mpi

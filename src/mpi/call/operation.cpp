// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/operation.h"

namespace sennit::mpi {

sennit_wait wait_of(const Operation &operation) {
    sennit_wait wait = {operation.name,
                        static_cast<int>(operation.notice),
                        operation.peer,
                        operation.tag,
                        operation.requests,
                        operation.count,
                        group_of(operation.object),
                        operation.handles,
                        -1,
                        -1};
    if (const Operation *receives = operation.receives) {
        wait.direction = kExchange;
        wait.send_peer = wait.peer;
        wait.send_tag = wait.tag;
        wait.peer = receives->peer;
        wait.tag = receives->tag;
        wait.count = receives->count;
    }
    return wait;
}

} // namespace sennit::mpi

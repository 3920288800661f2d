// SPDX-License-Identifier: Apache-2.0
#include "omp/sync/lock_routines.h"

#include "base/message.h"

#include <cstdlib>

namespace sennit::omp {

void routine::make_nested(void *lock) {
    void *memory = std::malloc(sizeof(NestMutex));
    if (!memory)
        fatal("no memory for a nestable lock (%zu bytes)", sizeof(NestMutex));
    *static_cast<NestMutex **>(lock) = new (memory) NestMutex;
}
void routine::drop_nested(void *lock) {
    std::free(&nested(lock));
}

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
// Joining a thread. Nobody tells us when one ends, so who waits beside suspended tasks looks now
// and then.
#include "pthread/bare.h"
#include "pthread/waits.h"

#include <cerrno>

namespace sennit::pthread {

int join(pthread_t thread, void **result, const Deadline &until, const void *caller) {
    sched::Worker *const worker = worker_with_others();
    if (SENNIT_LIKELY(!worker) || !may_suspend(*worker, caller))
        return until.for_ever()
                   ? bare.pthread_join(thread, result)
                   : bare.pthread_clockjoin_np(thread, result, until.clock(), until.time());
    for (;;) {
        if (const int error = bare.pthread_tryjoin_np(thread, result); error != EBUSY)
            return error;
        if (!until.valid() || until.over())
            return until.valid() ? ETIMEDOUT : EINVAL;
        Parking parking("end of a thread", &thread);
        parking.enter();
        parking.wait(*worker, until, kLookAgainNs);
    }
}

} // namespace sennit::pthread

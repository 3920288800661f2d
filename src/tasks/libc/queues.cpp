// SPDX-License-Identifier: Apache-2.0
// POSIX message queues: on Linux a queue is a file, which is ready or not.
#include "tasks/libc/calls.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

namespace sennit::libc {

using pthread::bare;

namespace {

// call(time): with a time that is over, the call does not wait, and says ETIMEDOUT where it would.
template <class Call>
auto move(mqd_t queue, Direction direction, const timespec *time, const void *caller, Call call)
    -> decltype(call(time)) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || (time && !is_valid(*time)))
        return call(time);
    TimeLimit limit(queue, direction, time ? Deadline(CLOCK_REALTIME, time) : Deadline());
    const auto result = until_done(
        *worker, limit,
        [=] {
            constexpr timespec kOver = {0, 0};
            const auto moved = call(&kOver);
            return moved < 0 && errno == ETIMEDOUT ? fail(EAGAIN) : moved;
        },
        [=] { return call(time); });
    return result < 0 && errno == EAGAIN && !is_nonblocking(queue) ? fail(ETIMEDOUT) : result;
}

} // namespace

ssize_t mq_timedreceive(mqd_t queue, char *bytes, std::size_t size, unsigned *priority,
                        const timespec *time, const void *caller) {
    return move(queue, Direction::in, time, caller, [=](const timespec *until) {
        return until ? bare.mq_timedreceive(queue, bytes, size, priority, until)
                     : bare.mq_receive(queue, bytes, size, priority);
    });
}

ssize_t mq_receive(mqd_t queue, char *bytes, std::size_t size, unsigned *priority,
                   const void *caller) {
    return libc::mq_timedreceive(queue, bytes, size, priority, nullptr, caller);
}

int mq_timedsend(mqd_t queue, const char *bytes, std::size_t size, unsigned priority,
                 const timespec *time, const void *caller) {
    return move(queue, Direction::out, time, caller, [=](const timespec *until) {
        return until ? bare.mq_timedsend(queue, bytes, size, priority, until)
                     : bare.mq_send(queue, bytes, size, priority);
    });
}

int mq_send(mqd_t queue, const char *bytes, std::size_t size, unsigned priority,
            const void *caller) {
    return libc::mq_timedsend(queue, bytes, size, priority, nullptr, caller);
}

} // namespace sennit::libc

// SPDX-License-Identifier: Apache-2.0
// System V's message queues and semaphores: no file tells of them, so the task tries again after
// naps. Processes that wait in the kernel come first meanwhile. A semaphore may be zero for an
// instant, which no nap would see: a helper waits for that, in the kernel.
#include "tasks/libc/calls.h"
#include "tasks/libc/elsewhere.h"
#include "tasks/libc/waits.h"
#include "tasks/pthread/bare.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <sys/ipc.h>
#include <sys/msg.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// Of a call that has waited. What it named was there before.
template <class Result>
Result or_removed(Result result) {
    return result < 0 && errno == EINVAL ? fail(EIDRM) : result;
}

// attempt() and block(): see try_again().
template <class Attempt, class Block>
auto until_done(sched::Worker &worker, const Deadline &until, Attempt attempt, Block block)
    -> decltype(block()) {
    const auto result = attempt();
    if (result >= 0 || errno != EAGAIN)
        return result;
    Retries retries(worker);
    return or_removed(try_again([&] { return retries.nap(until); }, attempt, block));
}

// Some operations of a call may be made at once or not at all, others not: libc's.
constexpr std::size_t kMostOperations = 64;
bool all_wait(std::span<const sembuf> operations) {
    return operations.size() <= kMostOperations &&
           std::ranges::none_of(operations,
                                [](const sembuf &one) { return (one.sem_flg & IPC_NOWAIT) != 0; });
}

bool waits_for_zero(std::span<const sembuf> operations) {
    return std::ranges::any_of(operations, [](const sembuf &one) { return one.sem_op == 0; });
}

} // namespace

ssize_t msgrcv(int queue, void *message, std::size_t size, long type, int flags,
               const void *caller) {
    sched::Worker *const worker = flags & IPC_NOWAIT ? nullptr : worker_of_task(caller);
    const auto block = [=] { return bare.msgrcv(queue, message, size, type, flags); };
    if (!worker)
        return block();
    return until_done(
        *worker, Deadline(),
        [=] {
            const ssize_t got = bare.msgrcv(queue, message, size, type, flags | IPC_NOWAIT);
            return got < 0 && errno == ENOMSG ? fail(EAGAIN) : got;
        },
        block);
}

int msgsnd(int queue, const void *message, std::size_t size, int flags, const void *caller) {
    sched::Worker *const worker = flags & IPC_NOWAIT ? nullptr : worker_of_task(caller);
    const auto block = [=] { return bare.msgsnd(queue, message, size, flags); };
    if (!worker)
        return block();
    return until_done(
        *worker, Deadline(), [=] { return bare.msgsnd(queue, message, size, flags | IPC_NOWAIT); },
        block);
}

int semtimedop(int set, sembuf *operations, std::size_t count, const timespec *time,
               const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || (time && !is_valid(*time)) || !all_wait({operations, count}))
        return bare.semtimedop(set, operations, count, time);
    sembuf at_once[kMostOperations];
    std::copy_n(operations, count, at_once);
    for (sembuf &one : std::span(at_once, count))
        one.sem_flg = static_cast<short>(one.sem_flg | IPC_NOWAIT);
    timespec storage;
    const Deadline until = time ? Deadline::in_ns(ns_of(*time), storage) : Deadline();
    const auto attempt = [&] { return bare.semtimedop(set, at_once, count, nullptr); };
    const auto block = [&] {
        const timespec left = left_until(until);
        return bare.semtimedop(set, operations, count, time ? &left : nullptr);
    };
    if (!waits_for_zero({operations, count}))
        return until_done(*worker, until, attempt, block);
    const int result = attempt();
    return result == 0 || errno != EAGAIN
               ? result
               : or_removed(elsewhere(*worker, CallEnds::by_another, block));
}

} // namespace sennit::libc

// SPDX-License-Identifier: Apache-2.0
// pthread_barrier_t: tasks and kernel threads meet at one. A thread waits in libc. A task does the
// same steps on libc's structure (glibc's pthread_barrier_wait.c), but waits in the lot at the
// barrier's address.
//
// Whoever comes last ends the waits of both: libc's by a futex, those in the lot by wake(), for
// every call that returns from libc looks there. A barrier may be destroyed or unmapped as soon as
// all have counted themselves out, so nobody touches it after that.
#include "pthread/bare.h"
#include "pthread/waits.h"

#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace sennit::pthread {
namespace {

struct LibcBarrier {
    std::uint32_t in;            // how many have come, in all rounds
    std::uint32_t current_round; // how many of them may leave
    std::uint32_t count;
    std::uint32_t shared; // 0: private to the process
    std::uint32_t out;    // how many have left
};
static_assert(sizeof(LibcBarrier) <= sizeof(pthread_barrier_t));

LibcBarrier &of(pthread_barrier_t *barrier) {
    return *reinterpret_cast<LibcBarrier *>(barrier);
}

std::uint32_t load(const std::uint32_t &word) {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// At so many that have come and left, all begins anew.
std::uint32_t most_in(const LibcBarrier &barrier) {
    constexpr std::uint32_t kMost = UINT32_MAX / 2;
    return kMost - kMost % barrier.count;
}

// Only the address of the word is used.
void wake_all(const std::uint32_t &word, bool shared) {
    bare.syscall(SYS_futex, reinterpret_cast<long>(&word), shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE,
                 INT_MAX, 0, 0, 0);
}

template <class Done>
void wait_until(sched::Worker &worker, pthread_barrier_t *barrier, Done done) {
    const std::int64_t look_again_ns = of(barrier).shared != 0 ? kLookAgainNs : -1;
    while (!done()) {
        Parking parking("pthread barrier", barrier);
        parking.enter();
        if (done()) {
            parking.leave();
            return;
        }
        parking.wait(worker, Deadline(), look_again_ns);
    }
}

// Which number the caller has among those that have come.
std::uint32_t come(sched::Worker &worker, pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t most = most_in(b);
    for (;;) {
        const std::uint32_t number = __atomic_add_fetch(&b.in, 1, __ATOMIC_ACQ_REL);
        if (number <= most)
            return number;
        wait_until(worker, barrier, [&] { return load(b.in) <= most; });
    }
}

void leave(pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t most = most_in(b);
    if (__atomic_add_fetch(&b.out, 1, __ATOMIC_ACQ_REL) != most)
        return;
    __atomic_store_n(&b.current_round, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&b.out, 0, __ATOMIC_RELAXED);
    const bool shared = b.shared != 0;
    __atomic_store_n(&b.in, 0, __ATOMIC_RELEASE);
    wake_all(b.in, shared);
    wake(barrier);
}

int wait_as_task(sched::Worker &worker, pthread_barrier_t *barrier) {
    LibcBarrier &b = of(barrier);
    const std::uint32_t number = come(worker, barrier);
    const std::uint32_t round = number - number % b.count; // whose last one has come, too
    std::uint32_t before = load(b.current_round);
    while (before + b.count <= number)
        if (__atomic_compare_exchange_n(&b.current_round, &before, round, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            wake_all(b.current_round, b.shared != 0);
            wake(barrier);
            break;
        }
    wait_until(worker, barrier, [&] { return load(b.current_round) >= number; });
    const bool last = number % b.count == 0;
    leave(barrier);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

} // namespace

int barrier_wait(pthread_barrier_t *barrier, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return wait_as_task(*worker, barrier);
    const int result = bare.pthread_barrier_wait(barrier);
    wake(barrier);
    return result;
}

// Who destroys it waits until all have left, be it tasks of this thread.
int barrier_destroy(pthread_barrier_t *barrier, const void *caller) {
    sched::Worker *const worker = worker_with_others();
    if (SENNIT_LIKELY(!worker) || !may_suspend(*worker, caller))
        return bare.pthread_barrier_destroy(barrier);
    LibcBarrier &b = of(barrier);
    const std::uint32_t in = load(b.in);
    if (__atomic_fetch_add(&b.out, most_in(b) - in, __ATOMIC_ACQ_REL) < in)
        wait_until(*worker, barrier, [&] { return load(b.in) == 0; });
    return 0;
}

} // namespace sennit::pthread

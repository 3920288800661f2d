// SPDX-License-Identifier: Apache-2.0
#include "rooms.h"

#include "explorer.h"
#include "node/pool.h"
#include "ranks/fibers/call.h"
#include "ranks/fibers/trap.h"

#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

namespace sennit::schedules {

Rooms g_rooms;

namespace {

constexpr std::size_t kFiberBytes = std::size_t{256} << 10;
alignas(4096) std::byte g_fibers[kMostFibers][kFiberBytes];
alignas(virt::kSignalStack) std::byte g_carriers[kMostCarriers][2 * virt::kSignalStack];
node::BoardSlot g_slot; // the pool's board has one
constinit node::CoreTable g_cores;

enum : std::uint64_t { kWakes = 1 << 21, kHasCore, kAsksTheTime };

Word word_at(long address) {
    return {reinterpret_cast<void *>(address), sizeof(std::uint32_t)};
}

// As in Ladder, but for the count that it has seen.
void nap(Word wakes, std::uint32_t seen) {
    begin_anew(seen);
    futex_wait(wakes, seen, true);
    begin_anew(kWakes);
}

long on_futex(long word, long operation, long value) {
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE)
        futex_wake(word_at(word), static_cast<int>(value));
    else
        nap(word_at(word), static_cast<std::uint32_t>(value));
    return 0;
}

} // namespace

virt::Carrier &carrier_at(std::size_t number) {
    return *virt::carrier_of_stack(g_carriers[number] + virt::kSignalStack - 1);
}

} // namespace sennit::schedules

using sennit::schedules::g_rooms;

extern "C" {

long sennit_virt_call(long number, long a, long b, long c, long, long, long) {
    switch (number) {
    case SYS_futex:
        return sennit::schedules::on_futex(a, b, c);
    case SYS_mmap:
        return reinterpret_cast<long>(sennit::schedules::g_fibers[g_rooms.fibers++]);
    case SYS_gettid:
        return 1;
    case SYS_rt_sigtimedwait: // a home thread has nothing else to do
        sennit::schedules::end_thread();
    case SYS_prctl:
        return -1;
    default:
        return 0;
    }
}
// Fibers have themselves for a stack pointer.
void sennit_virt_switch(void **, void *to, std::uintptr_t) {
    g_rooms.run(*static_cast<sennit::virt::RankFiber *>(to));
}
void sennit_virt_step_back(void **, void *) {}
void sennit_virt_park(void **, char *, void *(*parked)(void *), void *argument) {
    parked(argument);
}
void sennit_virt_resume(void **, void *, std::uintptr_t) {
    std::abort();
}
void sennit_virt_return(void *) {
    std::abort();
}

void *__wrap_mmap(void *, std::size_t, int, int, int, long) {
    return sennit::schedules::g_carriers[g_rooms.carriers];
}
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*main)(void *),
                          void *argument) {
    if (g_rooms.watcher) {
        g_rooms.carrier = main;
        sennit::virt::Carrier &of_thread = sennit::schedules::carrier_at(g_rooms.carriers++);
        of_thread.thread.store(1);
        of_thread.runs.store(1); // it does not look at the clock
    } else {
        g_rooms.watcher = main;
    }
    (void)argument;
    return 0;
}
int __wrap_pthread_detach(pthread_t) {
    return 0;
}
int __wrap_sched_setaffinity(pid_t, std::size_t, const cpu_set_t *) {
    return 0;
}
int __wrap_prctl(int, ...) {
    return 0;
}
int __real_clock_gettime(clockid_t clock, timespec *now);
int __wrap_clock_gettime(clockid_t clock, timespec *now) {
    if (!sennit::schedules::Explorer::is_at_work())
        return __real_clock_gettime(clock, now);
    // As in Ladder: a carrier asks in one place only.
    if (sennit::schedules::Explorer::here())
        sennit::schedules::begin_anew(sennit::schedules::kAsksTheTime);
    *now = {1'000'000, 0}; // it stands still
    return 0;
}
int __wrap_clock_nanosleep(clockid_t, int, const timespec *, timespec *) {
    g_rooms.nap(g_rooms.naps++);
    return 0;
}
}

namespace sennit {

bool virt::set_traps() {
    return true;
}
bool virt::begin_traps(Carrier &) {
    return true;
}
void virt::fit_frame(void *, const Carrier &) {}
void virt::fit_frame(void *, const RankFiber &) {}

namespace node {

Membership read_membership(Reason &) {
    schedules::g_slot.job.store(1);
    Membership membership;
    membership.in_pool = g_rooms.is_pooled;
    return membership;
}
bool Board::open(const char *, Reason &) {
    return true;
}
int Board::slots_end() {
    return 1;
}
BoardSlot &Board::slot(int) {
    return schedules::g_slot;
}
BoardSlot *Board::join(std::uint64_t job, const ProcessInfo &) {
    schedules::g_slot.job.store(job);
    return &schedules::g_slot;
}
void Board::leave(BoardSlot &) {}
CoreTable &Board::core_table() {
    return schedules::g_cores;
}

void Share::begin(Board &, BoardSlot &) {}
void Share::end() {}
std::optional<Hold> Share::take_while(const Atomic<std::int32_t> &, int) { // there is one
    schedules::begin_anew(schedules::kHasCore);
    return Hold{0, 0};
}
void Share::give(Hold) {}
void Share::give_recalled(Hold) {}
void Share::note_progress(std::uint64_t) {}
bool Share::is_late() const {
    return false;
}

} // namespace node
} // namespace sennit

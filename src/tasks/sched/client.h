// SPDX-License-Identifier: Apache-2.0
// What the scheduler asks of the room above, which alone knows what a queued item is. It is one
// table of functions, plugged in when the library is loaded, before there is a thread or a task.
// The linker knows its address, so a call through it is one instruction, as any other call.
#pragma once

#include <atomic>

namespace sennit::sched {

class Worker;
struct Fiber;
struct Item;
struct Slot;
struct Wait;

struct Client {
    // Run a queued item on the current stack, in the context of `slot`.
    void (*run)(Worker &worker, Slot &slot, Item *item);
    // There is no stack for an item, which the worker has found in a queue of `where`. It goes back
    // there, and whoever might run it hears of it.
    void (*put_back)(Worker &worker, Slot &where, Item *item);
    // An idle worker has time for what note_outdated() has announced.
    void (*reconsider)();

    // To whom it tells, while somebody looks on (base/observed.h), that
    // the worker, whose current task is that of `to` by now, leaves `from`;
    void (*switched)(Worker &worker, const Fiber &from, const Fiber &to);
    // its current task waits, or goes on;
    void (*waits)(Worker &worker, const Wait &wait, bool begins);
    // it has found nothing to do.
    void (*found_nothing)();
};

namespace detail {
// Hidden: no look at the GOT on the way to it.
[[gnu::visibility("hidden")]] extern Client g_client;
[[gnu::visibility("hidden")]] extern std::atomic<bool> g_outdated;
} // namespace detail

inline const Client &client() {
    return detail::g_client;
}
void plug(const Client &client); // once, before anybody else

// The room above: verdicts on items have changed, and their priorities are still to follow (or have
// followed). A hint, so relaxed.
inline void note_outdated(bool outdated) {
    detail::g_outdated.store(outdated, std::memory_order_relaxed);
}
inline bool outdated() {
    return detail::g_outdated.load(std::memory_order_relaxed);
}

} // namespace sennit::sched

// SPDX-License-Identifier: Apache-2.0
// The runtime's own code under every schedule of a few threads.
//
// A test program of its own is compiled with SENNIT_SCHEDULES. Then Atomic (base/spin.h) is the
// class below. A thread of a test is a fiber, and it stops before each access to an atomic that
// other threads can tell. Before it goes on from a state in several ways, an Explorer notes the
// threads' stacks and the test's memory. It comes back there for each of these ways, until it has
// seen all states. Nothing else may hold what a thread has changed: no other object.
//
// A load of a word that no other thread writes, in all schedules, is no stop: it reads the same if
// it comes at once. Which words these are, the explorer learns: when a thread is first seen to
// write a word, it begins again. What a test itself does between two accesses comes at once after
// the first of them.
//
// Memory is as on x86-64 (TSO), where our fences matter most: a store waits in its thread's buffer,
// which is emptied at any time, in order. A read-modify-write acts on memory itself. If it is a
// release, or sequentially consistent, it first waits for the buffer to be empty; if it is an
// acquire only, for stores to its own word. What a weaker machine may do beyond that is argued
// beside the code, and TSan sees it.
//
// A test that passes says little until it is known to be able to fail. So a test breaks the code at
// each of the places that it has come by (Flaw), and the explorer has to find every one of these.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sennit::schedules {

using Where = std::source_location;

// How the code is broken, at one line of it.
struct Flaw {
    enum class Kind {
        none,
        lost,     // a store, what a read-modify-write writes, or a fence, is not done
        late,     // the same is done after what its thread reads next
        torn,     // a read-modify-write is a load and a store
        relaxed,  // a store, or a read-modify-write, does not wait for those before it
        stale,    // a load has what its thread has last seen there
        early,    // a load, one of its thread there, has what comes into the word next
        no_fence, // fence_heavy does nothing
        no_lock,  // a SpinLock keeps nobody out
    };
    Kind kind = Kind::none;
    std::string file;
    unsigned line = 0;
    int reads = 1; // late: after so many; early: which one
    bool is_at(Kind other, const Where &where) const;
};

// A word of memory: what the explorer needs to know of an Atomic.
struct Word {
    void *at;
    std::size_t size;
    std::uint64_t bits() const;
    void set(std::uint64_t bits) const;
};
std::uint64_t load(Word word, std::memory_order order, const Where &where);
void store(Word word, std::uint64_t bits, std::memory_order order, const Where &where);
// A read-modify-write: what becomes of a word.
struct Change {
    enum class Kind { to, plus, minus, with, only, from_to }; // with: or; only: and
    Kind kind;
    std::uint64_t bits;
    std::uint64_t expected = 0; // from_to: if it is this
    std::uint64_t of(std::uint64_t before) const;
};
// Returns what was there before.
std::uint64_t change(Word word, const Change &how, std::memory_order order, const Where &where);

// As large as T, so that structures have the layout of the library's.
template <class T>
class Atomic {
    static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
    using Order = std::memory_order;
    static constexpr Order kOrdered = std::memory_order_seq_cst;

    static std::uint64_t bits(T value) {
        std::uint64_t all = 0;
        std::memcpy(&all, &value, sizeof value);
        return all;
    }
    static T value(std::uint64_t bits) {
        T of;
        std::memcpy(static_cast<void *>(&of), &bits, sizeof of);
        return of;
    }

  public:
    Word word() const { return {const_cast<T *>(&value_), sizeof value_}; }
    constexpr Atomic(T value = T()) : value_(value) {}
    Atomic(const Atomic &) = delete;
    Atomic &operator=(const Atomic &) = delete;

    T load(Order order = kOrdered, Where where = Where::current()) const {
        return value(schedules::load(word(), order, where));
    }
    void store(T to, Order order = kOrdered, Where where = Where::current()) {
        schedules::store(word(), bits(to), order, where);
    }
    T exchange(T to, Order order = kOrdered, Where where = Where::current()) {
        return changed(Change::Kind::to, to, order, where);
    }
    T fetch_add(T by, Order order = kOrdered, Where where = Where::current()) {
        return changed(Change::Kind::plus, by, order, where);
    }
    T fetch_sub(T by, Order order = kOrdered, Where where = Where::current()) {
        return changed(Change::Kind::minus, by, order, where);
    }
    T fetch_or(T bits, Order order = kOrdered, Where where = Where::current()) {
        return changed(Change::Kind::with, bits, order, where);
    }
    T fetch_and(T bits, Order order = kOrdered, Where where = Where::current()) {
        return changed(Change::Kind::only, bits, order, where);
    }
    bool compare_exchange_strong(T &expected, T to, Order order = kOrdered,
                                 Where where = Where::current()) {
        const std::uint64_t wanted = bits(expected);
        const std::uint64_t found =
            schedules::change(word(), {Change::Kind::from_to, bits(to), wanted}, order, where);
        expected = value(found);
        return found == wanted;
    }
    bool compare_exchange_strong(T &expected, T to, Order order, Order,
                                 Where where = Where::current()) {
        return compare_exchange_strong(expected, to, order, where);
    }
    bool compare_exchange_weak(T &expected, T to, Order order = kOrdered,
                               Where where = Where::current()) {
        return compare_exchange_strong(expected, to, order, where);
    }
    bool compare_exchange_weak(T &expected, T to, Order order, Order,
                               Where where = Where::current()) {
        return compare_exchange_strong(expected, to, order, where);
    }

  private:
    T changed(Change::Kind kind, T by, Order order, const Where &where) {
        return value(schedules::change(word(), {kind, bits(by)}, order, where));
    }

    alignas(sizeof(T)) T value_;
};

// For code that tries again: it goes on when memory has changed since it began to look.
void wait_for_change();
// cpu_relax(): the same, or no step, see Test::spins_end.
void spin();
// base/spin.h: time goes on with each look at it, by what the test says.
std::uint64_t ticks();
// Until the word is something else. For what a test puts in place of a thread's sleep.
void wait_while(Word word, std::uint64_t is);
// The system's, of one process or of several: a thread sleeps until it is woken, or its time is
// over, see Test::Limits. There are no other ends of a sleep, so a wake-up that is lost is found:
// somebody waits for ever.
void futex_wait(Word word, std::uint32_t expected, bool is_limited = false,
                std::uint32_t bits = ~0U);
// The first `count` of those that have one of the bits.
void futex_wake(Word word, int count, std::uint32_t bits = ~0U);
// A SpinLock is to be taken (base/spin.h). True: that is done, in one step, when it is free. What a
// thread does while it spins would only make more states.
bool takes_lock(Word word);
// Is the calling thread all of its process? See Test::are_processes.
bool has_lock_for_itself();
// base/spin.h, base/fence.h
void full_fence(const Where &where = Where::current());
void membarrier(const Where &where = Where::current());
// Word by word, but for a side on the thread's own stack. There is a whole number of words.
void copy_shared(void *to, const void *from, std::size_t bytes,
                 const Where &where = Where::current());
// The thread has forgotten what it has read: what it does from here on depends on `place` and on
// what it will read. Without this, loops have many more states.
void begin_anew(std::uint64_t place);
// Memory that a test and its threads take, malloc() and free() included. It is noted with the
// test's own. Whoever touches an Atomic in what was given back, or gives it back twice, breaks a
// rule.
void *allocate(std::size_t size);
void release(void *block);
bool is_released(const void *block);
// What the thread has read so far, as a number, and: nothing that it has read since then counts.
// For a loop in a test whose rounds leave nothing behind.
std::uint64_t what_was_read();
void forget_to(std::uint64_t read);
// A rule is broken. The schedule ends here.
[[noreturn]] void fail(const std::string &what);
// The thread does no more: for code that never returns.
[[noreturn]] void end_thread();
// Nothing is left to see in this schedule, which is right.
[[noreturn]] void end_schedule();
// From now on the thread may be killed before any of its steps: it does no more.
void become_mortal();
// Until another thread has ended, or was killed, and its stores are seen.
void wait_for_end(std::size_t thread);
// Has it, as the kernel tells?
bool has_ended(std::size_t thread);

// A test: all that its threads change; what this is at first; what each thread does; what it has
// done so far, as a number; what holds at the end.
struct Test {
    std::vector<std::span<std::byte>> memory;
    std::function<void()> begin;
    std::vector<std::function<void()>> threads;
    std::function<std::uint64_t()> state;
    std::function<std::string()> end; // empty: right

    // When the time of a sleep that has a limit is over: never; when nobody else can go on; or at
    // any time.
    enum class Limits : std::uint8_t { never, at_last, any_time };
    Limits limits = Limits::never;
    bool may_sleep_on = false;  // at the end threads may be asleep
    bool are_processes = false; // the threads: each has locks of its own
    bool spins_end = false;     // the code does something else after some rounds: its spins are no
                                // waits
    // Called before a thread goes on, with its number: what the code has as a variable of the
    // thread.
    std::function<void(std::size_t)> switch_to;
    std::uint64_t tick = 1000; // from a look at the time to the next one
};

struct Result {
    std::string failure;  // empty: none in all schedules
    std::string schedule; // of the failure: a line a step
    std::size_t states = 0;
    std::set<std::uint64_t> ends; // Test::state() at each end
    // Places of the code that were come by.
    std::set<std::pair<std::string, unsigned>> stores, loads, changes;
};

// The last three check the explorer itself by slower ways, which must come to the same ends.
struct Options {
    std::size_t most = 5'000'000;    // states; more is a failure
    bool goes_back_by_steps = false; // from the start again, not by what was noted of a state
    bool stops_at_all_loads = false; // also at those that no other thread could change
    bool spins = false;              // a SpinLock takes itself
};

// Visits all states of the test.
Result explore(const Test &test, const Flaw &flaw = {}, const Options &options = {});
// Empty: the test holds in all schedules. Else what is wrong, and the schedule behind it.
inline std::string failure_of(const Test &test) {
    const Result result = explore(test);
    return result.failure.empty() ? "" : result.failure + "\n" + result.schedule;
}

// The line of the code, without its indentation.
std::string line_of(const std::string &file, unsigned line);
// How the code may be broken: at the lines with this text.
struct Break {
    Flaw::Kind kind;
    std::string text;
    int reads = 1; // as in a Flaw
};
// Those that no test refuses, and those whose text is not among the lines that the tests come by.
// Empty: each is refused.
std::string not_refused(const std::vector<Test> &tests, const std::vector<Break> &breaks);

// The memory of an object that has all of it in itself.
template <class Object>
std::span<std::byte> memory_of(Object &object) {
    return std::as_writable_bytes(std::span(&object, 1));
}
// An object of a test as it is at first, where it has been before.
template <class Object, class... Given>
void make_anew(Object &object, Given... given) {
    std::destroy_at(&object);
    std::construct_at(&object, given...);
}

} // namespace sennit::schedules

// SPDX-License-Identifier: Apache-2.0
// The runtime's own code under every schedule of a few threads.
//
// A test program of its own is compiled with SENNIT_SCHEDULES. Then Atomic (base/spin.h) is the
// class below. A thread of a test is a fiber, and it stops before each access to an atomic that
// other threads can tell. An Explorer runs a test again and again, and takes another choice each
// time, until it has seen all states that these lead to.
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
#include <functional>
#include <set>
#include <source_location>
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
        lost,     // a store is not done
        late,     // a store is done after its thread's next load
        stale,    // a load has what its thread has last seen there
        no_fence, // fence_heavy does nothing
        no_lock,  // a SpinLock keeps nobody out
    };
    Kind kind = Kind::none;
    std::string file;
    unsigned line = 0;
    bool is_at(Kind other, const Where &where) const;
};

// A word of memory.
class Cell {
  protected:
    constexpr explicit Cell(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t load(std::memory_order order, const Where &where) const;
    void store(std::uint64_t bits, std::memory_order order, const Where &where);
    // `change` says what becomes of the word; false: it stays.
    std::uint64_t modify(const std::function<bool(std::uint64_t &)> &change,
                         std::memory_order order, const Where &where);

  private:
    friend class Explorer;
    std::uint64_t bits_;
};

template <class T>
class Atomic : Cell {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    using Order = std::memory_order;
    static constexpr Order kOrdered = std::memory_order_seq_cst;

    static constexpr std::uint64_t bits(T value) {
        if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<std::uint64_t>(value);
        } else {
            return static_cast<std::uint64_t>(value);
        }
    }
    static T value(std::uint64_t bits) {
        if constexpr (std::is_pointer_v<T>) {
            return reinterpret_cast<T>(bits);
        } else {
            return static_cast<T>(bits);
        }
    }

  public:
    constexpr Atomic(T value = T()) : Cell(bits(value)) {}
    Atomic(const Atomic &) = delete;
    Atomic &operator=(const Atomic &) = delete;

    T load(Order order = kOrdered, Where where = Where::current()) const {
        return value(Cell::load(order, where));
    }
    void store(T to, Order order = kOrdered, Where where = Where::current()) {
        Cell::store(bits(to), order, where);
    }
    T exchange(T to, Order order = kOrdered, Where where = Where::current()) {
        return changed([to](T) { return to; }, order, where);
    }
    T fetch_add(T by, Order order = kOrdered, Where where = Where::current()) {
        return changed([by](T from) { return static_cast<T>(from + by); }, order, where);
    }
    T fetch_sub(T by, Order order = kOrdered, Where where = Where::current()) {
        return changed([by](T from) { return static_cast<T>(from - by); }, order, where);
    }
    T fetch_or(T with, Order order = kOrdered, Where where = Where::current()) {
        return changed([with](T from) { return static_cast<T>(from | with); }, order, where);
    }
    T fetch_and(T with, Order order = kOrdered, Where where = Where::current()) {
        return changed([with](T from) { return static_cast<T>(from & with); }, order, where);
    }
    bool compare_exchange_strong(T &expected, T to, Order order = kOrdered,
                                 Where where = Where::current()) {
        bool equal = false;
        const std::uint64_t found = modify(
            [&](std::uint64_t &word) {
                equal = word == bits(expected);
                word = equal ? bits(to) : word;
                return equal;
            },
            order, where);
        expected = value(found);
        return equal;
    }
    bool compare_exchange_strong(T &expected, T to, Order order, Order,
                                 Where where = Where::current()) {
        return compare_exchange_strong(expected, to, order, where);
    }
    bool compare_exchange_weak(T &expected, T to, Order order = kOrdered,
                               Where where = Where::current()) {
        return compare_exchange_strong(expected, to, order, where);
    }

  private:
    template <class Change>
    T changed(Change change, Order order, const Where &where) {
        return value(modify(
            [&](std::uint64_t &word) {
                word = bits(change(value(word)));
                return true;
            },
            order, where));
    }
};

// For code that tries again: it goes on when memory has changed.
void wait_for_change();
// SpinLock asks (base/spin.h).
bool locks_keep_out();
// base/fence.h
void heavy_fence(const Where &where);
// The thread has forgotten what it has read: what it does from here on depends on `place` and on
// what it will read. Without this, loops have many more states.
void begin_anew(std::uint64_t place);
// A rule is broken. The schedule ends here.
[[noreturn]] void fail(const std::string &what);

// A test: what is made anew for each schedule, at the same addresses; what each thread does; what
// it has done so far, as a number; what holds at the end.
struct Test {
    std::function<void()> begin;
    std::vector<std::function<void()>> threads;
    std::function<std::uint64_t()> state;
    std::function<std::string()> end; // empty: right
};

struct Result {
    std::string failure;  // empty: none in all schedules
    std::string schedule; // of the failure: a line a step
    std::size_t states = 0;
    std::size_t ends = 0; // how many of them are ends
    // Places of the code that were come by.
    std::set<std::pair<std::string, unsigned>> stores, loads;
};

// Visits all states of the test, but no more than `most`: more is a failure.
Result explore(const Test &test, const Flaw &flaw = {}, std::size_t most = 5'000'000);

} // namespace sennit::schedules

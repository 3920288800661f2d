// SPDX-License-Identifier: Apache-2.0
// The runtime's own code under every schedule of a few threads.
//
// A test program of its own is compiled with SENNIT_SCHEDULES. Then Atomic (base/spin.h) is the
// class below. A thread of a test is a fiber, and it stops before each access to an atomic that
// other threads can tell. Before it goes on from a state in several ways, an Explorer notes the
// threads' stacks and the test's memory. It comes back there for each of these ways, until it has
// seen all states. Nothing else may hold what a thread has changed: no heap, no other object.
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
    // A read-modify-write: what is there now, and then what becomes of it.
    std::uint64_t begin_change(std::memory_order order, const Where &where);
    void change(std::uint64_t bits);

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
        const std::uint64_t found = begin_change(order, where);
        if (found == bits(expected)) {
            change(bits(to));
            return true;
        }
        expected = value(found);
        return false;
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
    T changed(Change become, Order order, const Where &where) {
        const T found = value(begin_change(order, where));
        change(bits(become(found)));
        return found;
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

// A test: all that its threads change; what this is at first; what each thread does; what it has
// done so far, as a number; what holds at the end.
struct Test {
    std::span<std::byte> memory;
    std::function<void()> begin;
    std::vector<std::function<void()>> threads;
    std::function<std::uint64_t()> state;
    std::function<std::string()> end; // empty: right
};

struct Result {
    std::string failure;  // empty: none in all schedules
    std::string schedule; // of the failure: a line a step
    std::size_t states = 0;
    std::set<std::uint64_t> ends; // Test::state() at each end
    // Places of the code that were come by.
    std::set<std::pair<std::string, unsigned>> stores, loads;
};

// How the explorer comes back to a state: by what it has noted there, or, to check that, by all
// steps from the start again.
enum class Back { by_notes, by_steps };

// Visits all states of the test, but no more than `most`: more is a failure.
Result explore(const Test &test, const Flaw &flaw = {}, std::size_t most = 5'000'000,
               Back back = Back::by_notes);

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

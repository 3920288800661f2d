// SPDX-License-Identifier: Apache-2.0
// What a binary tells of a kind of tasks before its first task has run: the compiler's marks, and
// for sends, where they are silent, the machine code. Marks of some files say nothing about those
// of others.
#pragma once

#include "base/compiler.h"
#include "base/spin.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <link.h>
#include <optional>

namespace sennit::program {

// Has the process loaded objects since the last look? Where it has not, that costs two loads.

// The loader's list of objects grows at its end. So as long as nothing follows the object that was
// last, nothing was loaded; what is unloaded only shortens the list. That object is kept from being
// unloaded: we look at it without the loader's lock.
class Loads {
  public:
    // May something be new? At first, yes.
    bool any_new() const {
        link_map *const last = last_.load(std::memory_order_acquire);
        return SENNIT_UNLIKELY(
            !last || std::atomic_ref(last->l_next).load(std::memory_order_relaxed) != nullptr);
    }
    // By one thread at a time: if something is, check(). any_new() says so until that has returned.
    template <class Check>
    void look(Check check) {
        const Found found = find();
        if (found.loaded != loaded_)
            check();
        loaded_ = found.loaded;
        last_.store(found.last, std::memory_order_release);
    }

  private:
    struct Found {
        unsigned long long loaded;
        link_map *last;
    };
    static Found find();

    std::atomic<link_map *> last_{nullptr}; // null: it could not be kept
    unsigned long long loaded_ = 0;         // objects, ever
};

// True: such tasks send. False: they never do. Nothing: not known. Any thread.
std::optional<bool> known_to_send(const void *entry);

namespace detail {

// Kinds of tasks of which it is known whether they only compute. Each is looked up once; again when
// the process has loaded something, for the function may be another one then.
//
// A word is entry << 1 | answer, 0: free. It is written once, and by itself tells all, so it is
// read and written relaxed. Where a kind finds no place, it is taken for one that may wait.
class Kinds {
  public:
    bool computes(const void *entry) {
        if (!loads_.any_new() && SENNIT_LIKELY(!marked_.load(std::memory_order_relaxed)))
            return false;
        return find(entry);
    }

  private:
    static constexpr std::size_t kPlaces = 512, kTries = 8;
    static std::size_t place_of(std::uintptr_t entry);
    static bool look_up(const void *entry, std::atomic<std::uintptr_t> &kind);
    bool find(const void *entry);
    void forget();

    Loads loads_;
    std::atomic<bool> marked_{false}; // an object has marks; hardly ever
    SpinLock forgetting_;             // the table is emptied by one thread at a time
    std::atomic<std::uintptr_t> kinds_[kPlaces] = {};
};
extern Kinds g_kinds;

} // namespace detail

// Do such tasks only compute: they never wait for anything, as the marks say? Asked of each task
// that is made in a hurry. Any thread.
inline bool known_to_compute(const void *entry) {
    return detail::g_kinds.computes(entry);
}

// Can code in this process suspend a task on an event from outside of the task graph?

// Looks at what the loaded objects import (names.h). System libraries, which import dlsym for other
// reasons than a program has, do not count.
bool process_may_suspend();

// What names mean. This room reads binaries; which symbols and files are MPI's or OpenMP's, those
// above know.

struct SymbolNames {
    bool (*sends)(const char *symbol);       // who calls it sends a message
    bool (*makes_tasks)(const char *symbol); // a compiler's entry point for tasks
    // A file that imports it may suspend a task on an event from outside of the task graph.
    bool (*suspends)(const char *symbol);
    // The same of a file that has tasks: a call of libc's that may block.
    bool (*blocks)(const char *symbol);
    // Is a loaded file the program or its library, not one of the system, a compiler or MPI?
    bool (*is_the_programs)(const char *path);
};

const SymbolNames &names();
void set_names(const SymbolNames &names); // once, before anybody else

} // namespace sennit::program

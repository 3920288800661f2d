// SPDX-License-Identifier: Apache-2.0
// SENNIT_ASSERT(condition): an invariant. It is checked where SENNIT_CHECKED is defined: in the
// debug preset, and in what a build has in checked/lib. Elsewhere the condition is only compiled,
// never evaluated.
//
// For every library of ours: it needs nothing but the C library.
#pragma once

#include <atomic>
#include <cstddef>

#if defined(SENNIT_CHECKED)
#include <cstdint>
#include <cstdlib>
#include <unistd.h>
#endif

namespace sennit {

#if defined(SENNIT_CHECKED)
inline constexpr bool kChecked = true;

// One line in one write, as all messages (message.h), then abort() where the fault is seen: the
// stack is what a debugger or a core file is to show. Without printf, which needs a locale of the
// thread: code of a rank fiber's host runs with a rank's thread pointer (src/ranks/fibers).
[[noreturn, gnu::cold, gnu::noinline]] inline void assertion_failed(const char *condition,
                                                                    const char *file, int line) {
    char text[512];
    std::size_t length = 0;
    const auto add = [&](const char *part) {
        while (*part && length + 1 < sizeof text) // the last one is the end of the line
            text[length++] = *part++;
    };
    char digits[12] = "";
    char *first = digits + sizeof digits - 1;
    for (; line > 0; line /= 10)
        *--first = static_cast<char>('0' + line % 10);
    const char *const parts[] = {"sennit: ", file, ":", first, ": assertion failed: ", condition};
    for (const char *const part : parts)
        add(part);
    text[length++] = '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, length);
    std::abort();
}
#define SENNIT_ASSERT(...)                                                                         \
    ((__VA_ARGS__) ? static_cast<void>(0)                                                          \
                   : ::sennit::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))

// A member of an object that others find by pointers: does one lead to such an object, alive?
class AliveMark {
  public:
    ~AliveMark() { word_ = 0; }
    bool intact() const { return word_ == kWord; }

  private:
    static constexpr std::uint64_t kWord = 0x51eade0f7a5c5eed;
    volatile std::uint64_t word_ = kWord; // volatile: the destructor's store is no dead one
};
#else
inline constexpr bool kChecked = false;

class AliveMark {
  public:
    bool intact() const { return true; }
};
// Not sizeof(!(...)): clang-tidy would have the negation of `a && b` rewritten.
#define SENNIT_ASSERT(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0))
#endif

// The state of an object, kept only where SENNIT_CHECKED is defined. There
// SENNIT_ASSERT(object.state.step(State::next)) ends the program if no such step is allowed.
// Elsewhere the member is empty (declare it [[no_unique_address]]), and nothing is evaluated.
//
// Accesses are relaxed, so they order nothing: the code around makes sure that only one thread at a
// time takes a step.

// A set of states, for tables of steps.
template <class State, class... More>
constexpr unsigned states(State first, More... more) {
    return ((1u << static_cast<unsigned>(first)) | ... | (1u << static_cast<unsigned>(more)));
}

// may_follow(from) is the set of states that come next.
template <class State, unsigned (*may_follow)(State)>
class States {
#if defined(SENNIT_CHECKED)
  public:
    explicit States(State first) : now_(first) {}
    bool step(State to) {
        const State from = now_.exchange(to, std::memory_order_relaxed);
        return (may_follow(from) >> static_cast<unsigned>(to) & 1u) != 0;
    }
    bool is(State state) const { return now_.load(std::memory_order_relaxed) == state; }
    void restart(State state) { now_.store(state, std::memory_order_relaxed); }

  private:
    std::atomic<State> now_;
#else
  public:
    constexpr explicit States(State) {}
    bool step(State) { return true; }
    bool is(State) const { return true; }
    void restart(State) {}
#endif
};

// When a structure is checked as a whole: SENNIT_ASSERT(!checks.due(size) || is_sound()) where it
// rests, that is under its lock, or with its owner. A check of `size` parts is followed by as many
// changes without one. So checks cost no more than the changes, however large the structure is.
class WholeChecks {
#if defined(SENNIT_CHECKED)
  public:
    bool due(std::size_t size) {
        if (left_ > 0) {
            --left_;
            return false;
        }
        left_ = size;
        return true;
    }

  private:
    std::size_t left_ = 0;
#else
  public:
    bool due(std::size_t) { return false; }
#endif
};

} // namespace sennit

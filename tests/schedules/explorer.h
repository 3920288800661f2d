// SPDX-License-Identifier: Apache-2.0
// What visits the states of a test (schedules.h), and what it keeps of each of them.
#pragma once

#include "schedules.h"

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sennit::schedules {

namespace fcontext = boost::context::detail;

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kMostSteps = 3000;
constexpr int kMostQuietLoads = 5000; // then it is a loop

// What a thread, or a buffer, does next.
struct Action {
    enum class Kind {
        load,
        modify,
        drain,
        fence,
        heavy,
        change,
        wait,
        sleep,
        asleep,
        wake,
        begin,
        lock,
        end
    };
    Kind kind = Kind::load;
    Word word = {};
    bool has_to_drain = false;  // all of its thread's stores first, not only those to the word
    std::uint64_t unwanted = 0; // wait: what the word is not to be; end: which thread is to end
    Where where = {};
};

// Of words, in their order. 2^-64 as likely to be wrong as there are pairs of states.
class Hash {
  public:
    explicit Hash(std::uint64_t value = 1) : value_(value) {}
    void add(std::uint64_t word) { // splitmix64
        value_ += word + 0x9E3779B97F4A7C15ull;
        value_ = (value_ ^ (value_ >> 30)) * 0xBF58476D1CE4E5B9ull;
        value_ = (value_ ^ (value_ >> 27)) * 0x94D049BB133111EBull;
        value_ ^= value_ >> 31;
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_;
};

struct Store {
    Word word;
    std::uint64_t bits;
    Where where;
};

// What is done late.
struct Late {
    Word word;
    Change how;
    bool waits; // in the buffer: it is a store
    int reads;  // of its thread, before it comes
    Where where;
};

// What a thread has last seen in a word.
struct Seen {
    Word word;
    std::uint64_t bits;
};

// A few things, in one place: a note of the place has them all.
template <class T>
class Few {
  public:
    static constexpr std::size_t kMost = 24;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *begin() { return all_.data(); }
    T *end() { return all_.data() + size_; }
    const T *begin() const { return all_.data(); }
    const T *end() const { return all_.data() + size_; }
    // The newest one about the word; null: there is none.
    T *about(Word word) {
        for (T *at = end(); at != begin();)
            if ((--at)->word.at == word.at)
                return at;
        return nullptr;
    }
    bool has(Word word) const { return const_cast<Few *>(this)->about(word) != nullptr; }
    void push_back(const T &one) {
        if (size_ == kMost)
            std::abort(); // a test that needs more is too large anyhow
        all_[size_++] = one;
    }
    void pop_front() { std::copy(begin() + 1, end(), begin()), --size_; }
    void clear() { size_ = 0; }

  private:
    std::size_t size_ = 0;
    std::array<T, kMost> all_;
};

// Blocks of memory, one behind the other.
class Arena {
  public:
    bool has(const void *at) const {
        return at >= bytes_.data() && at < bytes_.data() + bytes_.size();
    }
    bool is_gone(const void *at) const { return has(at) && gone_[unit_of(at)]; }
    void *allocate(std::size_t size) {
        const std::size_t units = (size + kUnit - 1) / kUnit;
        if (used_ + units > kUnits)
            std::abort();
        std::byte *const block = bytes_.data() + used_ * kUnit;
        std::memset(block, 0, units * kUnit);
        std::fill_n(&gone_[used_], units, false);
        std::fill_n(&units_[used_], units, units);
        used_ += units;
        return block;
    }
    std::size_t size_of(const void *block) const { return units_[unit_of(block)] * kUnit; }
    void release(const void *block) {
        const std::size_t first = unit_of(block);
        std::fill_n(&gone_[first], units_[first], true);
    }
    void clear() { used_ = 0; }
    template <class Do>
    void each_piece(Do with) {
        with(&used_, sizeof used_);
        with(bytes_.data(), used_ * kUnit);
        with(gone_.data(), used_ * sizeof gone_[0]);
        with(units_.data(), used_ * sizeof units_[0]);
    }

  private:
    static constexpr std::size_t kUnit = 64, kUnits = 1024;
    std::size_t unit_of(const void *at) const {
        return static_cast<std::size_t>(static_cast<const std::byte *>(at) - bytes_.data()) / kUnit;
    }
    alignas(kUnit) std::array<std::byte, kUnits * kUnit> bytes_;
    std::array<bool, kUnits> gone_;
    std::array<std::uint16_t, kUnits> units_; // of the block
    std::size_t used_ = 0;
};
extern Arena g_arena;

// Hashes that have come, none of which is zero.
class Hashes {
  public:
    std::size_t size() const { return size_; }
    // False: it was here.
    bool insert(std::uint64_t hash) {
        if (2 * size_ >= places_.size())
            grow();
        std::uint64_t &place = find(hash);
        const bool is_new = place == 0;
        place = hash;
        size_ += is_new;
        return is_new;
    }

  private:
    std::uint64_t &find(std::uint64_t hash) {
        std::size_t at = hash & (places_.size() - 1);
        while (places_[at] != 0 && places_[at] != hash)
            at = (at + 1) & (places_.size() - 1);
        return places_[at];
    }
    void grow() {
        const std::vector<std::uint64_t> before = std::exchange(
            places_, std::vector<std::uint64_t>(std::max<std::size_t>(1024, 4 * places_.size())));
        for (const std::uint64_t hash : before)
            if (hash != 0)
                find(hash) = hash;
    }
    std::vector<std::uint64_t> places_;
    std::size_t size_ = 0;
};

// Threads are numbered from 0, and then their buffers, and then their deaths.
class Explorer {
  public:
    Explorer(const Test &test, const Flaw &flaw, const Options &options)
        : test_(test), flaw_(flaw), options_(options), threads_(test.threads.size()) {
        for (Thread &thread : threads_)
            thread.stack = std::make_unique<std::byte[]>(kStackBytes);
    }

    Result all();

    // Of the thread that calls. Null outside of threads, where a test prepares its objects, or
    // looks at them.
    static Explorer *here() { return s_running && s_running->current_ ? s_running : nullptr; }
    // A thread runs, or the test begins.
    static bool is_at_work() { return s_running && (s_running->current_ || s_running->begins_); }
    static void *allocate(std::size_t size);
    static void release(void *block);
    std::uint64_t load(Word word, const Where &where);
    void store(Word word, std::uint64_t bits, std::memory_order order, const Where &where);
    std::uint64_t change(Word word, const Change &how, std::memory_order order, const Where &where);
    void full_fence(const Where &where);
    void membarrier(const Where &where);
    void copy_shared(void *to, const void *from, std::size_t bytes, const Where &where);
    void wait_for_change();
    void wait_while(Word word, std::uint64_t is);
    void spin();
    std::uint64_t ticks() { return now_ += test_.tick; }
    void futex_wait(Word word, std::uint32_t expected, bool is_limited, std::uint32_t bits);
    void futex_wake(Word word, int count, std::uint32_t bits);
    void begin_anew(std::uint64_t place);
    std::uint64_t what_was_read() const { return current_->seen.value(); }
    void forget_to(std::uint64_t read) {
        current_->seen = Hash(read);
        current_->looked_version = 0;
    }
    [[noreturn]] void fail(const std::string &what);
    [[noreturn]] void end_thread();
    [[noreturn]] void end_schedule();
    void become_mortal() { current_->is_mortal = true; }
    void wait_for_end(std::size_t other) {
        stop_before({.kind = Action::Kind::end, .unwanted = other});
    }
    bool has_ended(std::size_t other);
    bool takes_lock(Word word);
    bool has_lock_for_itself() const { return test_.are_processes; }

  private:
    // Of a thread, but for its stack.
    struct ThreadState {
        fcontext::fcontext_t context = nullptr;
        bool ended = false;
        Action next;
        Few<Store> buffer;
        Few<Late> late;                   // Flaw::late
        Few<Seen> last;                   // Flaw::stale
        std::uint64_t looked_version = 0; // of memory, at the first load since it last began anew
        std::uint64_t seen_version = 0;   // what it waits for is another one
        // Asleep on a word: for which wakes, and after how many others. None: awake.
        const void *bed = nullptr;
        std::uint32_t bits = 0;
        std::uint32_t turn = 0;
        bool is_limited = false; // its sleep
        bool is_mortal = false;
        int loads = 0; // Flaw::early: at its place
        Hash seen;     // what it has read
    };
    struct Thread : ThreadState {
        std::unique_ptr<std::byte[]> stack;
        std::byte *top() const { return stack.get() + kStackBytes; }
    };
    static_assert(std::is_trivially_copyable_v<ThreadState>);
    // A state from which there are several ways, or one. Schedules share their first choices.
    struct Choice {
        unsigned open;        // who else could go on, a bit each
        int chosen;           // who goes on
        std::size_t noted_at; // in notes_
    };

    static void start(fcontext::transfer_t transfer);
    void begin_test();
    bool begin_threads();
    bool is_new_state();
    bool add_choice();
    bool is_enabled(int who) const;
    Action action_of(int who) const;
    void visit_all();
    void begin_again();
    void note_writer(Word word);
    bool is_quiet(Word word) const;
    void see_end();
    void tell();
    void step(int who);
    void touch(Word word);
    std::uint64_t next_value(Word word) const;
    void set(Word word, std::uint64_t bits);
    void drain(Thread &thread);
    void switch_to(Thread &thread);
    void stop_before(const Action &action);
    void do_late(Thread &thread);
    void come_to_late();
    void stop_if_late();
    [[noreturn]] void leave_thread();
    Thread *next_sleeper(Word word, std::uint32_t bits);
    void leave_bed(Thread &thread);
    unsigned whose_time_is_over() const;
    template <class Do>
    void each_piece(Do with);
    void note_state();
    void go_back(const Choice &choice);
    bool next_choice();
    std::string describe(int who) const;
    int count() const { return static_cast<int>(threads_.size()); }
    Thread &thread(int number) { return threads_[static_cast<std::size_t>(number % count())]; }
    const Thread &thread(int number) const {
        return threads_[static_cast<std::size_t>(number % count())];
    }

    const Test &test_;
    const Flaw &flaw_;
    const Options options_;
    std::vector<Thread> threads_;
    std::vector<Choice> choices_;
    std::vector<std::byte> notes_;                                            // of choices_
    std::vector<std::pair<const char *, unsigned>> stores_, loads_, changes_; // places come by
    std::unordered_map<const void *, unsigned> writers_; // of each word: threads, a bit each
    // Flaw::early: what comes into a word, in this order. It is learned without the flaw.
    std::unordered_map<const void *, std::vector<std::uint64_t>> to_come_;
    bool learns_ = false;
    std::vector<Word> written_; // the same words
    bool has_new_writer_ = false;
    int quiet_loads_ = 0; // one after the other
    Hashes states_;
    Thread *current_ = nullptr;
    bool begins_ = false;
    bool is_cut_ = false; // the schedule ends here
    fcontext::fcontext_t own_ = nullptr;
    std::uint64_t version_ = 0; // of memory
    std::uint64_t now_ = 0;     // ticks()
    Result result_;

    static Explorer *s_running;
};

} // namespace sennit::schedules

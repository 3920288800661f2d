// SPDX-License-Identifier: Apache-2.0
#include "schedules.h"

#include "base/fence.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>

namespace sennit {

std::atomic<bool> g_light_fence_is_free{true};
void fence_light_full() {}
void fence_heavy() {
    schedules::heavy_fence(schedules::Where::current());
}

} // namespace sennit

namespace sennit::schedules {

namespace {

namespace fcontext = boost::context::detail;

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kMostSteps = 3000;

// What a thread, or a buffer, does next.
struct Action {
    enum class Kind { load, modify, drain, fence, heavy, change };
    Kind kind = Kind::load;
    const void *word = nullptr;
    bool has_to_drain = false; // all of its thread's stores first, not only those to the word
    Where where = {};

    bool writes() const {
        return kind == Kind::modify || kind == Kind::drain || kind == Kind::heavy;
    }
};

// Of words, in their order. 2^-64 as likely to be wrong as there are pairs of states.
class Hash {
  public:
    void add(std::uint64_t word) { // splitmix64
        value_ += word + 0x9E3779B97F4A7C15ull;
        value_ = (value_ ^ (value_ >> 30)) * 0xBF58476D1CE4E5B9ull;
        value_ = (value_ ^ (value_ >> 27)) * 0x94D049BB133111EBull;
        value_ ^= value_ >> 31;
    }
    // In no order: twice the same is nothing.
    void toggle(std::uint64_t one, std::uint64_t other) {
        Hash both;
        both.add(one);
        both.add(other);
        value_ ^= both.value_;
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 1;
};

struct Store {
    Cell *cell;
    std::uint64_t bits;
    Where where;
};

} // namespace

// Threads are numbered from 0, and then their buffers.
class Explorer {
  public:
    Explorer(const Test &test, const Flaw &flaw)
        : test_(test), flaw_(flaw), threads_(test.threads.size()) {
        for (Thread &thread : threads_)
            thread.stack = std::make_unique<char[]>(kStackBytes);
    }

    Result all(std::size_t most);

    // Of the thread that calls. Null outside of threads, where a test prepares its objects, or
    // looks at them.
    static Explorer *here() { return s_running && s_running->current_ ? s_running : nullptr; }
    std::uint64_t load(const Cell &cell, const Where &where);
    void store(Cell &cell, std::uint64_t bits, std::memory_order order, const Where &where);
    std::uint64_t modify(Cell &cell, const std::function<bool(std::uint64_t &)> &change,
                         std::memory_order order, const Where &where);
    void heavy_fence(const Where &where);
    void wait_for_change();
    void begin_anew(std::uint64_t place);
    [[noreturn]] void fail(const std::string &what);
    bool locks_keep_out() const { return flaw_.kind != Flaw::Kind::no_lock; }

  private:
    struct Thread {
        std::unique_ptr<char[]> stack;
        fcontext::fcontext_t context = nullptr;
        bool ended = false;
        Action next;
        std::deque<Store> buffer;
        std::deque<Store> late;                                   // Flaw::late
        std::vector<std::pair<const Cell *, std::uint64_t>> last; // what it has seen in each cell
        std::uint64_t seen_version = 0;
        Hash seen; // what it has read
    };
    // A point where something is chosen. Schedules share their first choices.
    struct Choice {
        std::vector<int> open;  // who could go on
        std::size_t chosen = 0; // of open
    };

    static void start(fcontext::transfer_t transfer);
    bool begin_threads();
    bool is_new_state();
    bool add_choice();
    bool is_enabled(int who) const;
    Action action_of(int who) const;
    void run_one();
    void step(int who);
    void set(Cell &cell, std::uint64_t bits);
    void drain(Thread &thread);
    void switch_to(Thread &thread);
    void stop_before(const Action &action);
    static void store_late(Thread &thread);
    bool next_choice();
    std::string describe(int who) const;
    int count() const { return static_cast<int>(threads_.size()); }
    Thread &thread(int number) { return threads_[static_cast<std::size_t>(number % count())]; }
    const Thread &thread(int number) const {
        return threads_[static_cast<std::size_t>(number % count())];
    }

    const Test &test_;
    const Flaw &flaw_;
    std::vector<Thread> threads_;
    std::vector<Choice> choices_;
    std::vector<std::pair<const char *, unsigned>> stores_, loads_; // places that were come by
    bool tells_ = false;
    bool is_at_end_ = false;
    std::size_t depth_ = 0;
    Hash memory_;
    std::unordered_set<std::uint64_t> states_;
    Thread *current_ = nullptr;
    fcontext::fcontext_t own_ = nullptr;
    std::uint64_t version_ = 0; // of memory
    Result result_;

    static Explorer *s_running;
};

Explorer *Explorer::s_running = nullptr;

namespace {

void note(std::vector<std::pair<const char *, unsigned>> &places, const Where &where) {
    const std::pair<const char *, unsigned> place(where.file_name(), where.line());
    if (std::find(places.begin(), places.end(), place) == places.end())
        places.push_back(place);
}

} // namespace

// ---- what a thread does -------------------------------------------------------------------------

void Explorer::stop_before(const Action &action) {
    current_->next = action;
    Thread &self = *current_;
    current_ = nullptr;
    own_ = fcontext::jump_fcontext(own_, &self).fctx;
    current_ = &self;
    self.seen.add(static_cast<std::uint64_t>(action.kind)); // it has come further
}

void Explorer::store_late(Thread &thread) {
    for (; !thread.late.empty(); thread.late.pop_front())
        thread.buffer.push_back(thread.late.front());
}

std::uint64_t Explorer::load(const Cell &cell, const Where &where) {
    note(loads_, where);
    Thread &self = *current_;
    std::uint64_t found;
    const auto last = std::find_if(self.last.begin(), self.last.end(),
                                   [&](const auto &l) { return l.first == &cell; });
    if (flaw_.is_at(Flaw::Kind::stale, where) && last != self.last.end()) {
        found = last->second;
    } else {
        // Its own store may be seen first, and another thread's after it.
        stop_before({Action::Kind::load, &cell, false, where});
        const auto own = std::find_if(self.buffer.rbegin(), self.buffer.rend(),
                                      [&](const Store &s) { return s.cell == &cell; });
        found = own != self.buffer.rend() ? own->bits : cell.bits_;
    }
    if (last != self.last.end())
        last->second = found;
    else
        self.last.emplace_back(&cell, found);
    self.seen.add(found);
    if (!self.late.empty()) {
        stop_before({Action::Kind::load, nullptr, false, where});
        store_late(self);
    }
    return found;
}

void Explorer::store(Cell &cell, std::uint64_t bits, std::memory_order order, const Where &where) {
    note(stores_, where);
    if (flaw_.is_at(Flaw::Kind::lost, where))
        return;
    if (order == std::memory_order_seq_cst) {
        stop_before({Action::Kind::modify, &cell, true, where});
        set(cell, bits);
    } else if (flaw_.is_at(Flaw::Kind::late, where)) {
        current_->late.push_back({&cell, bits, where});
    } else {
        current_->buffer.push_back({&cell, bits, where}); // nobody can tell
    }
}

std::uint64_t Explorer::modify(Cell &cell, const std::function<bool(std::uint64_t &)> &change,
                               std::memory_order order, const Where &where) {
    const bool drains = order != std::memory_order_acquire && order != std::memory_order_relaxed;
    stop_before({Action::Kind::modify, &cell, drains, where});
    const std::uint64_t before = cell.bits_;
    std::uint64_t after = before;
    if (change(after))
        set(cell, after);
    current_->seen.add(before);
    return before;
}

// A membarrier empties one buffer after the other.
void Explorer::heavy_fence(const Where &where) {
    if (flaw_.kind == Flaw::Kind::no_fence)
        return;
    stop_before({Action::Kind::fence, nullptr, true, where});
    Thread &self = *current_;
    for (Thread &other : threads_)
        if (&other != &self && !other.buffer.empty()) {
            stop_before({Action::Kind::heavy, nullptr, false, where});
            while (!other.buffer.empty())
                drain(other);
        }
}

void Explorer::wait_for_change() {
    current_->seen_version = version_;
    stop_before({Action::Kind::change, nullptr, false, Where::current()});
}

void Explorer::begin_anew(std::uint64_t place) {
    current_->seen = Hash();
    current_->seen.add(place);
    current_->last.clear();
}

void Explorer::fail(const std::string &what) {
    if (result_.failure.empty())
        result_.failure = what;
    Thread &self = *current_;
    self.ended = true;
    current_ = nullptr;
    fcontext::jump_fcontext(own_, &self);
    __builtin_unreachable();
}

// ---- one schedule -------------------------------------------------------------------------------

void Explorer::start(fcontext::transfer_t transfer) {
    Explorer &self = *s_running;
    self.own_ = transfer.fctx;
    Thread &thread = *static_cast<Thread *>(transfer.data);
    self.current_ = &thread;
    self.test_.threads[static_cast<std::size_t>(&thread - self.threads_.data())]();
    thread.ended = true;
    store_late(thread);
    self.current_ = nullptr;
    fcontext::jump_fcontext(self.own_, &thread);
}

void Explorer::switch_to(Thread &thread) {
    thread.context = fcontext::jump_fcontext(thread.context, &thread).fctx;
}

void Explorer::set(Cell &cell, std::uint64_t bits) {
    memory_.toggle(reinterpret_cast<std::uintptr_t>(&cell), cell.bits_);
    memory_.toggle(reinterpret_cast<std::uintptr_t>(&cell), bits);
    cell.bits_ = bits;
    ++version_;
}

void Explorer::drain(Thread &thread) {
    const Store store = thread.buffer.front();
    thread.buffer.pop_front();
    set(*store.cell, store.bits);
}

Action Explorer::action_of(int who) const {
    if (who < count())
        return thread(who).next;
    const Store &store = thread(who).buffer.front();
    return {Action::Kind::drain, store.cell, false, store.where};
}

bool Explorer::is_enabled(int who) const {
    const Thread &of = thread(who);
    if (who >= count())
        return !of.buffer.empty();
    if (of.ended)
        return false;
    const Action &next = of.next;
    switch (next.kind) {
    case Action::Kind::change:
        return of.seen_version != version_;
    case Action::Kind::fence:
        return of.buffer.empty();
    case Action::Kind::modify:
        return next.has_to_drain
                   ? of.buffer.empty()
                   : std::none_of(of.buffer.begin(), of.buffer.end(),
                                  [&](const Store &store) { return store.cell == next.word; });
    default:
        return true;
    }
}

void Explorer::step(int who) {
    if (who >= count())
        drain(thread(who));
    else
        switch_to(thread(who));
}

std::string Explorer::describe(int who) const {
    static constexpr const char *kNames[] = {"loads",  "changes",     "store is seen",
                                             "fences", "heavy fence", "tries again"};
    const Action action = action_of(who);
    const std::string file = action.where.file_name();
    return "thread " + std::to_string(who % count()) + " " + kNames[static_cast<int>(action.kind)] +
           " " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(action.where.line());
}

bool Explorer::begin_threads() {
    version_ = 1;
    memory_ = Hash();
    test_.begin();
    for (Thread &thread : threads_) {
        thread.ended = false;
        thread.buffer.clear();
        thread.late.clear();
        thread.last.clear();
        thread.seen = Hash();
        thread.seen_version = 0;
        thread.context =
            fcontext::make_fcontext(thread.stack.get() + kStackBytes, kStackBytes, start);
        switch_to(thread); // to its first access
    }
    return result_.failure.empty();
}

// Memory, what waits to be seen, and each thread: its code does the same as long as it has seen the
// same.
bool Explorer::is_new_state() {
    Hash state;
    state.add(memory_.value());
    for (const Thread &thread : threads_) {
        state.add(thread.seen.value());
        state.add(thread.ended ? 1
                  : thread.next.kind == Action::Kind::change && thread.seen_version != version_
                      ? 2
                      : 0);
        for (const auto *stores : {&thread.buffer, &thread.late}) {
            state.add(stores->size());
            for (const Store &store : *stores) {
                state.add(reinterpret_cast<std::uintptr_t>(store.cell));
                state.add(store.bits);
            }
        }
    }
    state.add(test_.state());
    return states_.insert(state.value()).second;
}

// What may come at this point; false: nothing, or all of it was seen.
bool Explorer::add_choice() {
    Choice fresh;
    for (int who = 0; who < 2 * count(); ++who)
        if (is_enabled(who))
            fresh.open.push_back(who);
    if (fresh.open.empty())
        is_at_end_ = true;
    else if (is_new_state())
        choices_.push_back(std::move(fresh));
    return choices_.size() > depth_;
}

void Explorer::run_one() {
    is_at_end_ = false;
    if (!begin_threads())
        return;
    for (depth_ = 0; depth_ < choices_.size() || add_choice(); ++depth_) {
        const Choice &choice = choices_[depth_];
        const int who = choice.open[choice.chosen];
        if (tells_)
            result_.schedule += describe(who) + "\n";
        step(who);
        if (depth_ > kMostSteps)
            result_.failure = "no end after " + std::to_string(kMostSteps) + " steps";
        if (!result_.failure.empty())
            return;
    }
    if (!is_at_end_)
        return;
    ++result_.ends;
    result_.failure = std::any_of(threads_.begin(), threads_.end(),
                                  [](const Thread &thread) { return !thread.ended; })
                          ? "somebody waits for ever"
                          : test_.end();
}

bool Explorer::next_choice() {
    while (!choices_.empty() && choices_.back().chosen + 1 == choices_.back().open.size())
        choices_.pop_back();
    if (choices_.empty())
        return false;
    ++choices_.back().chosen;
    return true;
}

Result Explorer::all(std::size_t most) {
    s_running = this;
    do
        run_one();
    while (result_.failure.empty() && states_.size() < most && next_choice());
    result_.states = states_.size();
    if (!result_.failure.empty()) { // once more, and tell
        const std::string failure = std::exchange(result_.failure, "");
        tells_ = true;
        run_one();
        result_.failure = failure;
    } else if (result_.states >= most) {
        result_.failure = "more than " + std::to_string(most) + " states";
    }
    s_running = nullptr;
    for (const auto &[file, line] : stores_)
        result_.stores.emplace(file, line);
    for (const auto &[file, line] : loads_)
        result_.loads.emplace(file, line);
    return result_;
}

// ---- the outside --------------------------------------------------------------------------------

bool Flaw::is_at(Kind other, const Where &where) const {
    return kind == other && line == where.line() && file == where.file_name();
}

std::uint64_t Cell::load(std::memory_order, const Where &where) const {
    Explorer *const explorer = Explorer::here();
    return explorer ? explorer->load(*this, where) : bits_;
}

void Cell::store(std::uint64_t bits, std::memory_order order, const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->store(*this, bits, order, where);
    else
        bits_ = bits;
}

std::uint64_t Cell::modify(const std::function<bool(std::uint64_t &)> &change,
                           std::memory_order order, const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        return explorer->modify(*this, change, order, where);
    const std::uint64_t before = bits_;
    change(bits_);
    return before;
}

void wait_for_change() {
    Explorer::here()->wait_for_change();
}

void heavy_fence(const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->heavy_fence(where);
}

void begin_anew(std::uint64_t place) {
    Explorer::here()->begin_anew(place);
}

void fail(const std::string &what) {
    Explorer::here()->fail(what);
}

bool locks_keep_out() {
    const Explorer *const explorer = Explorer::here();
    return !explorer || explorer->locks_keep_out();
}

Result explore(const Test &test, const Flaw &flaw, std::size_t most) {
    return Explorer(test, flaw).all(most);
}

} // namespace sennit::schedules

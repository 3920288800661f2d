// SPDX-License-Identifier: Apache-2.0
#include "schedules.h"

#include "base/fence.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <memory>
#include <type_traits>
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
    const Cell *word = nullptr;
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

// What a thread has last seen in a cell.
struct Seen {
    const Cell *cell;
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
    // The newest one about the cell; null: there is none.
    T *about(const Cell &cell) {
        for (T *at = end(); at != begin();)
            if ((--at)->cell == &cell)
                return at;
        return nullptr;
    }
    bool has(const Cell &cell) const { return const_cast<Few *>(this)->about(cell) != nullptr; }
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

} // namespace

// Threads are numbered from 0, and then their buffers.
class Explorer {
  public:
    Explorer(const Test &test, const Flaw &flaw, Back back)
        : test_(test), flaw_(flaw), back_(back), threads_(test.threads.size()) {
        for (Thread &thread : threads_)
            thread.stack = std::make_unique<std::byte[]>(kStackBytes);
    }

    Result all(std::size_t most);

    // Of the thread that calls. Null outside of threads, where a test prepares its objects, or
    // looks at them.
    static Explorer *here() { return s_running && s_running->current_ ? s_running : nullptr; }
    std::uint64_t load(const Cell &cell, const Where &where);
    void store(Cell &cell, std::uint64_t bits, std::memory_order order, const Where &where);
    std::uint64_t begin_change(const Cell &cell, std::memory_order order, const Where &where);
    void set(Cell &cell, std::uint64_t bits);
    void heavy_fence(const Where &where);
    void wait_for_change();
    void begin_anew(std::uint64_t place);
    [[noreturn]] void fail(const std::string &what);
    bool locks_keep_out() const { return flaw_.kind != Flaw::Kind::no_lock; }

  private:
    // Of a thread, but for its stack.
    struct Place {
        fcontext::fcontext_t context = nullptr;
        bool ended = false;
        Action next;
        Few<Store> buffer;
        Few<Store> late; // Flaw::late
        Few<Seen> last;  // Flaw::stale
        std::uint64_t seen_version = 0;
        Hash seen; // what it has read
    };
    struct Thread : Place {
        std::unique_ptr<std::byte[]> stack;
        std::byte *top() const { return stack.get() + kStackBytes; }
    };
    static_assert(std::is_trivially_copyable_v<Place>);
    // A state from which there are several ways, or one. Schedules share their first choices.
    struct Choice {
        unsigned open;        // who else could go on, a bit each
        int chosen;           // who goes on
        std::size_t noted_at; // in notes_
    };

    static void start(fcontext::transfer_t transfer);
    bool begin_threads();
    bool is_new_state();
    bool add_choice();
    bool is_enabled(int who) const;
    Action action_of(int who) const;
    void visit_all(std::size_t most);
    void see_end();
    void tell();
    void step(int who);
    void drain(Thread &thread);
    void switch_to(Thread &thread);
    void stop_before(const Action &action);
    static void store_late(Thread &thread);
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
    const Back back_;
    std::vector<Thread> threads_;
    std::vector<Choice> choices_;
    std::vector<std::byte> notes_;                                  // of choices_
    std::vector<std::pair<const char *, unsigned>> stores_, loads_; // places that were come by
    Hash memory_;
    Hashes states_;
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
    for (const Store &store : thread.late)
        thread.buffer.push_back(store);
    thread.late.clear();
}

std::uint64_t Explorer::load(const Cell &cell, const Where &where) {
    note(loads_, where);
    Thread &self = *current_;
    std::uint64_t found;
    const bool may_be_stale = flaw_.kind == Flaw::Kind::stale;
    Seen *const last = may_be_stale ? self.last.about(cell) : nullptr;
    if (last && flaw_.is_at(Flaw::Kind::stale, where)) {
        found = last->bits;
    } else {
        // Its own store may be seen first, and another thread's after it.
        stop_before({Action::Kind::load, &cell, false, where});
        const Store *const own = self.buffer.about(cell);
        found = own ? own->bits : cell.bits_;
    }
    if (last)
        last->bits = found;
    else if (may_be_stale)
        self.last.push_back({&cell, found});
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

std::uint64_t Explorer::begin_change(const Cell &cell, std::memory_order order,
                                     const Where &where) {
    const bool drains = order != std::memory_order_acquire && order != std::memory_order_relaxed;
    stop_before({Action::Kind::modify, &cell, drains, where});
    current_->seen.add(cell.bits_);
    return cell.bits_;
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
    const Store store = *thread.buffer.begin();
    thread.buffer.pop_front();
    set(*store.cell, store.bits);
}

Action Explorer::action_of(int who) const {
    if (who < count())
        return thread(who).next;
    const Store &store = *thread(who).buffer.begin();
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
        return next.has_to_drain ? of.buffer.empty() : !of.buffer.has(*next.word);
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
        static_cast<Place &>(thread) = Place();
        thread.context = fcontext::make_fcontext(thread.top(), kStackBytes, start);
        switch_to(thread); // to its first access
    }
    return result_.failure.empty();
}

// All that makes a state. A place comes before its stack: it says where this begins.
template <class Do>
void Explorer::each_piece(Do with) {
    with(&version_, sizeof version_);
    with(&memory_, sizeof memory_);
    with(test_.memory.data(), test_.memory.size());
    for (Thread &thread : threads_) {
        with(static_cast<Place *>(&thread), sizeof(Place));
        with(thread.context,
             static_cast<std::size_t>(thread.top() - static_cast<std::byte *>(thread.context)));
    }
}

void Explorer::note_state() {
    each_piece([this](const void *piece, std::size_t size) {
        const auto *const bytes = static_cast<const std::byte *>(piece);
        notes_.insert(notes_.end(), bytes, bytes + size);
    });
}

// To the last of choices_, where the thread that was chosen is about to go on.
void Explorer::go_back(const Choice &choice) {
    if (back_ == Back::by_steps) {
        begin_threads();
        for (const Choice *at = choices_.data(); at != &choice; ++at)
            step(at->chosen);
        return;
    }
    const std::byte *from = notes_.data() + choice.noted_at;
    each_piece([&from](void *piece, std::size_t size) {
        std::memcpy(piece, from, size);
        from += size;
    });
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
    return states_.insert(state.value() | 1);
}

// What may come at this point; false: nothing, or all of it was seen.
bool Explorer::add_choice() {
    unsigned open = 0;
    for (int who = 0; who < 2 * count(); ++who)
        if (is_enabled(who))
            open |= 1U << who;
    if (open == 0)
        see_end();
    if (open == 0 || !is_new_state())
        return false;
    choices_.push_back({open & (open - 1), std::countr_zero(open), notes_.size()});
    if (choices_.back().open != 0)
        note_state();
    return true;
}

void Explorer::see_end() {
    result_.ends.insert(test_.state());
    const auto has_ended = [](const Thread &thread) { return thread.ended; };
    result_.failure = std::all_of(threads_.begin(), threads_.end(), has_ended)
                          ? test_.end()
                          : "somebody waits for ever";
}

// Back to the last state from which there is another way; false: there is none.
bool Explorer::next_choice() {
    while (!choices_.empty() && choices_.back().open == 0) {
        notes_.resize(choices_.back().noted_at);
        choices_.pop_back();
    }
    if (choices_.empty())
        return false;
    Choice &choice = choices_.back();
    choice.chosen = std::countr_zero(choice.open);
    choice.open &= choice.open - 1;
    go_back(choice);
    return true;
}

void Explorer::visit_all(std::size_t most) {
    if (!begin_threads())
        return;
    bool goes_on = add_choice();
    while (result_.failure.empty() && (goes_on || next_choice())) {
        step(choices_.back().chosen);
        goes_on = result_.failure.empty() && add_choice();
        if (choices_.size() > kMostSteps)
            result_.failure = "no end after " + std::to_string(kMostSteps) + " steps";
        else if (result_.failure.empty() && states_.size() >= most)
            result_.failure = "more than " + std::to_string(most) + " states";
    }
}

// The schedule of the failure, from its start again.
void Explorer::tell() {
    const std::string failure = std::exchange(result_.failure, "");
    bool goes_on = begin_threads();
    for (std::size_t i = 0; goes_on && i < choices_.size(); ++i) {
        result_.schedule += describe(choices_[i].chosen) + "\n";
        step(choices_[i].chosen);
        goes_on = result_.failure.empty();
    }
    result_.failure = failure;
}

Result Explorer::all(std::size_t most) {
    s_running = this;
    visit_all(most);
    result_.states = states_.size();
    if (!result_.failure.empty())
        tell();
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

std::uint64_t Cell::begin_change(std::memory_order order, const Where &where) {
    Explorer *const explorer = Explorer::here();
    return explorer ? explorer->begin_change(*this, order, where) : bits_;
}

void Cell::change(std::uint64_t bits) {
    if (Explorer *const explorer = Explorer::here())
        explorer->set(*this, bits);
    else
        bits_ = bits;
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

Result explore(const Test &test, const Flaw &flaw, std::size_t most, Back back) {
    return Explorer(test, flaw, back).all(most);
}

} // namespace sennit::schedules

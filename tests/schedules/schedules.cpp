// SPDX-License-Identifier: Apache-2.0
#include "schedules.h"

#include "explorer.h"

#include <bit>

namespace sennit::schedules {

Arena g_arena;
Explorer *Explorer::s_running = nullptr;

namespace {

void note(std::vector<std::pair<const char *, unsigned>> &places, const Where &where) {
    const std::pair<const char *, unsigned> place(where.file_name(), where.line());
    if (std::find(places.begin(), places.end(), place) == places.end())
        places.push_back(place);
}

} // namespace

// ---- what a thread does -------------------------------------------------------------------------

void *Explorer::allocate(std::size_t size) {
    void *const block = g_arena.allocate(size);
    if (Explorer *const explorer = here()) // in which order threads come decides who has which
        explorer->current_->seen.add(reinterpret_cast<std::uintptr_t>(block));
    return block;
}

void Explorer::release(void *block) {
    if (!g_arena.has(block))
        return;
    if (here() && g_arena.is_gone(block))
        here()->fail("a block is given back twice");
    g_arena.release(block);
}

void Explorer::touch(Word word) {
    if (g_arena.is_gone(word.at))
        fail("a block is touched that was given back");
}

void Explorer::stop_before(const Action &action) {
    current_->next = action;
    quiet_loads_ = 0;
    Thread &self = *current_;
    current_ = nullptr;
    own_ = fcontext::jump_fcontext(own_, &self).fctx;
    current_ = &self;
    self.seen.add(static_cast<std::uint64_t>(action.kind)); // it has come further
}

void Explorer::do_late(Thread &thread) {
    for (const Late &one : thread.late) {
        note_writer(one.word);
        if (one.waits)
            thread.buffer.push_back({one.word, one.how.bits, one.where});
        else
            set(one.word, one.how.of(one.word.bits()));
    }
    thread.late.clear();
}

// At the end of a thread.
void Explorer::stop_if_late() {
    if (current_->late.empty())
        return;
    stop_before({.kind = Action::Kind::load});
    do_late(*current_);
}

// The thread has read something. What was to be late comes now, or when others have gone on.
void Explorer::come_to_late() {
    bool comes = false;
    for (Late &one : current_->late)
        comes |= --one.reads == 0;
    if (comes)
        stop_if_late();
}

void Explorer::note_writer(Word word) {
    unsigned &threads = writers_[word.at];
    if (threads == 0)
        written_.push_back(word);
    const unsigned me = 1U << (current_ - threads_.data());
    has_new_writer_ |= (threads & me) == 0;
    threads |= me;
}

// Does no other thread write the word?
bool Explorer::is_quiet(Word word) const {
    const auto found = writers_.find(word.at);
    const unsigned me = 1U << (current_ - threads_.data());
    return !options_.stops_at_all_loads && (found == writers_.end() || (found->second & ~me) == 0);
}

std::uint64_t Explorer::load(Word word, const Where &where) {
    note(loads_, where);
    Thread &self = *current_;
    if (self.looked_version == 0)
        self.looked_version = version_;
    std::uint64_t found;
    const bool may_be_stale = flaw_.kind == Flaw::Kind::stale;
    Seen *const last = may_be_stale ? self.last.about(word) : nullptr;
    if (last && flaw_.is_at(Flaw::Kind::stale, where)) {
        found = last->bits;
    } else {
        // Its own store may be seen first, and another thread's after it.
        if (!is_quiet(word) || ++quiet_loads_ > kMostQuietLoads)
            stop_before({.word = word, .where = where});
        touch(word);
        const Store *const own = self.buffer.about(word);
        found = own ? own->bits : word.bits();
        if (flaw_.is_at(Flaw::Kind::early, where) && !learns_ && ++self.loads == flaw_.reads)
            found = next_value(word);
    }
    if (last)
        last->bits = found;
    else if (may_be_stale)
        self.last.push_back({word, found});
    self.seen.add(found);
    come_to_late();
    return found;
}

void Explorer::store(Word word, std::uint64_t bits, std::memory_order order, const Where &where) {
    note(stores_, where);
    if (flaw_.is_at(Flaw::Kind::lost, where))
        return;
    const bool is_ordered =
        order == std::memory_order_seq_cst && !flaw_.is_at(Flaw::Kind::relaxed, where);
    if (flaw_.is_at(Flaw::Kind::late, where)) {
        current_->late.push_back({word, {Change::Kind::to, bits}, !is_ordered, flaw_.reads, where});
    } else if (is_ordered) {
        stop_before({Action::Kind::modify, word, true, 0, where});
        touch(word);
        note_writer(word);
        set(word, bits);
    } else {
        touch(word);
        note_writer(word);
        current_->buffer.push_back({word, bits, where}); // nobody can tell
    }
}

std::uint64_t Explorer::change(Word word, const Change &how, std::memory_order order,
                               const Where &where) {
    note(changes_, where);
    const bool drains = order != std::memory_order_acquire && order != std::memory_order_relaxed &&
                        !flaw_.is_at(Flaw::Kind::relaxed, where);
    stop_before({Action::Kind::modify, word, drains, 0, where});
    touch(word);
    const std::uint64_t before = word.bits();
    current_->seen.add(before);
    const std::uint64_t after = how.of(before);
    const bool is_done = how.kind != Change::Kind::from_to || before == how.expected;
    if (is_done && flaw_.is_at(Flaw::Kind::late, where)) {
        current_->late.push_back({word, how, false, flaw_.reads, where});
        return before;
    }
    if (is_done && flaw_.is_at(Flaw::Kind::torn, where))
        stop_before({Action::Kind::modify, word, drains, 0, where});
    if (is_done && !flaw_.is_at(Flaw::Kind::lost, where)) {
        note_writer(word);
        set(word, after);
    }
    come_to_late();
    if (flaw_.kind == Flaw::Kind::no_lock) // what follows under the lock may be late, too
        stop_before({.kind = Action::Kind::load});
    return before;
}

bool Explorer::has_ended(std::size_t other) {
    stop_before({.kind = Action::Kind::load});
    const Thread &its = threads_[other];
    const bool ended = its.ended && its.buffer.empty();
    current_->seen.add(ended);
    return ended;
}

bool Explorer::takes_lock(Word word) {
    if (options_.spins)
        return false;
    if (flaw_.kind != Flaw::Kind::no_lock) {
        stop_before({.kind = Action::Kind::lock, .word = word});
        touch(word);
        note_writer(word);
        set(word, 1);
    }
    return true;
}

void Explorer::full_fence(const Where &where) {
    note(changes_, where);
    if (!flaw_.is_at(Flaw::Kind::lost, where))
        stop_before({Action::Kind::fence, {}, true, 0, where});
}

// A membarrier empties one buffer after the other.
void Explorer::membarrier(const Where &where) {
    note(changes_, where);
    if (flaw_.kind == Flaw::Kind::no_fence || flaw_.is_at(Flaw::Kind::lost, where))
        return;
    stop_before({Action::Kind::fence, {}, true, 0, where});
    Thread &self = *current_;
    for (Thread &other : threads_)
        if (&other != &self && !other.buffer.empty()) {
            stop_before({.kind = Action::Kind::heavy, .where = where});
            while (!other.buffer.empty())
                drain(other);
        }
}

void Explorer::copy_shared(void *to, const void *from, std::size_t bytes, const Where &where) {
    constexpr std::size_t unit = sizeof(std::uint32_t);
    const auto is_own = [this](const void *at) {
        return at >= current_->stack.get() && at < current_->top();
    };
    for (std::size_t done = 0; done < bytes; done += unit) {
        const Word source = {const_cast<std::byte *>(static_cast<const std::byte *>(from)) + done,
                             unit};
        const Word target = {static_cast<std::byte *>(to) + done, unit};
        const std::uint64_t bits = is_own(from) ? source.bits() : load(source, where);
        if (is_own(to))
            target.set(bits);
        else
            store(target, bits, std::memory_order_relaxed, where);
    }
}

void Explorer::wait_for_change() {
    Thread &self = *current_;
    self.seen_version = self.looked_version != 0 ? self.looked_version : version_;
    self.looked_version = 0;
    stop_before({.kind = Action::Kind::change});
}

void Explorer::spin() {
    if (!test_.spins_end)
        wait_for_change();
}

void Explorer::wait_while(Word word, std::uint64_t is) {
    stop_before({.kind = Action::Kind::wait, .word = word, .unwanted = is});
}

// In one step the kernel compares and puts the thread to bed. It has fences on both sides.
void Explorer::futex_wait(Word word, std::uint32_t expected, bool is_limited, std::uint32_t bits) {
    stop_before({Action::Kind::sleep, word, true, 0, {}});
    Thread &self = *current_;
    if (word.bits() != expected)
        return self.seen.add(1);
    self.bed = word.at;
    self.bits = bits;
    self.turn = 0;
    self.is_limited = is_limited;
    for (const Thread &other : threads_)
        self.turn += other.bed == word.at;
    stop_before({.kind = Action::Kind::asleep, .word = word});
    if (self.bed) { // its time is over
        leave_bed(self);
        self.seen.add(2);
    }
}

void Explorer::leave_bed(Thread &thread) {
    const void *const bed = std::exchange(thread.bed, nullptr);
    for (Thread &other : threads_)
        other.turn -= other.bed == bed && other.turn > thread.turn;
}

// When nobody else can go on: a bit each.
unsigned Explorer::whose_time_is_over() const {
    unsigned all = 0;
    for (int who = 0; who < count() && test_.limits == Test::Limits::at_last; ++who)
        if (thread(who).bed && thread(who).is_limited)
            all |= 1U << who;
    return all;
}

// The one that has slept longest.
Explorer::Thread *Explorer::next_sleeper(Word word, std::uint32_t bits) {
    Thread *next = nullptr;
    for (Thread &other : threads_)
        if (other.bed == word.at && (other.bits & bits) != 0 && (!next || other.turn < next->turn))
            next = &other;
    return next;
}

void Explorer::futex_wake(Word word, int count, std::uint32_t bits) {
    stop_before({Action::Kind::wake, word, true, 0, {}});
    for (; count > 0; --count) {
        Thread *const woken = next_sleeper(word, bits);
        if (!woken)
            break;
        leave_bed(*woken);
    }
}

void Explorer::begin_anew(std::uint64_t place) {
    current_->seen = Hash();
    current_->seen.add(place);
    current_->looked_version = 0;
    current_->last.clear();
}

void Explorer::fail(const std::string &what) {
    if (result_.failure.empty())
        result_.failure = what;
    leave_thread();
}

void Explorer::end_thread() {
    stop_if_late();
    leave_thread();
}

void Explorer::end_schedule() {
    is_cut_ = true;
    leave_thread();
}

void Explorer::leave_thread() {
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
    self.stop_before({.kind = Action::Kind::begin});
    self.test_.threads[static_cast<std::size_t>(&thread - self.threads_.data())]();
    self.end_thread();
}

void Explorer::switch_to(Thread &thread) {
    if (test_.switch_to)
        test_.switch_to(static_cast<std::size_t>(&thread - threads_.data()));
    thread.context = fcontext::jump_fcontext(thread.context, &thread).fctx;
}

void Explorer::set(Word word, std::uint64_t bits) {
    word.set(bits);
    ++version_;
    std::vector<std::uint64_t> *const all = learns_ ? &to_come_[word.at] : nullptr;
    if (all && std::find(all->begin(), all->end(), bits) == all->end())
        all->push_back(bits);
}

std::uint64_t Explorer::next_value(Word word) const {
    const auto found = to_come_.find(word.at);
    if (found == to_come_.end())
        return word.bits();
    const std::vector<std::uint64_t> &all = found->second;
    const auto now = std::find(all.begin(), all.end(), word.bits());
    const auto next = now == all.end() ? all.begin() : now + 1;
    return next == all.end() ? word.bits() : *next;
}

void Explorer::drain(Thread &thread) {
    const Store store = *thread.buffer.begin();
    thread.buffer.pop_front();
    set(store.word, store.bits);
}

Action Explorer::action_of(int who) const {
    if (who < count())
        return thread(who).next;
    const Store &store = *thread(who).buffer.begin();
    return {.kind = Action::Kind::drain, .word = store.word, .where = store.where};
}

bool Explorer::is_enabled(int who) const {
    const Thread &of = thread(who);
    if (who >= count() && who < 2 * count())
        return !of.buffer.empty();
    if (of.ended)
        return false;
    if (who >= 2 * count())
        return of.is_mortal;
    const Action &next = of.next;
    switch (next.kind) {
    case Action::Kind::change:
        return of.seen_version != version_;
    case Action::Kind::fence:
    case Action::Kind::sleep:
    case Action::Kind::wake:
        return of.buffer.empty();
    case Action::Kind::asleep:
        return !of.bed || (of.is_limited && test_.limits == Test::Limits::any_time);
    case Action::Kind::lock:
        return next.word.bits() == 0 && !of.buffer.has(next.word);
    case Action::Kind::wait:
        return next.word.bits() != next.unwanted;
    case Action::Kind::end:
        return threads_[next.unwanted].ended && threads_[next.unwanted].buffer.empty();
    case Action::Kind::modify:
        return next.has_to_drain ? of.buffer.empty() : !of.buffer.has(next.word);
    default:
        return true;
    }
}

void Explorer::step(int who) {
    if (who < count())
        return switch_to(thread(who));
    if (who < 2 * count())
        return drain(thread(who));
    thread(who).ended = true;
    ++version_; // others look for that
    if (thread(who).bed)
        leave_bed(thread(who));
}

std::string Explorer::describe(int who) const {
    static constexpr const char *kNames[] = {
        "loads",  "changes",  "store is seen", "fences", "heavy fence", "tries again",     "waits",
        "sleeps", "is woken", "wakes",         "begins", "locks",       "waits for an end"};
    if (who >= 2 * count())
        return "thread " + std::to_string(who % count()) + " is killed";
    const Action action = action_of(who);
    const std::string file = action.where.file_name();
    const std::string step =
        "thread " + std::to_string(who % count()) + " " + kNames[static_cast<int>(action.kind)];
    return file.empty() ? step
                        : step + " " + file.substr(file.rfind('/') + 1) + ":" +
                              std::to_string(action.where.line());
}

void Explorer::begin_test() {
    g_arena.clear();
    begins_ = true;
    test_.begin();
    begins_ = false;
}

bool Explorer::begin_threads() {
    version_ = 1;
    begin_test();
    for (Thread &thread : threads_) {
        static_cast<ThreadState &>(thread) = ThreadState();
        thread.context = fcontext::make_fcontext(thread.top(), kStackBytes, start);
        switch_to(thread); // to its begin
    }
    return result_.failure.empty();
}

// All that makes a state. A place comes before its stack: it says where this begins.
template <class Do>
void Explorer::each_piece(Do with) {
    with(&version_, sizeof version_);
    for (const std::span<std::byte> piece : test_.memory)
        with(piece.data(), piece.size());
    g_arena.each_piece(with);
    for (Thread &thread : threads_) {
        with(static_cast<ThreadState *>(&thread), sizeof(ThreadState));
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
    if (options_.goes_back_by_steps) {
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
    for (const Word word : written_)
        state.add(word.bits());
    for (const Thread &thread : threads_) {
        state.add(thread.seen.value());
        state.add(thread.ended ? 1
                  : thread.next.kind == Action::Kind::change && thread.seen_version != version_
                      ? 2
                      : 0);
        if (thread.bed)
            state.add(3 + thread.turn);
        for (const Store &store : thread.buffer) {
            state.add(reinterpret_cast<std::uintptr_t>(store.word.at));
            state.add(store.bits);
        }
        for (const Late &late : thread.late) {
            state.add(reinterpret_cast<std::uintptr_t>(late.word.at));
            state.add(late.how.bits);
        }
        state.add(thread.buffer.size() + 100 * thread.late.size());
        if (flaw_.kind == Flaw::Kind::early)
            state.add(static_cast<std::uint64_t>(std::min(thread.loads, flaw_.reads)));
    }
    state.add(test_.state());
    return states_.insert(state.value() | 1);
}

// What may come at this point; false: nothing, or all of it was seen.
bool Explorer::add_choice() {
    unsigned open = 0;
    for (int who = 0; who < 3 * count(); ++who)
        if (is_enabled(who))
            open |= 1U << who;
    if (open == 0)
        open = whose_time_is_over();
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
    const auto has_ended = [this](const Thread &thread) {
        return thread.ended || (test_.may_sleep_on && thread.bed);
    };
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

void Explorer::begin_again() {
    has_new_writer_ = false;
    choices_.clear();
    notes_.clear();
    states_ = Hashes();
    result_.ends.clear();
}

// Or until a thread is seen to write a word, whose loads by others were no stops.
void Explorer::visit_all() {
    begin_again();
    bool goes_on = begin_threads() && add_choice();
    while (result_.failure.empty() && !has_new_writer_ && (goes_on || next_choice())) {
        step(choices_.back().chosen);
        goes_on = result_.failure.empty() && !std::exchange(is_cut_, false) && add_choice();
        if (choices_.size() > kMostSteps)
            result_.failure = "no end after " + std::to_string(kMostSteps) + " steps";
        else if (result_.failure.empty() && states_.size() >= options_.most)
            result_.failure = "more than " + std::to_string(options_.most) + " states";
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

Result Explorer::all() {
    bool goes_on = false;
    s_running = this;
    learns_ = flaw_.kind == Flaw::Kind::early;
    do { // what fails before the explorer knows all writers, fails again
        result_.failure.clear();
        visit_all();
        goes_on = has_new_writer_ || std::exchange(learns_, false);
    } while (goes_on);
    result_.states = states_.size();
    if (!result_.failure.empty())
        tell();
    begin_test(); // the test's objects may end: no lock is held
    s_running = nullptr;
    for (const auto &[file, line] : stores_)
        result_.stores.emplace(file, line);
    for (const auto &[file, line] : loads_)
        result_.loads.emplace(file, line);
    for (const auto &[file, line] : changes_)
        result_.changes.emplace(file, line);
    return result_;
}

// ---- the outside --------------------------------------------------------------------------------

bool Flaw::is_at(Kind other, const Where &where) const {
    return kind == other && line == where.line() && file == where.file_name();
}

std::uint64_t Word::bits() const {
    std::uint64_t all = 0;
    std::memcpy(&all, at, size);
    return all;
}

void Word::set(std::uint64_t bits) const {
    std::memcpy(at, &bits, size);
}

std::uint64_t Change::of(std::uint64_t before) const {
    switch (kind) {
    case Kind::to:
        return bits;
    case Kind::plus:
        return before + bits;
    case Kind::minus:
        return before - bits;
    case Kind::with:
        return before | bits;
    case Kind::only:
        return before & bits;
    case Kind::from_to:
        return before == expected ? bits : before;
    }
    return before;
}

std::uint64_t load(Word word, std::memory_order, const Where &where) {
    Explorer *const explorer = Explorer::here();
    return explorer ? explorer->load(word, where) : word.bits();
}

void store(Word word, std::uint64_t bits, std::memory_order order, const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->store(word, bits, order, where);
    else
        word.set(bits);
}

std::uint64_t change(Word word, const Change &how, std::memory_order order, const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        return explorer->change(word, how, order, where);
    const std::uint64_t before = word.bits();
    word.set(how.of(before));
    return before;
}

void *allocate(std::size_t size) {
    return Explorer::allocate(size);
}

void release(void *block) {
    Explorer::release(block);
}

bool is_released(const void *block) {
    return g_arena.is_gone(block);
}

void wait_while(Word word, std::uint64_t is) {
    Explorer::here()->wait_while(word, is);
}

void futex_wait(Word word, std::uint32_t expected, bool is_limited, std::uint32_t bits) {
    Explorer::here()->futex_wait(word, expected, is_limited, bits);
}

void futex_wake(Word word, int count, std::uint32_t bits) {
    if (Explorer *const explorer = Explorer::here())
        explorer->futex_wake(word, count, bits);
}

void wait_for_change() {
    Explorer::here()->wait_for_change();
}

void spin() {
    Explorer::here()->spin();
}

std::uint64_t ticks() {
    Explorer *const explorer = Explorer::here();
    return explorer ? explorer->ticks() : 0;
}

void full_fence(const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->full_fence(where);
}

void membarrier(const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->membarrier(where);
}

void copy_shared(void *to, const void *from, std::size_t bytes, const Where &where) {
    if (Explorer *const explorer = Explorer::here())
        explorer->copy_shared(to, from, bytes, where);
    else
        std::memcpy(to, from, bytes);
}

void begin_anew(std::uint64_t place) {
    Explorer::here()->begin_anew(place);
}

std::uint64_t what_was_read() {
    return Explorer::here()->what_was_read();
}

void forget_to(std::uint64_t read) {
    Explorer::here()->forget_to(read);
}

void fail(const std::string &what) {
    Explorer::here()->fail(what);
}

void end_thread() {
    Explorer::here()->end_thread();
}

void end_schedule() {
    Explorer::here()->end_schedule();
}

void become_mortal() {
    Explorer::here()->become_mortal();
}

bool has_ended(std::size_t thread) {
    return Explorer::here()->has_ended(thread);
}

void wait_for_end(std::size_t thread) {
    Explorer::here()->wait_for_end(thread);
}

bool has_lock_for_itself() {
    Explorer *const explorer = Explorer::here();
    return explorer && explorer->has_lock_for_itself();
}

bool takes_lock(Word word) {
    Explorer *const explorer = Explorer::here();
    return explorer && explorer->takes_lock(word);
}

Result explore(const Test &test, const Flaw &flaw, const Options &options) {
    return Explorer(test, flaw, options).all();
}

} // namespace sennit::schedules

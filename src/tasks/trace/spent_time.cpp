// SPDX-License-Identifier: Apache-2.0
#include "tasks/trace/spent_time.h"

#include "base/clock.h"
#include "base/combining_lock.h"
#include "base/compiler.h"
#include "base/hash.h"

#include <atomic>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace sennit::trace {

bool g_counts = false;

namespace {

// Memory by the system: an allocator of the program's may wait for a mutex, and we hold a lock.
void *map_room(std::size_t bytes) {
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

// From words to words, by open addressing. Words can be taken out again. 0, a task without a
// number, is never in it.
class Numbers {
  public:
    std::size_t size() const { return used_; }
    std::uint64_t get(std::uint64_t key) const { return room_ ? cells_[find(key)].value : 0; }
    bool has(std::uint64_t key) const { return key != 0 && room_ && cells_[find(key)].key == key; }
    // False: it is not in it, for want of memory.
    bool set(std::uint64_t key, std::uint64_t value) {
        if (key == 0)
            return false;
        if ((used_ + 1) * 2 > room_ && !grow())
            return false;
        Cell &cell = cells_[find(key)];
        used_ += cell.key == 0;
        cell = {key, value};
        return true;
    }
    // Returns whether it was there. Those behind it move up, so that find() needs no marks.
    bool take(std::uint64_t key) {
        if (!has(key))
            return false;
        const std::size_t mask = room_ - 1;
        std::size_t hole = find(key);
        for (std::size_t at = (hole + 1) & mask; cells_[at].key != 0; at = (at + 1) & mask)
            if (((at - home(cells_[at].key)) & mask) >= ((at - hole) & mask)) {
                cells_[hole] = cells_[at];
                hole = at;
            }
        cells_[hole] = {};
        --used_;
        return true;
    }

  private:
    struct Cell {
        std::uint64_t key, value;
    };
    std::size_t home(std::uint64_t key) const { return hash_place(key, 32) & (room_ - 1); }
    std::size_t find(std::uint64_t key) const {
        std::size_t at = home(key);
        while (cells_[at].key != 0 && cells_[at].key != key)
            at = (at + 1) & (room_ - 1);
        return at;
    }
    bool grow() {
        Numbers larger;
        larger.room_ = room_ ? room_ * 2 : 256;
        larger.cells_ = static_cast<Cell *>(map_room(larger.room_ * sizeof(Cell)));
        if (!larger.cells_)
            return false;
        for (std::size_t i = 0; i < room_; ++i)
            if (cells_[i].key != 0)
                larger.cells_[larger.find(cells_[i].key)] = cells_[i];
        if (cells_)
            munmap(cells_, room_ * sizeof(Cell));
        cells_ = larger.cells_;
        room_ = larger.room_;
        return true;
    }
    Cell *cells_ = nullptr;
    std::size_t room_ = 0; // a power of two
    std::size_t used_ = 0;
};

// The spans that are open, as bits: 1 for a call of MPI. The highest bit set is no span.
struct Spans {
    std::uint64_t bits = 1;
    void begin(bool mpi) { bits = bits << 1 | (mpi ? 1 : 0); }
    void end() { bits = bits > 1 ? bits >> 1 : 1; }
    bool in_mpi() const { return (bits & (bits - 1)) != 0; } // one more bit than the highest
};

struct Frame {
    enum class Kind : std::uint8_t { task, wait, part };
    Frame *below;
    Kind kind;
    bool counts;        // a part of several workers
    std::uint64_t name; // a task's, or a region's number
    Spans spans;        // of a task
};

struct Thread {
    bool known;                // it is a worker, and counts
    bool begun;                // `spans` is valid
    std::uint64_t fiber, root; // 0: the first, whose address is not known yet
    Frame *top;
    Spans spans;      // outside of tasks
    bool useful, mpi; // as counted
};
SENNIT_TLS Thread t_thread{}; // touched under the counter's lock

// An event, as its thread tells it.
struct Told {
    std::int64_t at_ns;
    Word a, b, c;
    Kind kind;
    bool by_worker;
};
// One that waits to be counted: another thread had the lock. A worker has a page of notes, and
// gives it back before it ends.
struct Note {
    Note *next;
    Thread *thread;
    Told told;
    std::atomic<bool> left; // release, when it is counted; acquire, by who takes it to write it
};
constexpr std::size_t kPage = 4096;
constexpr std::size_t kNotes = kPage / sizeof(Note);
struct Notes {
    Note *first;
    std::size_t next;
};
SENNIT_TLS Notes t_notes{};

bool is_mpi_call(std::uint64_t name) {
    const auto *const text = reinterpret_cast<const char *>(name);
    return text && (std::strncmp(text, "MPI_", 4) == 0 || std::strncmp(text, "MPIX_", 5) == 0 ||
                    std::strncmp(text, "TAMPI_", 6) == 0);
}

constexpr bool counts(Kind kind) {
    switch (kind) {
    case Kind::create:
    case Kind::ready:
    case Kind::start:
    case Kind::end:
    case Kind::resume:
    case Kind::unblock:
    case Kind::complete:
    case Kind::edge:
    case Kind::span_begin:
    case Kind::span_end:
    case Kind::post:
    case Kind::waits_for:
    case Kind::wait_begin:
    case Kind::wait_end:
    case Kind::part_begin:
    case Kind::part_end:
    case Kind::fiber_switch:
        return true;
    default:
        return false;
    }
}

class Counter {
  public:
    void begin(int (*row)()) {
        lock_.lock();
        row_ = row;
        now_ = {};
        now_.begin_ns = now_.at_ns = monotonic_ns();
        moment_ = {};
        ready_ = bound_ = ended_ = fibers_ = Numbers();
        unblocked_ = 0;
        left_ = 0;
        free_ = nullptr;
        free_notes_ = nullptr;
        Thread &self = t_thread;
        self = {};
        self.begun = true;
        count_in(self);
        judge_moment();
        settle();
        for (std::size_t i = 0; t_notes.first && i < kNotes; ++i)
            t_notes.first[i].left.store(false, std::memory_order_relaxed);
        lock_.unlock(*this);
    }

    void event(Kind kind, Word a, Word b, Word c) {
        if (!counts(kind))
            return;
        const bool by_worker = t_notes.first || (row_ && row_() >= 0);
        const Told told{monotonic_ns(), a, b, c, kind, by_worker};
        if (!lock_.try_lock()) {
            if (Note *const note = told.by_worker ? free_note() : nullptr) {
                note->thread = &t_thread;
                note->told = told;
                return lock_.leave(*note, *this);
            }
            lock_.lock();
        }
        lock_.catch_up(*this);
        count(t_thread, told);
        if (told.by_worker && !t_notes.first)
            take_notes();
        settle();
        lock_.unlock(*this);
    }

    // By the lock.
    void combine(Note &note) SENNIT_REQUIRES(lock_) {
        count(*note.thread, note.told);
        note.left.store(false, std::memory_order_release);
    }
    void settle() SENNIT_REQUIRES(lock_) { page_->write(now_); }

    // Others see it with the next event.
    void region() {
        lock_.lock();
        ++now_.parallels;
        lock_.unlock(*this);
    }

    // What the thread was in the middle of is over.
    void leave() {
        Thread &self = t_thread;
        lock_.lock();
        lock_.catch_up(*this); // none of its notes is left then
        go_on(monotonic_ns());
        pop_all(self);
        left_ += self.known ? 1 : 0;
        self.known = false;
        judge(self);
        self = {};
        give_notes();
        judge_moment();
        settle();
        lock_.unlock(*this);
    }

    void show(SpentPage *page) {
        lock_.lock();
        lock_.catch_up(*this);
        if (page_ != &own_ && !page)
            page_->clear();
        page_ = page ? page : &own_;
        go_on(monotonic_ns());
        settle();
        lock_.unlock(*this);
    }

    bool read(SpentNow &now) {
        lock_.lock();
        lock_.catch_up(*this);
        go_on(monotonic_ns());
        now = now_;
        const bool counted = now_.threads > 0;
        lock_.unlock(*this);
        return counted;
    }

    // Another thread may have been in the midst of a change: nothing of it is used, nor given back.
    void after_fork_in_child() {
        lock_.after_fork_in_child();
        page_ = &own_; // the other one is the parent's
        begin(row_);
    }

  private:
    // A note of the calling thread's that is not waiting. A signal handler that tells an event,
    // too, may come to the same one: it is the first one's.
    static Note *free_note() {
        Notes &own = t_notes;
        Note *const note = own.first ? &own.first[own.next++ % kNotes] : nullptr;
        return note && !note->left.exchange(true, std::memory_order_acquire) ? note : nullptr;
    }
    void take_notes() SENNIT_REQUIRES(lock_) {
        Note *const page = free_notes_;
        if (page)
            free_notes_ = page->next;
        t_notes = {page ? page : static_cast<Note *>(map_room(kPage)), 0};
    }
    void give_notes() SENNIT_REQUIRES(lock_) {
        if (Note *const page = std::exchange(t_notes.first, nullptr)) {
            page->next = free_notes_;
            free_notes_ = page;
        }
    }

    // What was done since the latest event. One that comes late is as if it were of now.
    void go_on(std::int64_t now) SENNIT_REQUIRES(lock_) {
        const std::int64_t passed = now - now_.at_ns;
        if (passed <= 0)
            return;
        now_.spent.add(now_.doing, passed);
        now_.beyond.add(beyond_, passed);
        now_.at_ns = now;
    }
    void judge_moment() SENNIT_REQUIRES(lock_) {
        moment_.ready = static_cast<int>(ready_.size()) + unblocked_;
        now_.threads = moment_.threads;
        now_.doing = moment_.doing();
        Moment more = moment_;
        ++more.threads;
        beyond_ = more.doing();
        beyond_ -= now_.doing;
    }
    void count(Thread &self, const Told &told) SENNIT_REQUIRES(lock_) {
        go_on(told.at_ns);
        if (!self.begun) {
            self.begun = true;
            self.spans = {};
        }
        if (!self.known && told.by_worker)
            count_in(self);
        step(self, told.kind, told.a, told.b, told.c);
        judge_moment();
    }

    // It counts from the begin on, as one that had nothing to do; or it is the next one in the
    // place of a thread that has ended.
    void count_in(Thread &self) SENNIT_REQUIRES(lock_) {
        self.known = true;
        if (left_ > 0) {
            --left_;
        } else {
            ++moment_.threads;
            now_.late += now_.beyond;
        }
        judge(self);
    }

    static Frame *runs(const Thread &self) {
        Frame *frame = self.top;
        while (frame && frame->kind == Frame::Kind::part)
            frame = frame->below;
        return frame;
    }
    static bool waits_in_mpi(const Frame *frame) {
        return frame && frame->kind == Frame::Kind::task && frame->spans.in_mpi();
    }

    // What the thread does after a change of its stack or its spans.
    void judge(Thread &self) SENNIT_REQUIRES(lock_) {
        const Frame *const frame = runs(self);
        const bool program = !frame && (self.fiber == self.root || self.top);
        const bool works = self.known && (program || (frame && frame->kind == Frame::Kind::task));
        const bool mpi = works && (frame ? frame->spans.in_mpi() : self.spans.in_mpi());
        const bool useful = works && !mpi;
        moment_.useful += (useful ? 1 : 0) - (self.useful ? 1 : 0);
        moment_.mpi += (mpi ? 1 : 0) - (self.mpi ? 1 : 0);
        self.useful = useful;
        self.mpi = mpi;
    }

    // A task in a call of MPI waits while it is not what the thread runs.
    template <class Change>
    void change(Thread &self, Change change) SENNIT_REQUIRES(lock_) {
        moment_.waits += waits_in_mpi(runs(self)) ? 1 : 0;
        change();
        moment_.waits -= waits_in_mpi(runs(self)) ? 1 : 0;
        judge(self);
    }

    void push(Thread &self, Frame::Kind kind, std::uint64_t name, bool counts = false)
        SENNIT_REQUIRES(lock_) {
        if (!free_ && !make_frames())
            return;
        Frame *const frame = std::exchange(free_, free_->below);
        *frame = {self.top, kind, counts, name, {}};
        moment_.regions += counts ? 1 : 0;
        self.top = frame;
    }
    bool make_frames() SENNIT_REQUIRES(lock_) {
        constexpr std::size_t kFrames = 1024;
        auto *const frames = static_cast<Frame *>(map_room(kFrames * sizeof(Frame)));
        for (std::size_t i = 0; frames && i < kFrames; ++i) {
            frames[i].below = free_;
            free_ = &frames[i];
        }
        return frames != nullptr;
    }
    // The innermost frame that fits, and what is on it.
    template <class Fits>
    void pop(Thread &self, Fits fits) SENNIT_REQUIRES(lock_) {
        const Frame *found = self.top;
        while (found && !fits(*found))
            found = found->below;
        for (bool last = !found; !last;) {
            last = self.top == found;
            drop(self);
        }
    }
    void pop_all(Thread &self) SENNIT_REQUIRES(lock_) {
        // What it runs does not wait, see change().
        moment_.waits += waits_in_mpi(runs(self)) ? 1 : 0;
        while (self.top)
            drop(self);
    }
    void drop(Thread &self) SENNIT_REQUIRES(lock_) {
        Frame *const frame = self.top;
        moment_.waits -= waits_in_mpi(frame) ? 1 : 0;
        moment_.regions -= frame->counts ? 1 : 0;
        self.top = frame->below;
        frame->below = free_;
        free_ = frame;
    }

    void step(Thread &self, Kind kind, Word a, Word b, Word c) SENNIT_REQUIRES(lock_) {
        switch (kind) {
        case Kind::create: // ready, until an edge says otherwise
            ++now_.tasks;
            ready_.set(a, 1);
            return;
        case Kind::edge: // c: the predecessor is not complete
            if (c != 0)
                ready_.take(b);
            return;
        case Kind::ready:
            ready_.set(a, 1);
            return;
        case Kind::start:
            ready_.take(a);
            change(self, [&] {
                lock_.assert_held();
                push(self, Frame::Kind::task, a);
            });
            return;
        case Kind::end:
            change(self, [&] {
                lock_.assert_held();
                pop(self, [&](const Frame &frame) {
                    return frame.kind == Frame::Kind::task && frame.name == a;
                });
            });
            if (bound_.take(a) && ended_.set(a, 1))
                ++moment_.waits;
            return;
        case Kind::complete:
            bound_.take(a);
            if (ended_.take(a))
                --moment_.waits;
            return;
        case Kind::unblock:
            ++unblocked_;
            return;
        case Kind::resume:
            unblocked_ -= unblocked_ > 0 ? 1 : 0;
            return;
        case Kind::wait_begin:
            change(self, [&] {
                lock_.assert_held();
                push(self, Frame::Kind::wait, a);
            });
            return;
        case Kind::wait_end:
            change(self, [&] {
                lock_.assert_held();
                pop(self, [](const Frame &frame) { return frame.kind == Frame::Kind::wait; });
            });
            return;
        case Kind::part_begin:
            change(self, [&] {
                lock_.assert_held();
                push(self, Frame::Kind::part, a, c > 1);
            });
            return;
        case Kind::part_end:
            change(self, [&] {
                lock_.assert_held();
                pop(self, [&](const Frame &frame) {
                    return frame.kind == Frame::Kind::part && frame.name == a;
                });
            });
            return;
        case Kind::fiber_switch:
            change(self, [&] {
                lock_.assert_held();
                if (self.fiber == 0) // the thread's own
                    self.root = a;
                if (self.top)
                    fibers_.set(a, reinterpret_cast<std::uint64_t>(self.top));
                self.fiber = b;
                self.top = reinterpret_cast<Frame *>(fibers_.get(b));
                fibers_.take(b);
            });
            return;
        case Kind::post:
            now_.mpi_calls += is_mpi_call(b) ? 1 : 0;
            return;
        default:
            return span(self, kind, a, b);
        }
    }

    void span(Thread &self, Kind kind, Word task, Word name) SENNIT_REQUIRES(lock_) {
        Frame *const frame = runs(self);
        Spans &spans = frame && frame->kind == Frame::Kind::task ? frame->spans : self.spans;
        if (kind == Kind::waits_for) {
            // Of a call, or else what the task's completion waits for.
            const bool elsewhere =
                task != 0 && frame && frame->kind == Frame::Kind::task && frame->name != task;
            if (task != 0 && (elsewhere || !spans.in_mpi()))
                bound_.set(task, 1);
            return;
        }
        if (kind == Kind::span_begin) {
            const bool mpi = is_mpi_call(name);
            now_.mpi_calls += mpi ? 1 : 0;
            spans.begin(mpi);
        } else {
            spans.end();
        }
        judge(self);
    }

    CombiningLock<Note, Counter> lock_;
    int (*row_)() = nullptr;
    SpentNow now_ SENNIT_GUARDED_BY(lock_);
    Spent beyond_ SENNIT_GUARDED_BY(lock_); // of one more thread, in each nanosecond
    Moment moment_ SENNIT_GUARDED_BY(lock_);
    Numbers ready_ SENNIT_GUARDED_BY(lock_);     // tasks that have not started
    Numbers bound_ SENNIT_GUARDED_BY(lock_);     // tasks whose completion waits for messages
    Numbers ended_ SENNIT_GUARDED_BY(lock_);     // those of them whose bodies have returned
    Numbers fibers_ SENNIT_GUARDED_BY(lock_);    // stacks of those that are left
    int unblocked_ SENNIT_GUARDED_BY(lock_) = 0; // suspended tasks that can go on
    int left_ SENNIT_GUARDED_BY(lock_) = 0;      // threads that have ended: places for others
    Frame *free_ SENNIT_GUARDED_BY(lock_) = nullptr;
    Note *free_notes_ SENNIT_GUARDED_BY(lock_) = nullptr; // the first of a page each
    SpentPage own_{};
    SpentPage *page_ = &own_;
};
constinit Counter g_counter;

} // namespace

void count_time(int (*row)()) {
    g_counter.begin(row);
    g_counts = true;
}

SENNIT_COLD void count(Kind kind, Word a, Word b, Word c) {
    g_counter.event(kind, a, b, c);
}

void count_region() {
    if (g_counts)
        g_counter.region();
}

void count_out() {
    if (g_counts)
        g_counter.leave();
}

void show_spent_time(SpentPage *page) {
    if (g_counts)
        g_counter.show(page);
}

bool read_spent_time(SpentNow &now) {
    return g_counts && g_counter.read(now);
}

void spent_time_after_fork_in_child() {
    if (g_counts)
        g_counter.after_fork_in_child();
}

} // namespace sennit::trace

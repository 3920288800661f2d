// SPDX-License-Identifier: Apache-2.0
// Reads what the recorder wrote: files, threads, events with aligned clocks. What the events mean
// together is model.h's business. A file that is damaged is refused with the place and the reason;
// one that merely ends early, because its process did, is read up to there and says so.
#pragma once

#include "tasks/trace/format.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace sennit::trace {

// what(): "<file>: <place>: <reason>".
struct TraceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// One record. Arguments as format.h lists them, the first at [0].
struct Event {
    std::int64_t ns; // on rank 0's CLOCK_MONOTONIC
    Kind kind;
    const Word *arguments;
    Word operator[](std::size_t i) const { return arguments[i]; }
};

// Of a pair(high, low).
constexpr int high(Word pair) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(pair >> 32));
}
constexpr int low(Word pair) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(pair));
}

struct Group {
    int size = 0;
    std::vector<int> ranks; // of the job; empty: member i is rank i
    std::string name;
    // Member i's rank in the job; what is no member stays as it is.
    int rank_of(int member) const {
        return member >= 0 && static_cast<std::size_t>(member) < ranks.size()
                   ? ranks[static_cast<std::size_t>(member)]
                   : member;
    }
};

struct CodePosition {
    std::string module;
    std::uint64_t offset = 0;
};

class TraceFile {
  public:
    // Throws TraceError.
    static TraceFile read(const std::filesystem::path &path);

    struct Thread {
        int row = -1; // the worker's number, -1: a thread that is none
        std::uint64_t thread_id = 0;
        std::vector<std::span<const Word>> pieces; // in order; each up to its last record
    };

    std::filesystem::path path;
    Header header{};
    std::vector<Thread> threads; // by their first events
    std::unordered_map<std::uint64_t, std::string> names;
    std::unordered_map<std::uint64_t, CodePosition> places;
    std::unordered_map<std::uint64_t, Group> groups;
    std::vector<std::string> notes; // what a person should know: the file ends early
    bool is_own = false;            // this user's, or the system's
    bool finished() const { return (header.flags & kFinished) != 0; }

    // Nanoseconds on this process's clock, then on rank 0's.
    std::int64_t own_ns(Word stamp) const;
    std::int64_t ns(Word stamp) const { return to_common(own_ns(stamp)); }
    std::int64_t to_common(std::int64_t own) const;
    std::int64_t ticks_to_ns(std::uint64_t ticks) const {
        return static_cast<std::int64_t>(static_cast<double>(ticks) * rate_);
    }
    std::int64_t begin_ns() const { return to_common(header.begin.monotonic_ns); }
    std::int64_t end_ns() const { return to_common(end_); }

    // visit(const Event &) for the events of a thread, oldest first.
    template <class Visit>
    void each(const Thread &thread, Visit visit) const {
        for (const std::span<const Word> piece : thread.pieces)
            for (std::size_t at = 0; at < piece.size();) {
                const Word first = piece[at];
                visit(Event{ns(first), static_cast<Kind>(first & 0xff), &piece[at + 1]});
                at += kWords[first & 0xff];
            }
    }

    // "task" for 0; an address when its name was not recorded.
    std::string name_of(std::uint64_t key) const;
    // The rank in the job of a peer in a group.
    int world_rank(std::uint64_t group, int peer) const;

    std::uint64_t words() const { return words_ ? words_->size() : 0; }

    // Same clock as `other`'s, as far as can be told.
    bool shares_clock(const TraceFile &other) const;
    // Of one run of one program, or of programs that were started together? The job's name tells;
    // of files without one, how many ranks there were, and whether both were there at one time.
    bool is_of_job_of(const TraceFile &other) const;

  private:
    [[noreturn]] void refuse(std::uint64_t at, const std::string &reason) const;
    void read_header(std::size_t size);
    void read_chunk(std::size_t at, std::size_t size);
    std::size_t read_events(std::size_t at, std::span<const Word> words, bool whole);
    void read_table(std::size_t at, std::span<const Word> words, bool whole);
    void note_clock(const ClockPoint &point);

    std::shared_ptr<const std::vector<Word>> words_;
    std::map<std::uint32_t, std::map<std::uint32_t, std::pair<ChunkHeader, std::span<const Word>>>>
        chunks_; // by thread, then sequence
    ClockPoint latest_{};
    std::int64_t end_ = 0; // own clock
    double rate_ = 1;      // nanoseconds a tick
    Word last_stamp_ = 0;
    bool cut_ = false;
};

// What is to be said of files: once, if it is the same of several but for the numbers in it.
class FileNotes {
  public:
    void add(const std::filesystem::path &file, const std::string &note);
    std::vector<std::string> lines() const;

  private:
    struct Said {
        std::string note, key; // of the first file
        std::string first;     // its name
        std::size_t files;
    };
    std::vector<Said> said_;
};

// All rank-*.sennit of a folder, by rank; throws TraceError also when there is none. The job is
// that of the latest file. Files of another job are of an earlier run, and left out with a note, if
// the latest job is whole without them; else they are refused.
struct TraceFolder {
    std::vector<TraceFile> files;
    FileNotes notes;
    int ranks = -1;                 // of the job; -1: no file tells
    int missing = 0;                // so many of these,
    std::vector<int> first_missing; // and the first of them
};
TraceFolder read_folder(const std::filesystem::path &folder);

// What a trace tells, replayed: the task graph, which task ran where and when, the calls that tasks
// made and how long they ran between them, who got whose message. No output format in here.
//
// All times: nanoseconds on rank 0's CLOCK_MONOTONIC. Tasks are numbered by the ids of their
// process, 1, 2, ...; number 0 is what a thread does outside of tasks that the trace knows.

using Ns = std::int64_t;
inline constexpr Ns kNever = INT64_MAX;
inline constexpr std::uint32_t kNone = 0xffffffff;

// What a thread does at a moment.
enum class State : std::uint8_t {
    task,    // in the body of an explicit task
    program, // in the program's code outside of explicit tasks: an implicit or initial task
    outside, // in the runtime: looks for work, waits, sleeps, schedules
};

struct Interval {
    Ns begin, end;
    State state;
    std::uint32_t task; // in State::task
};

struct Task {
    std::uint64_t entry = 0; // the name is TraceFile::name_of(entry)
    std::uint32_t parent = 0;
    Ns created = kNever;   // kNever: not seen, as all that follow
    Ns ready = kNever;     // no dependence missing; also of a task that was so when it was created
    Ns started = kNever;   //
    Ns ended = kNever;     // its body returned
    Ns completed = kNever; // dependences released
    Ns running = 0;        // in its body, nested tasks and suspension not counted
    Ns suspended = 0;
    Ns parent_ran = 0; // how long the parent had run when it made it (parent 0: the thread, in
                       // State::program)
    std::uint32_t creator = kNone; // index of the thread
    std::uint32_t thread = kNone;  // that started it
    std::uint32_t order = 0;       // of creation in the process, from 0
    std::int32_t priority = 0;     // the last that a policy gave it
    std::int32_t suspensions = 0;
    bool sends = false; // it made a call that sends
    bool receives = false;
    bool at_once = false; // started by its creating thread, which had done nothing in between
    bool seen() const { return created != kNever || started != kNever; }
    bool ran() const { return started != kNever; }
};

struct Edge {
    std::uint32_t predecessor, successor;
};

// One that makes no sense: of a task on itself, or an end is a number that no task has.
struct LooseEdge {
    std::uint64_t predecessor, successor;
};

// A call of a communication library.
struct Call {
    Ns begin, end; // a post's end is its begin
    std::uint64_t name;
    std::uint32_t task; // 0: outside of tasks
    std::uint32_t thread;
    std::uint32_t direction; // kSend, kReceive, kNeither
    int peer;                // rank in the job; -1: none, kAny: anybody, and it is not known who
    int tag;
    int requests; // operations that it waits for
    std::uint64_t bytes;
    std::uint64_t group;   // key in TraceFile::groups
    std::uint64_t request; // of a post
    bool post;             // does not wait: MPI_Isend
    bool open;             // had not ended when the trace did
    bool probe;            // looks for a message, and receives none
    Ns ran_before;         // how long the task had run when it began
    Ns ran_within;         // and until it ended: the call itself, without its suspension
    std::uint32_t wait;    // of a post: the call that waited for it, or kNone
    std::uint32_t bound;   // of a post: the task whose completion waited for it (TAMPI_Iwait), or 0
    std::uint32_t message; // index in Job::messages, or kNone
};
inline constexpr int kAny = -2;

struct WaitSpan {
    Ns begin, end;
    std::uint32_t task; // 0: an implicit task
    std::uint32_t thread;
    WaitReason reason;
    Ns ran_before;
};

// What a thread does in a parallel region.
struct Part {
    Ns begin, end;
    std::uint64_t region; // its number
    std::uint64_t function;
    std::uint32_t thread;
    int workers; // of the region
};

// Of its part in a region, so many threads were offered to others, and they took so many. They may
// take more.
struct Offer {
    std::uint64_t region;
    std::uint32_t thread;
    int offered, taken;
};

struct Steal {
    Ns at;
    std::uint32_t thread;
    int victim; // row
    int count;
};

struct Polled {
    Ns begin, end, spent; // spent in polling, in begin .. end
    std::uint32_t thread;
    std::uint32_t runs, completions;
};

// A thread has a core that processes share, or runs without one.
struct CoreUse {
    Ns begin, end;
    std::uint32_t thread;
    int core;          // -1: without
    int owner;         // the number of its process in the system; 0: none
    CoreStep step;     // own, borrowed or without
    CoreStep end_step; // lends or leaves; count: the trace ends
    Ns waited;         // for it, before
};

// An object's stay on a rank of its set, from a call that balances to the next one.
struct ObjectStay {
    std::uint64_t set;
    int call; // that ends it; calls are numbered from 0
    int object;
    int from, to; // in the set's numbering
    Ns work;
    std::uint64_t bytes;
    double speed; // of `from`
};

// A call that balances a set of objects; told by one of its processes.
struct BalanceCall {
    Ns begin, end;
    std::uint64_t set;
    std::uint64_t strategy; // its name, as an entry's
    int ranks;
    int moved, failed;
    bool declined;
    double imbalance, node_imbalance, promised; // 0: none
    std::uint64_t bytes;
};

// A call that the compiler's plug-in has moved.
struct MovedCall {
    Ns started, waits, over; // the wait takes from `waits` to `over`; bound: no time
    std::uint64_t name;      // of the call
    std::uint64_t place;     // in the program's code; names it as an entry
    std::uint32_t task;      // 0: outside of tasks
    MovedHow how;
    int together; // calls that the wait was for
};

struct PriorityChange {
    Ns at;
    std::uint32_t task;
    std::int32_t priority;
};

// Of what came from nobody in particular: +1 a task became ready to run or to go on, -1 it runs.
struct ReadyChange {
    Ns at;
    std::int32_t change;
};

struct ThreadModel {
    int row;                         // the worker's number, -1: none
    std::vector<Interval> intervals; // without gaps, from its first event to the process's last
    Ns begin, end;
    std::vector<Ns> idle; // when it found nothing to do
};

// For each name in the header.
using Counts = std::array<std::uint64_t, kMostCounters>;

// What a thread counted since its last one.
struct CountedSince {
    Ns at;
    std::uint32_t thread;
    Counts values;
};

// Of a stack for which there was no memory.
struct Refusal {
    Ns at;
    std::uint64_t bytes, stacks_in_use;
};

struct Process {
    TraceFile file;
    int rank; // in the job; when it does not know, its place among the files
    Ns begin, end;
    std::vector<Task> tasks; // [0] stands for none
    std::vector<Edge> edges; // by successor; each once
    std::vector<LooseEdge> loose_edges;
    std::vector<ThreadModel> threads; // by row, those without one last
    std::vector<Call> calls;          // by begin
    std::vector<WaitSpan> waits;
    std::vector<Part> parts;   // by begin, of each thread
    std::vector<Offer> offers; // in this order, of each thread
    std::vector<Steal> steals;
    std::vector<Polled> polls;
    std::vector<CoreUse> cores; // by begin
    std::vector<ObjectStay> objects;
    std::vector<BalanceCall> balance_calls; // by end
    std::vector<MovedCall> moved;
    std::vector<PriorityChange> priorities;
    std::vector<ReadyChange> ready;   // by time
    std::vector<Counts> counted;      // by task, [0] in the program; empty if nothing was counted
    Counts counted_outside{};         // in the runtime
    std::vector<CountedSince> counts; // the same by time, of each thread
    std::uint32_t suspended_peak = 0;
    std::vector<Ns> windows; // when a creator of tasks let others go first; by time, of each thread
    std::vector<Refusal> refusals;   // by time
    std::uint64_t policy_passes = 0; // in which all priorities were reconsidered
    Ns policy_ns = 0;                // that they took
    std::uint64_t strange = 0;       // events that fit no story: ignored
    std::string name(std::uint32_t task) const { return file.name_of(tasks[task].entry); }
    // When what the call stands for was over, ...
    Ns over(const Call &call) const;
    // ... and the task that waited for it.
    std::uint32_t waiter_of(const Call &call) const;
};

struct Message {
    std::uint32_t from, send; // index of the process and of its call
    std::uint32_t to, receive;
};

struct Job {
    std::vector<Process> processes; // by rank
    std::vector<Message> messages;
    std::vector<std::string> notes;
    // "2 of 4 ranks left no trace here (1, 3)"; empty: none is missing.
    std::string missing;
    std::uint64_t unmatched = 0; // messages of which one end is not in the trace
    Ns begin, end;
};

// Which send's message a receive got.

// Messages between the same two ranks, with the same tag, in groups of the same members, are
// received in the order in which they were sent. Fills Job::messages and the calls' `message`.
void match_messages(Job &job);

} // namespace sennit::trace

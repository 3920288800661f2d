// SPDX-License-Identifier: Apache-2.0
// Reads what the recorder wrote: files, threads, events with aligned clocks. What the events mean
// together is model.h's business. A file that is damaged is refused with the place and the reason;
// one that merely ends early, because its process did, is read up to there and says so.
#pragma once

#include "trace/format.h"

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

struct Place {
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
    std::unordered_map<std::uint64_t, Place> places;
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

// All rank-*.sennit of a folder, by rank; throws TraceError also when there is none. Files of ranks
// that the job does not have are of an earlier run: they are left out, with a note.
struct TraceFolder {
    std::vector<TraceFile> files;
    std::vector<std::string> notes; // of all files, with their names
};
TraceFolder read_folder(const std::filesystem::path &folder);

} // namespace sennit::trace

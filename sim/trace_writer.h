// SPDX-License-Identifier: Apache-2.0
// A simulated run in the format of recorded ones (src/tasks/trace/format.h), so that everything
// that reads those reads it: a file for each rank, a thread for each of its threads, ticks are
// nanoseconds.
//
// A thread's events are written in the order of their times. What is told ahead of its time (a
// call's end) is kept until the thread gets there.
#pragma once

#include "simulation.h"
#include "tasks/trace/format.h"

#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sennit::sim {

class TraceWriter final : public Recorder {
  public:
    struct About {
        std::string program, policy;
        std::vector<std::string> functions; // Workload::functions
    };
    // Makes the folder; files of the same names are written anew. Throws std::runtime_error: file
    // and reason.
    TraceWriter(const std::filesystem::path &folder, const Machine &machine, const About &about);
    // The job is over. Without it, the files say that the process has died.
    void finish(Time end);

    void created(int rank, std::uint64_t task, int function, Time at) override;
    void depends(int rank, std::uint64_t before, std::uint64_t after) override;
    void prioritized(int rank, std::uint64_t task, int priority, Time at) override;
    void ready(int rank, int thread, std::uint64_t task, Time at) override;
    void ran(const Ran &what) override;
    void unblocked(int rank, std::uint64_t task, Time at) override;
    void ended(int rank, int thread, std::uint64_t task, Time at) override;
    void creator(int rank, Creator does, Time at) override;
    void idles(int rank, int thread, Time at) override;

  private:
    struct Event {
        Time at;
        trace::Kind kind;
        std::vector<trace::Word> arguments;
    };
    struct Chunk {
        std::vector<trace::Word> words;
        std::uint32_t sequence = 0;
        Time opened = 0;
    };
    struct Thread {
        Chunk chunk;
        Time last = 0;
        std::vector<Event> later;        // told ahead of their time, in order
        std::uint64_t fiber = 0;         // that runs
        std::uint64_t fibers = 1;        // numbers given out; 1: the thread's own
        std::vector<std::uint64_t> free; // numbers of fibers that may be used again
    };
    // What the end of a call says that receives.
    struct Received {
        trace::Word ends, bytes;
    };
    struct Suspended {
        int thread;
        std::uint64_t fiber;
        Received received;
    };
    struct Begun { // a request
        int thread;
        Time at;
    };
    struct Rank {
        std::filesystem::path path;
        std::uint32_t chunks = 0;
        std::uint64_t tasks = 0;
        bool creator_waits = false;
        std::unordered_map<std::uint64_t, Suspended> suspended;
        std::unordered_set<std::uint64_t> bound; // tasks whose completion waits
        // Requests whose post or whose task that waits is still to come.
        std::unordered_map<trace::Word, Begun> begun;
        std::unordered_map<trace::Word, trace::Word> awaited;
    };
    struct Ids { // of the tasks that have had this index, by serial
        std::vector<std::uint32_t> of_serial;
    };

    Thread &thread_of(int rank, int thread) {
        return threads_[static_cast<std::size_t>(rank) * team_ + static_cast<std::size_t>(thread)];
    }
    Rank &rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    trace::Word id_of(std::uint64_t task) const {
        return ids_[task & 0xffffffff].of_serial[task >> 32];
    }
    void record(int rank, int thread, Time at, trace::Kind kind,
                std::initializer_list<trace::Word> arguments);
    void write(int rank, int thread, Time at, trace::Kind kind, const trace::Word *arguments,
               std::size_t count);
    void catch_up(int rank, int thread, Time at);
    void switch_to(int rank, int thread, Time at, std::uint64_t fiber);
    std::uint64_t new_fiber(Thread &thread);
    std::uint32_t tag_of(std::uint64_t message);
    void note_begun(const Ran &what);
    void begin_bound(const Ran &what);
    void await(int rank, trace::Word task, trace::Word request, const Begun &begun);
    void flush(int rank, int thread);
    void write_table(int rank, const About &about);
    void put(const Rank &rank, std::uint64_t at, const void *bytes, std::size_t count,
             bool fresh) const;
    void write_header(int rank, bool finished, Time end);

    std::size_t team_;
    std::string program_, policy_;
    std::vector<Rank> ranks_;
    std::vector<Thread> threads_;
    std::vector<Ids> ids_;                                  // by index
    std::unordered_map<std::uint64_t, std::uint32_t> tags_; // of messages with one end so far
    std::uint32_t next_tag_ = 0;
    Time begun_ = 0;
};

} // namespace sennit::sim

// SPDX-License-Identifier: Apache-2.0
// Chrome's trace format: a slice ("X") for each interval in which a task ran on a thread; spans (MPI
// operations), which may overlap because their tasks are suspended meanwhile, on lanes of their own.
#include "base/message.h"
#include "trace/buffer.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::trace {
namespace {

constexpr int kFirstLane = 1000;
constexpr int kMostLanes = 4096;
constexpr int kMostOpen = 1 << 16;

int rank_of(int known) {
    if (known >= 0)
        return known;
    for (const char *name :
         {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
        if (const char *value = std::getenv(name))
            return std::atoi(value);
    return 0;
}

// A task that runs, or a span that is open.
struct Open {
    std::uint64_t task;
    std::uint64_t since;
    Event begin;
};

class Writer {
  public:
    Writer(std::FILE *out, int rank) : out_(out), rank_(rank) {}
    ~Writer() {
        std::free(running_);
        std::free(spans_);
    }
    Writer(const Writer &) = delete;
    Writer &operator=(const Writer &) = delete;

    void begin() {
        std::fprintf(out_, "{\"traceEvents\":[\n");
        meta("process_name", 0, "rank", rank_);
    }
    void thread(const ThreadBuffer &buffer) {
        meta("thread_name", static_cast<int>(buffer.thread), "worker",
             static_cast<int>(buffer.thread));
        depth_ = 0;
        for (Chunk *chunk = buffer.first.load(std::memory_order_acquire); chunk;
             chunk = chunk->next.load(std::memory_order_acquire)) {
            const std::uint32_t count = chunk->count.load(std::memory_order_acquire);
            for (std::uint32_t i = 0; i < count; ++i)
                event(chunk->events[i], static_cast<int>(buffer.thread));
        }
    }
    void end() { std::fprintf(out_, "\n],\"displayTimeUnit\":\"ns\"}\n"); }

  private:
    void event(const Event &event, int thread) {
        switch (event.kind) {
        case Kind::start:
        case Kind::resume: push(event); break;
        case Kind::end:
        case Kind::suspend: pop(event, thread); break;
        case Kind::span_begin: open_span(event); break;
        case Kind::span_end: close_span(event); break;
        default: break;
        }
    }

    void push(const Event &event) {
        if (!running_)
            running_ = static_cast<Open *>(std::calloc(kMostOpen, sizeof(Open)));
        if (!running_ || depth_ == kMostOpen)
            return;
        running_[depth_++] = {event.task, event.ns, event};
    }

    void pop(const Event &event, int thread) {
        for (int i = depth_; i-- > 0;) {
            if (running_[i].task != event.task)
                continue;
            char name[160];
            // A resumed task's function is not in its event: tasks are named by their first slice.
            if (running_[i].begin.kind == Kind::start)
                function_name(running_[i].begin.a, name, sizeof name);
            else
                std::snprintf(name, sizeof name, "resumed");
            slice(name, "task", thread, running_[i].since, event.ns);
            std::fprintf(out_, ",\"args\":{\"id\":%llu}}",
                         static_cast<unsigned long long>(event.task));
            std::memmove(running_ + i, running_ + i + 1,
                         static_cast<std::size_t>(depth_ - i - 1) * sizeof(Open));
            --depth_;
            return;
        }
    }

    void open_span(const Event &event) {
        if (!spans_)
            spans_ = static_cast<Open *>(std::calloc(kMostLanes, sizeof(Open)));
        for (int lane = 0; spans_ && lane < kMostLanes; ++lane) {
            if (spans_[lane].since != 0)
                continue;
            spans_[lane] = {event.task, event.ns, event};
            return;
        }
    }

    void close_span(const Event &event) {
        for (int lane = 0; spans_ && lane < kMostLanes; ++lane) {
            Open &open = spans_[lane];
            if (open.since == 0 || open.task != event.task)
                continue;
            slice(open.begin.name ? open.begin.name : "span", "mpi", kFirstLane + lane, open.since,
                  event.ns);
            std::fprintf(out_, ",\"args\":{\"peer\":%d,\"tag\":%d,\"bytes\":%llu}}",
                         static_cast<int>(open.begin.a >> 32),
                         static_cast<int>(open.begin.a & 0xffffffff),
                         static_cast<unsigned long long>(open.begin.b));
            open.since = 0;
            return;
        }
    }

    void slice(const char *name, const char *category, int thread, std::uint64_t from,
               std::uint64_t to) {
        separate();
        std::fprintf(out_,
                     "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,"
                     "\"ts\":%llu.%03u,\"dur\":%llu.%03u",
                     name, category, rank_, thread, static_cast<unsigned long long>(from / 1000),
                     static_cast<unsigned>(from % 1000),
                     static_cast<unsigned long long>((to - from) / 1000),
                     static_cast<unsigned>((to - from) % 1000));
    }

    void meta(const char *what, int thread, const char *text, int number) {
        separate();
        std::fprintf(out_,
                     "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s "
                     "%d\"}}",
                     what, rank_, thread, text, number);
    }

    void separate() {
        if (!first_)
            std::fputs(",\n", out_);
        first_ = false;
    }

    std::FILE *out_;
    int rank_;
    bool first_ = true;
    Open *running_ = nullptr; // on the thread at hand, innermost last
    int depth_ = 0;
    Open *spans_ = nullptr; // a lane each; since == 0: free
};

} // namespace

void write_timeline(const char *folder, int known_rank, ThreadBuffer *threads) {
    const int rank = rank_of(known_rank);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        warn("SENNIT_TRACE='%s': cannot make this folder (%s): no trace is written", folder,
             std::strerror(errno));
        return;
    }
    char path[4096];
    std::snprintf(path, sizeof path, "%s/rank-%d.json", folder, rank);
    std::FILE *out = std::fopen(path, "we");
    if (!out) {
        warn("SENNIT_TRACE: cannot write %s (%s)", path, std::strerror(errno));
        return;
    }
    {
        Writer writer(out, rank);
        writer.begin();
        for (ThreadBuffer *thread = threads; thread; thread = thread->next)
            writer.thread(*thread);
        writer.end();
    }
    if (std::fclose(out) != 0)
        warn("SENNIT_TRACE: %s is incomplete (%s)", path, std::strerror(errno));
}

} // namespace sennit::trace

// SPDX-License-Identifier: Apache-2.0
#include "tasks/trace/counters.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/message.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "base/system_call.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::trace {

namespace {

constexpr struct {
    const char *name;
    std::uint32_t type;
    std::uint64_t config;
} kCounters[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};
constexpr int kUsual = 3; // the first ones are what "on" means
constexpr std::size_t kPage = 4096;
// A program that closes all files that it does not know, and opens others, gets low numbers for
// these: what we read must be none of them.
constexpr int kFirstFile = 256;

// What the program asks for, then what the process can have. Written before other threads record,
// see choose_counters().
CounterList g_list;
std::atomic<bool> g_said{false}; // that a thread counts nothing

// The calling thread's. They are one group: the kernel counts all of them or none.
struct Counters {
    enum class State : std::uint8_t { closed, open, lost };
    State state;
    int file[kMostCounters]; // [0] leads the group
    const perf_event_mmap_page *page[kMostCounters];
    Word last[kMostCounters];
};
SENNIT_TLS Counters t_counters{};

// The descriptor, or -errno. A group that does not get onto the processor at once is in error: then
// read() says so, and no count is too low.
int open_counter(int which, int leader) {
    perf_event_attr asked{};
    asked.size = sizeof asked;
    asked.type = kCounters[which].type;
    asked.config = kCounters[which].config;
    asked.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    asked.pinned = leader < 0;
    asked.exclude_kernel = asked.exclude_hv = 1;
    const long file = system_call(SYS_perf_event_open, &asked, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (file < 0)
        return static_cast<int>(file);
    const long moved = system_call(SYS_fcntl, file, F_DUPFD_CLOEXEC, kFirstFile);
    if (moved < 0 && file > STDERR_FILENO)
        return static_cast<int>(file);
    system_call(SYS_close, file);
    return static_cast<int>(moved);
}

const perf_event_mmap_page *show(int file) {
#if defined(__x86_64__)
    void *const page = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED && static_cast<perf_event_mmap_page *>(page)->cap_user_rdpmc)
        return static_cast<perf_event_mmap_page *>(page);
    if (page != MAP_FAILED)
        munmap(page, kPage);
#else
    (void)file;
#endif
    return nullptr;
}

Word read_processor(std::uint32_t index) {
#if defined(__x86_64__)
    std::uint32_t low;
    std::uint32_t high;
    asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return Word{high} << 32 | low;
#else
    return index; // nothing is shown, see show()
#endif
}

void close_all(Counters &counters, int count) {
    for (int i = 0; i < count; ++i) {
        if (counters.page[i])
            munmap(const_cast<perf_event_mmap_page *>(counters.page[i]), kPage);
        system_call(SYS_close, counters.file[i]);
    }
    counters = {};
}

// One system call for all. Cores of another kind than that of the counters do not count: the time
// tells.
bool ask_kernel(const Counters &counters, Word (&values)[kMostCounters]) {
    struct {
        Word count, enabled, running;
        Word value[kMostCounters];
    } answer;
    const auto size = static_cast<long>(sizeof(Word) * (3 + static_cast<unsigned>(g_list.count)));
    if (system_call(SYS_read, counters.file[0], &answer, size) != size ||
        answer.count != static_cast<Word>(g_list.count) || answer.enabled != answer.running)
        return false;
    std::copy_n(answer.value, g_list.count, values);
    return true;
}

bool read_all(const Counters &counters, Word (&values)[kMostCounters]) {
    for (int i = 0; i < g_list.count; ++i)
        if (!counters.page[i] || !read_shown(*counters.page[i], read_processor, values[i]))
            return ask_kernel(counters, values);
    return true;
}

void lose(Counters &counters, const char *why) {
    counters.state = Counters::State::lost;
    if (!g_said.exchange(true, std::memory_order_relaxed))
        warn("SENNIT_COUNTERS: a thread counts nothing from now on (%s)", why);
}

SENNIT_COLD bool open_all(Counters &counters) {
    for (int i = 0; i < g_list.count; ++i) {
        const int file = open_counter(g_list.which[i], i == 0 ? -1 : counters.file[0]);
        if (file < 0) {
            close_all(counters, i);
            lose(counters, std::strerror(-file));
            return false;
        }
        counters.file[i] = file;
        counters.page[i] = show(file);
    }
    counters.state = Counters::State::open;
    return read_all(counters, counters.last);
}

// Why a counter could not be had, and what to do.
void explain(int error, char *text, std::size_t size) {
    char paranoid[16];
    switch (error) {
    case EACCES:
    case EPERM:
        read_small_file("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
        paranoid[std::strcspn(paranoid, "\n")] = '\0';
        std::snprintf(text, size,
                      "not permitted: kernel.perf_event_paranoid is %s and has to be 2 or less, or "
                      "a container forbids it",
                      *paranoid ? paranoid : "unknown");
        return;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        std::snprintf(text, size, "this machine has none, as most virtual machines");
        return;
    case EINVAL:
        std::snprintf(text, size, "the processor cannot count so much at once");
        return;
    case ENOSYS:
        std::snprintf(text, size, "the kernel, or a container, offers no counters");
        return;
    default:
        std::snprintf(text, size, "%s", std::strerror(error));
        return;
    }
}

} // namespace

bool read_counter_list(const char *list, CounterList &found, const char *&bad) {
    found = {};
    if (std::strcmp(list, "on") == 0) {
        for (; found.count < kUsual; ++found.count)
            found.which[found.count] = found.count;
        return true;
    }
    for (const char *at = list;; ++at) {
        const std::size_t length = std::strcspn(at, ",");
        const auto *const counter =
            std::find_if(std::begin(kCounters), std::end(kCounters), [&](const auto &one) {
                return std::strlen(one.name) == length && std::strncmp(one.name, at, length) == 0;
            });
        bad = at;
        if (counter == std::end(kCounters) || found.count == kMostCounters)
            return false;
        found.which[found.count++] = static_cast<int>(counter - std::begin(kCounters));
        at += length;
        if (*at == '\0')
            return true;
    }
}

bool ask_for_counters() {
    const char *const list = config().counters;
    const char *bad = "";
    if (!*list)
        return false;
    if (!*config().trace) {
        warn("SENNIT_COUNTERS: they go to a trace, and there is none: set SENNIT_TRACE, too");
        return false;
    }
    if (!read_counter_list(list, g_list, bad)) {
        g_list = {};
        warn("SENNIT_COUNTERS='%s': '%.*s' is no counter, or one too many: use on, or at most %d "
             "of instructions, cycles, cache-misses, cache-references, branches, branch-misses, "
             "page-faults, task-clock; going on without",
             list, static_cast<int>(std::strcspn(bad, ",")), bad, kMostCounters);
        return false;
    }
    if (is_rank_fiber()) { // it runs on threads of the host, which the rank cannot count
        g_list = {};
        warn("SENNIT_COUNTERS: nothing is counted in rank fibers: use --virtual without fibers");
        return false;
    }
    return true;
}

void choose_counters(Header &header) {
    CounterList had;
    Counters tried{};
    char missing[192] = "";
    int error = 0;
    for (int i = 0; i < g_list.count; ++i) {
        const int which = g_list.which[i];
        const int file = open_counter(which, had.count == 0 ? -1 : tried.file[0]);
        if (file >= 0) {
            std::snprintf(header.counters[had.count], sizeof header.counters[0], "%s",
                          kCounters[which].name);
            tried.file[had.count] = file;
            had.which[had.count++] = which;
            continue;
        }
        error = error ? error : -file;
        const std::size_t used = std::strlen(missing);
        std::snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "",
                      kCounters[which].name);
    }
    close_all(tried, had.count);
    g_list = had;
    if (error && speaks_for_node()) {
        char why[160];
        explain(error, why, sizeof why);
        warn("SENNIT_COUNTERS: not counted: %s (%s)", missing, why);
    }
}

bool read_counters(Word (&counted)[kMostCounters]) {
    Counters &counters = t_counters;
    if (counters.state != Counters::State::open) {
        if (counters.state == Counters::State::closed && g_list.count > 0)
            open_all(counters);
        return false;
    }
    Word now[kMostCounters] = {};
    if (!read_all(counters, now)) {
        // The file stays: if the program has closed it, the number may be another one's by now.
        lose(counters, "another program has the processor's counters, this core has none, or the "
                       "program has closed their file");
        return false;
    }
    for (int i = 0; i < kMostCounters; ++i) {
        counted[i] = now[i] - counters.last[i];
        counters.last[i] = now[i];
    }
    return true;
}

void close_counters() {
    if (t_counters.state == Counters::State::open)
        close_all(t_counters, g_list.count);
}

// The pages are not mapped in a child (VM_DONTCOPY).
void forget_counters() {
    if (t_counters.state == Counters::State::open)
        for (int i = 0; i < g_list.count; ++i)
            system_call(SYS_close, t_counters.file[i]);
    t_counters = {};
}

} // namespace sennit::trace

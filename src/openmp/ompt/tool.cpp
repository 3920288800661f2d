// SPDX-License-Identifier: Apache-2.0
// How a tool is found and started (OpenMP 5.2, 19.2) and finalized, with the environment variables
// of 21.3.
#include "openmp/ompt/tool.h"

#include "base/environment.h"
#include "base/message.h"
#include "base/own_file.h"
#include "openmp/env/icv.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/region_events.h"
#include "openmp/team/team.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

namespace sennit::ompt {

namespace {

constexpr unsigned kOpenMp = 202111;
constexpr char kStartTool[] = "ompt_start_tool";

enum class Phase { not_started, starting, started, none };
// The process's one tool, if it has one.
struct Attachment {
    std::atomic<Phase> phase{Phase::not_started};
    std::atomic<pthread_t> starter; // while starting
    StartToolResult *result = nullptr;
    std::atomic<bool> finalizing{false};
};
constinit Attachment g_attachment;

// OMP_TOOL_VERBOSE_INIT: nowhere, stdout, stderr or a file. The text is what tool developers know
// from LLVM's runtime.
class Log {
  public:
    Log() {
        const char *where = trusted_environment("OMP_TOOL_VERBOSE_INIT");
        if (!where || !*where || std::strcmp(where, "disabled") == 0)
            return;
        if (std::strcmp(where, "stdout") == 0)
            file_ = stdout;
        else if (std::strcmp(where, "stderr") == 0)
            file_ = stderr;
        else if (const int file = open_own_file(where); file >= 0)
            file_ = fdopen(file, "w");
        else
            warn(
                "OMP_TOOL_VERBOSE_INIT='%s' cannot be written: use disabled, stdout, stderr or the "
                "name of a file; going on without",
                where);
        say("----- START LOGGING OF TOOL REGISTRATION -----\n");
    }
    ~Log() {
        say("----- END LOGGING OF TOOL REGISTRATION -----\n");
        if (file_ && file_ != stdout && file_ != stderr)
            std::fclose(file_);
    }
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;

    [[gnu::format(printf, 2, 3)]] void say(const char *format, ...) {
        if (!file_)
            return;
        va_list list;
        va_start(list, format);
        std::vfprintf(file_, format, list);
        va_end(list);
        std::fflush(file_);
    }

  private:
    std::FILE *file_ = nullptr;
};

StartToolResult *call(void *start_tool) {
    return reinterpret_cast<StartTool>(start_tool)(kOpenMp, "Sennit");
}

StartToolResult *try_library(const char *name, Log &log) {
    log.say("Opening %s... ", name);
    void *library = dlopen(name, RTLD_LAZY);
    if (!library) {
        log.say("Failed: %s\n", dlerror());
        return nullptr;
    }
    log.say("Success. \nSearching for %s in %s... ", kStartTool, name);
    void *start_tool = dlsym(library, kStartTool);
    StartToolResult *result = nullptr;
    if (!start_tool) {
        log.say("Failed: %s\n", dlerror());
    } else if ((result = call(start_tool))) {
        log.say("Success. \n");
        return result;
    } else {
        log.say("Found but not using the OMPT interface.\nContinuing search...\n");
    }
    dlclose(library);
    return nullptr;
}

// tool-libraries-var: names or paths with colons between them.
StartToolResult *try_libraries(Log &log) {
    const char *list = trusted_environment("OMP_TOOL_LIBRARIES");
    StartToolResult *result = nullptr;
    if (list) {
        log.say("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", list);
        char *names = strdup(list);
        char *rest = nullptr;
        for (char *name = names ? strtok_r(names, ":", &rest) : nullptr; name && !result;
             name = strtok_r(nullptr, ":", &rest))
            result = try_library(name, log);
        std::free(names);
    } else {
        log.say("No OMP_TOOL_LIBRARIES defined.\n");
    }
    if (!result)
        log.say("...searching tool libraries failed.\n");
    return result;
}

StartToolResult *find_tool(Log &log) {
    log.say("Search for OMP tool in current address space... ");
    if (void *start_tool = dlsym(RTLD_DEFAULT, kStartTool)) {
        if (StartToolResult *result = call(start_tool)) {
            log.say("Success. \n");
            return result;
        }
    }
    log.say("Failed.\n");
    return try_libraries(log);
}

bool start_tool() {
    {
        Log log;
        g_attachment.result = find_tool(log);
        log.say("%s\n", g_attachment.result ? "Tool was started and is using the OMPT interface."
                                            : "No OMP tool loaded.");
    }
    if (!g_attachment.result)
        return false;
    observe_tasks();
    return g_attachment.result->initialize &&
           g_attachment.result->initialize(lookup, -1, &g_attachment.result->tool_data) != 0;
}

// Before the calling thread's first use of OpenMP: look for a tool, once, and start it.
void start() {
    Phase phase = g_attachment.phase.load(std::memory_order_acquire);
    if (phase == Phase::not_started && g_attachment.phase.compare_exchange_strong(
                                           phase, Phase::starting, std::memory_order_acq_rel)) {
        g_attachment.starter.store(pthread_self(), std::memory_order_relaxed);
        const bool wanted = start_tool();
        if (wanted) {
            icv_refuse_split("a tool is attached, and would see threads that are none");
            // Before what was registered so far: the tool's own clearing up, if it was loaded
            // first.
            std::atexit(finalize);
        } else {
            task::set_observer(nullptr);
        }
        g_attachment.phase.store(wanted ? Phase::started : Phase::none, std::memory_order_release);
        return;
    }
    // The tool itself may use OpenMP meanwhile; other threads wait until it is ready.
    while (g_attachment.phase.load(std::memory_order_acquire) == Phase::starting &&
           g_attachment.starter.load(std::memory_order_relaxed) != pthread_self())
        sched_yield();
}

} // namespace

void setup() {
    const char *value = trusted_environment("OMP_TOOL");
    if (value && std::strcmp(value, "disabled") == 0)
        return;
    if (value && *value && std::strcmp(value, "enabled") != 0)
        warn("OMP_TOOL='%s' is unknown: use enabled or disabled; going on with enabled", value);
    if (dlsym(RTLD_DEFAULT, kStartTool) || trusted_environment("OMP_TOOL_LIBRARIES") ||
        trusted_environment("OMP_TOOL_VERBOSE_INIT")) {
        g_before_first_use = start;
        observed::set(observed::kTool);
    }
    dlerror(); // a program that loads us late asks for its own errors
}

// For all threads that are at rest.
static void end_threads() {
    sched::Worker *worker = sched::Worker::self();
    // exit() in a region: its threads are still at work.
    if (!worker || !worker->slot || omp::member_of(*worker).team->outer)
        return;
    omp::disband_idle_teams(*worker);
    omp::close_commons();
    initial_thread_end(omp::member_of(*worker));
}

void finalize() {
    if (g_attachment.phase.load(std::memory_order_acquire) != Phase::started ||
        g_attachment.finalizing.exchange(true))
        return;
    end_threads();
    task::set_observer(nullptr);
    g_attachment.phase.store(Phase::none, std::memory_order_release);
    // Nothing may be told from now on.
#define SENNIT_OMPT_FORGET(name, ...) g_tool.name.set(nullptr);
    SENNIT_OMPT_EVENTS(SENNIT_OMPT_FORGET)
#undef SENNIT_OMPT_FORGET
    if (g_attachment.result->finalize)
        g_attachment.result->finalize(&g_attachment.result->tool_data);
}

int control_tool(Site site, int command, int modifier, void *argument) {
    enum { kNoTool = -2, kNoCallback = -1 };
    omp::here(); // by now there is a tool or none
    if (!on())
        return kNoTool;
    const InRoutine routine(site);
    if (!g_tool.control_tool.wanted())
        return kNoCallback;
    return g_tool.control_tool(static_cast<std::uint64_t>(command),
                               static_cast<std::uint64_t>(modifier), argument, routine.code());
}

} // namespace sennit::ompt

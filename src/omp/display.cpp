// SPDX-License-Identifier: Apache-2.0
#include "omp/display.h"

#include "base/config.h"
#include "omp/affinity.h"
#include "omp/affinity_format.h"
#include "omp/api.h"
#include "omp/icv.h"
#include "omp/target.h"

#include <cstdio>
#include <cstdlib>

namespace sennit::omp {
namespace {

// The version of OpenMP whose routines and variables this is.
constexpr long kOpenMp = 202111;

// One "  [host] NAME = 'value'" after the other.
class Display {
  public:
    explicit Display(Text &text) : text_(text) {}

    // The value is what is put until the next name.
    Text &name(const char *name) {
        close();
        text_.put("  [host] ");
        return open(name);
    }
    Text &open(const char *name) {
        text_.put(name);
        text_.put(" = '");
        open_ = true;
        return text_;
    }
    void close() {
        if (open_)
            text_.put("'\n");
        open_ = false;
    }
    void flag(const char *label, bool value) { name(label).put(value ? "TRUE" : "FALSE"); }
    void number(const char *label, long value) { name(label).put_number(value); }
    void word(const char *label, const char *value) { name(label).put(value); }

  private:
    Text &text_;
    bool open_ = false;
};

void put_schedule(Text &text, const Icvs &icvs) {
    static const char *const kKinds[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    if (icvs.schedule_monotonic)
        text.put("MONOTONIC:");
    text.put(kKinds[static_cast<int>(icvs.schedule)]);
    if (icvs.chunk > 0) {
        text.put(',');
        text.put_number(icvs.chunk);
    }
}

void put_bind(Text &text, const BindList &list) {
    static const char *const kPolicies[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
    for (int i = 0; i < list.count; ++i) {
        if (i > 0)
            text.put(',');
        text.put(kPolicies[static_cast<int>(list.policies[i])]);
    }
}

void put_place_list(Text &text, const PlaceList &list) {
    for (int i = 0; i < list.count(); ++i) {
        if (i > 0)
            text.put(',');
        put_place(text, list[i]);
    }
}

void put_options(Display &display) {
    const auto put = [&](const char *label, const char *value) { display.word(label, value); };
    const Config &now = config();
    // A choice is stored as the index of its word.
    const auto choice = [&](const char *label, const char *words, int index) {
        Text &text = display.name(label);
        for (; *words && index >= 0; ++words) {
            if (*words == '|')
                --index;
            else if (index == 0)
                text.put(*words);
        }
    };
    const auto number = [&](const char *label, const char *, long value) {
        display.number(label, value);
    };
    const auto text = [&](const char *label, const char *, const char *value) {
        put(label, value);
    };
#define SENNIT_OPTION(field, variable, kind, fallback, range, help)                                \
    kind(variable, range, now.field);
#include "base/options.def"
#undef SENNIT_OPTION
}

void put_all(Text &text, bool verbose) {
    const GlobalIcvs &global = global_icvs();
    const Icvs &icvs = global.initial;
    char format[kMostAffinityFormat];
    copy_affinity_format(format);

    Display display(text);
    text.put("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  ");
    display.open("_OPENMP").put_number(kOpenMp);
    display.word("OMP_AFFINITY_FORMAT", format);
    display.word("OMP_ALLOCATOR", global.allocator);
    display.flag("OMP_CANCELLATION", global.cancellation);
    display.number("OMP_DEFAULT_DEVICE", icvs.default_device);
    display.flag("OMP_DISPLAY_AFFINITY", display_affinity());
    display.flag("OMP_DYNAMIC", icvs.dynamic);
    display.number("OMP_NUM_TEAMS", league_icvs().num_teams.load(std::memory_order_relaxed));
    display.number("OMP_TEAMS_THREAD_LIMIT",
                   league_icvs().thread_limit.load(std::memory_order_relaxed));
    display.number("OMP_MAX_ACTIVE_LEVELS", icvs.max_active_levels);
    display.number("OMP_MAX_TASK_PRIORITY", global.max_task_priority);
    Text &threads = display.name("OMP_NUM_THREADS");
    for (int i = 0; i < icvs.nthreads_count; ++i) {
        if (i > 0)
            threads.put(',');
        threads.put_number(icvs.nthreads[i]);
    }
    put_place_list(display.name("OMP_PLACES"), place_list());
    put_bind(display.name("OMP_PROC_BIND"), bind_list());
    put_schedule(display.name("OMP_SCHEDULE"), icvs);
    Text &stack = display.name("OMP_STACKSIZE");
    stack.put_number(static_cast<long>(global.stack_size >> 10));
    stack.put('K');
    static const char *const kOffload[] = {"DISABLED", "DEFAULT", "MANDATORY"};
    display.word("OMP_TARGET_OFFLOAD", kOffload[static_cast<int>(target_offload())]);
    display.number("OMP_THREAD_LIMIT", icvs.thread_limit);
    display.word("OMP_WAIT_POLICY", global.wait_active ? "ACTIVE" : "PASSIVE");
    if (verbose)
        put_options(display);
    display.close();
    text.put("OPENMP DISPLAY ENVIRONMENT END\n");
}

} // namespace

void display_environment(bool verbose) {
    Text measure(nullptr, 0);
    put_all(measure, verbose);
    const std::size_t size = measure.length() + 1;
    auto *all = static_cast<char *>(std::malloc(size));
    if (!all)
        return; // nothing that the program asked for depends on it
    Text text(all, size);
    put_all(text, verbose);
    std::fwrite(all, 1, text.length(), stderr); // one call: lines of several ranks do not mix
    std::free(all);
}

} // namespace sennit::omp

using sennit::omp::display_environment;

SENNIT_API void omp_display_env(int verbose) {
    display_environment(verbose != 0);
}
SENNIT_API void omp_display_env_(const int *verbose) {
    display_environment(*verbose != 0);
}
SENNIT_API void omp_display_env_8_(const std::int64_t *verbose) {
    display_environment(*verbose != 0);
}

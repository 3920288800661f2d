// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/display.h"

#include "base/config.h"
#include "base/message.h"
#include "base/spin.h"
#include "openmp/env/affinity.h"
#include "openmp/env/environment.h"
#include "openmp/env/icv.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <unistd.h>

using namespace sennit;

extern "C" int omp_get_team_num(void);
extern "C" int omp_get_num_teams(void);

namespace sennit::omp {

void Text::put_number(long number) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%ld", number);
    put(digits);
}

namespace {

// Ranges of consecutive processors: the first, then `join` and the last, or the length.
void put_ranges(Text &text, const CpuSet &processors, char join, bool length) {
    const char *separator = "";
    for (int first = processors.next(-1); first >= 0;) {
        int last = first;
        while (processors.next(last) == last + 1)
            ++last;
        text.put(separator);
        text.put_number(first);
        if (last > first) {
            text.put(join);
            text.put_number(length ? last - first + 1 : last);
        }
        separator = ",";
        first = processors.next(last);
    }
}

// %[[[0].]size]type: the size is the least width; with a point the value goes to the right, with a
// zero before the point that side is filled with zeros.
struct Field {
    std::size_t size = 0;
    bool right = false;
    bool zeros = false;
    char type = '?';
};

const struct {
    char type;
    const char *name;
} kFieldTypes[] = {{'t', "team_num"},       {'T', "num_teams"},   {'L', "nesting_level"},
                   {'n', "thread_num"},     {'N', "num_threads"}, {'a', "ancestor_tnum"},
                   {'H', "host"},           {'P', "process_id"},  {'i', "native_thread_id"},
                   {'A', "thread_affinity"}};

// After the percent sign; returns what follows the field.
const char *read_field(const char *at, Field &field) {
    if (at[0] == '0' && at[1] == '.') {
        field.zeros = field.right = true;
        at += 2;
    } else if (at[0] == '.') {
        field.right = true;
        ++at;
    }
    for (; std::isdigit(static_cast<unsigned char>(*at)); ++at)
        if (field.size < kMostAffinityFormat)
            field.size = field.size * 10 + static_cast<std::size_t>(*at - '0');
    if (*at == '{') {
        const std::size_t length = std::strcspn(++at, "}");
        for (const auto &known : kFieldTypes)
            if (std::strlen(known.name) == length && std::strncmp(known.name, at, length) == 0)
                field.type = known.type;
        at += length;
        return *at ? at + 1 : at;
    }
    for (const auto &known : kFieldTypes)
        if (known.type == *at)
            field.type = *at;
    return *at ? at + 1 : at;
}

void put_value(Text &text, char type, const AffinityFields &fields) {
    switch (type) {
    case 't':
        return text.put_number(fields.team_num);
    case 'T':
        return text.put_number(fields.num_teams);
    case 'L':
        return text.put_number(fields.nesting_level);
    case 'n':
        return text.put_number(fields.thread_num);
    case 'N':
        return text.put_number(fields.num_threads);
    case 'a':
        return text.put_number(fields.ancestor_thread_num);
    case 'H':
        return text.put(fields.host);
    case 'P':
        return text.put_number(fields.process);
    case 'i':
        return text.put_number(fields.native_thread);
    case 'A':
        return put_processors(text, *fields.processors);
    default:
        return text.put("undefined");
    }
}

void put_field(Text &text, const Field &field, const AffinityFields &fields) {
    Text measure(nullptr, 0);
    put_value(measure, field.type, fields);
    const std::size_t length = measure.length();
    const std::size_t fill = field.size > length ? field.size - length : 0;
    if (!field.right) {
        put_value(text, field.type, fields);
        for (std::size_t i = 0; i < fill; ++i)
            text.put(' ');
        return;
    }
    const bool is_number = std::strchr("tTLnNaPi", field.type) != nullptr;
    const bool zeros = field.zeros && is_number;
    long value = 0;
    if (zeros) { // the sign, if any, comes before the zeros
        char digits[24];
        Text number(digits, sizeof digits);
        put_value(number, field.type, fields);
        value = std::strtol(digits, nullptr, 10);
        if (value < 0)
            text.put('-');
    }
    for (std::size_t i = 0; i < fill; ++i)
        text.put(zeros ? '0' : ' ');
    if (zeros)
        text.put_number(value < 0 ? -value : value);
    else
        put_value(text, field.type, fields);
}

// affinity-format-var.
struct Format {
    SpinLock lock;
    char text[kMostAffinityFormat] SENNIT_GUARDED_BY(lock) = "";
};
constinit Format g_format;

} // namespace

void put_processors(Text &text, const CpuSet &processors) {
    put_ranges(text, processors, '-', false);
}

void put_place(Text &text, const CpuSet &place) {
    text.put('{');
    put_ranges(text, place, ':', true);
    text.put('}');
}

void put_affinity(Text &text, const char *format, const AffinityFields &fields) {
    for (const char *at = format; *at;) {
        if (*at != '%') {
            text.put(*at++);
        } else if (at[1] == '%') {
            text.put('%');
            at += 2;
        } else {
            Field field;
            at = read_field(at + 1, field);
            put_field(text, field, fields);
        }
    }
}

void set_affinity_format(const char *format, std::size_t length) {
    if (length >= kMostAffinityFormat) {
        warn("the affinity format '%.40s...' is longer than %zu characters: the rest is ignored",
             format, kMostAffinityFormat - 1);
        length = kMostAffinityFormat - 1;
    }
    const Guard guard(g_format.lock);
    std::memcpy(g_format.text, format, length);
    g_format.text[length] = '\0';
}

void set_default_affinity_format() {
    const char *format = stands_for_libomp()
                             ? "OMP: pid %P tid %i thread %n bound to OS proc set {%A}"
                             : "level %L thread %i affinity %A"; // libgomp's
    set_affinity_format(format, std::strlen(format));
}

void affinity_format_before_fork() SENNIT_ACROSS_FORK {
    g_format.lock.lock();
}
void affinity_format_after_fork() SENNIT_ACROSS_FORK {
    g_format.lock.unlock();
}

void copy_affinity_format(char (&into)[kMostAffinityFormat]) {
    const Guard guard(g_format.lock);
    std::memcpy(into, g_format.text, sizeof into);
}

namespace {

// The version of OpenMP whose routines and variables this is.
constexpr long kOpenMp = 202111;

// How a line begins, and what is between a name and its value.
struct Style {
    const char *head;
    const char *equals;
};
constexpr Style kStandard = {"  [host] ", " = '"};
constexpr Style kSettings = {"   ", "='"};

// One NAME = 'value' after the other.
class Display {
  public:
    explicit Display(Text &text, const Style &style) : text_(text), style_(style) {}

    // The value is what is put until the next name.
    Text &name(const char *name) {
        close();
        text_.put(style_.head);
        return open(name);
    }
    Text &open(const char *name) {
        text_.put(name);
        text_.put(style_.equals);
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
    const Style &style_;
    bool open_ = false;
};

void put_schedule(Text &text, const Icvs &icvs) {
    static const char *const kKinds[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    const bool trapezoidal = icvs.schedule == Sched::trapezoidal;
    if (icvs.schedule_monotonic)
        text.put("MONOTONIC:");
    text.put(trapezoidal ? "TRAPEZOIDAL" : kKinds[static_cast<int>(icvs.schedule)]);
    if (icvs.chunk > (icvs.schedule == Sched::static_ ? 0 : 1)) {
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
    const Config &now = config();
    const auto put_word = [&](const char *label, const char *words, int index) {
        Text &text = display.name(label);
        for (const char c : word_at(words, index))
            text.put(c);
    };
#define SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help)                                \
    put_word(variable, SENNIT_WORDS(WORDS), static_cast<int>(now.field));
#define SENNIT_NUMBER(field, variable, fallback, least, most, help)                                \
    display.number(variable, now.field);
#define SENNIT_TEXT(field, variable, fallback, form, help) display.word(variable, now.field);
#include "base/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_NUMBER
#undef SENNIT_TEXT
}

void put_variables(Display &display, bool named_places) {
    const GlobalIcvs &global = global_icvs();
    const Icvs &icvs = global.initial;
    char format[kMostAffinityFormat];
    copy_affinity_format(format);

    display.word("OMP_AFFINITY_FORMAT", format);
    display.word("OMP_ALLOCATOR", global.allocator);
    display.flag("OMP_CANCELLATION", global.cancellation);
    display.number("OMP_DEFAULT_DEVICE", icvs.default_device);
    display.flag("OMP_DISPLAY_AFFINITY", display_affinity());
    display.flag("OMP_DYNAMIC", icvs.dynamic);
    display.number("OMP_NUM_TEAMS", league_icvs().num_teams.load(std::memory_order_relaxed));
    display.number("OMP_TEAMS_THREAD_LIMIT",
                   league_icvs().thread_limit.load(std::memory_order_relaxed));
    display.number("OMP_MAX_ACTIVE_LEVELS", levels_told(icvs));
    display.number("OMP_MAX_TASK_PRIORITY", global.max_task_priority);
    Text &threads = display.name("OMP_NUM_THREADS");
    for (int i = 0; i < icvs.nthreads_count; ++i) {
        if (i > 0)
            threads.put(',');
        threads.put_number(icvs.nthreads[i]);
    }
    Text &places = display.name("OMP_PLACES");
    if (named_places && place_list_name())
        places.put(place_list_name());
    else
        put_place_list(places, place_list());
    put_bind(display.name("OMP_PROC_BIND"), bind_list());
    put_schedule(display.name("OMP_SCHEDULE"), icvs);
    Text &stack = display.name("OMP_STACKSIZE");
    stack.put_number(static_cast<long>(global.stack_size >> 10));
    stack.put('K');
    static const char *const kOffload[] = {"DISABLED", "DEFAULT", "MANDATORY"};
    display.word("OMP_TARGET_OFFLOAD", kOffload[static_cast<int>(global.target_offload)]);
    display.number("OMP_THREAD_LIMIT", icvs.thread_limit);
    display.word("OMP_WAIT_POLICY", global.wait_active ? "ACTIVE" : "PASSIVE");
}

void put_environment(Text &text, bool verbose) {
    Display display(text, kStandard);
    text.put("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  ");
    display.open("_OPENMP").put_number(kOpenMp);
    put_variables(display, false);
    if (verbose)
        put_options(display);
    display.close();
    text.put("OPENMP DISPLAY ENVIRONMENT END\n");
}

void put_settings(Text &text, bool) {
    text.put("\nUser settings:\n\n");
    for (char **entry = environ; entry && *entry; ++entry)
        if (std::strncmp(*entry, "OMP_", 4) == 0 || std::strncmp(*entry, "KMP_", 4) == 0) {
            text.put(kSettings.head);
            text.put(*entry);
            text.put('\n');
        }
    text.put("\nEffective settings:\n\n");
    Display display(text, kSettings);
    put_variables(display, true);
    put_options(display);
    display.close();
    text.put('\n');
}

void show(std::FILE *where, void (*put)(Text &, bool), bool verbose) {
    Text measure(nullptr, 0);
    put(measure, verbose);
    const std::size_t size = measure.length() + 1;
    auto *all = static_cast<char *>(std::malloc(size));
    if (!all)
        return; // nothing that the program asked for depends on it
    Text text(all, size);
    put(text, verbose);
    std::fwrite(all, 1, text.length(), where); // one call: lines of several ranks do not mix
    std::free(all);
}

} // namespace

void display_environment(bool verbose) {
    show(stderr, put_environment, verbose);
}

namespace {

void read_display_env() {
    const char *text = read_variable("OMP_DISPLAY_ENV");
    if (!text)
        return;
    const bool verbose = strcasecmp(text, "verbose") == 0;
    if (verbose || strcasecmp(text, "true") == 0 || std::strcmp(text, "1") == 0)
        display_environment(verbose);
    else if (strcasecmp(text, "false") != 0 && std::strcmp(text, "0") != 0)
        complain("OMP_DISPLAY_ENV", text, "true, false or verbose", "false");
}

} // namespace

void display_as_asked() {
    read_display_env();
    bool settings = false;
    if (read_bool("KMP_SETTINGS", &settings) && settings)
        show(stdout, put_settings, true);
}

} // namespace sennit::omp

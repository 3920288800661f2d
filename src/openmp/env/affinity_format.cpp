// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/affinity_format.h"

#include "base/message.h"
#include "base/spin.h"
#include "openmp/env/environment.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

} // namespace sennit::omp

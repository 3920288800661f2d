// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/environment.h"

#include "base/environment.h"
#include "base/loaded_object.h"
#include "base/message.h"

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <strings.h>
#include <unistd.h>

namespace sennit {
namespace {

const GivenVariable *g_given = nullptr;

const char *skip_blanks(const char *at) {
    while (std::isspace(static_cast<unsigned char>(*at)))
        ++at;
    return at;
}

} // namespace

GivenVariable::GivenVariable(const char *name, const char *value) : name_(name), value_(value) {
    g_given = this;
}
GivenVariable::~GivenVariable() {
    g_given = nullptr;
}
const char *GivenVariable::value_of(const char *name) const {
    return std::strcmp(name_, name) == 0 ? value_ : nullptr;
}

// Programs and their tests look for what LLVM's runtime says: message 42 is that of bad values.
void complain(const char *name, const char *value, const char *wanted, const char *instead) {
    warn_as(stands_for_libomp() ? "OMP: Warning #42: sennit" : "sennit",
            "%s='%.200s' is not %s; going on with %s", name, value, wanted, instead);
}

const char *read_variable(const char *name) {
    static char text[512];
    const char *value = g_given ? g_given->value_of(name) : nullptr;
    if (!value)
        value = trusted_environment(name);
    if (!value)
        return nullptr;
    std::snprintf(text, sizeof text, "%s", skip_blanks(value));
    for (std::size_t end = std::strlen(text);
         end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1]));)
        text[--end] = '\0';
    return text;
}

bool parse_number(const char *text, long low, long high, long *number, const char **end) {
    char *stop = nullptr;
    errno = 0;
    const long value = std::strtol(text, &stop, 10);
    if (stop == text || errno != 0 || value < low || value > high)
        return false;
    *number = value;
    *end = skip_blanks(stop);
    return true;
}

bool take_word(const char **at, const char *word) {
    const char *here = skip_blanks(*at);
    const std::size_t length = std::strlen(word);
    if (strncasecmp(here, word, length) != 0 ||
        std::isalnum(static_cast<unsigned char>(here[length])) || here[length] == '_')
        return false;
    *at = skip_blanks(here + length);
    return true;
}

bool read_int(const char *name, int low, int high, int *into) {
    const char *text = read_variable(name);
    if (!text)
        return false;
    long number = 0;
    const char *end = nullptr;
    if (parse_number(text, low, high, &number, &end) && *end == '\0') {
        *into = static_cast<int>(number);
        return true;
    }
    const bool is_number = parse_number(text, LONG_MIN, LONG_MAX, &number, &end) && *end == '\0';
    if (is_number && stands_for_libomp()) // which goes on with the nearest that it can have
        *into = number < low ? low : high;
    char wanted[96];
    char instead[32];
    std::snprintf(wanted, sizeof wanted, "a number in %d..%d%s", low, high,
                  !is_number     ? ""
                  : number < low ? " but too small"
                                 : " but too large");
    std::snprintf(instead, sizeof instead, "%d", *into);
    complain(name, text, wanted, instead);
    return false;
}

bool read_bool(const char *name, bool *into) {
    const char *text = read_variable(name);
    if (!text)
        return false;
    // The standard's word, and what LLVM's runtime takes for it. GCC's does not: OMP_NESTED=1 is
    // not in force there.
    static const char *const kWords[2][8] = {
        {"false", "0", ".false.", ".f.", "f", "off", "no", "n"},
        {"true", "1", ".true.", ".t.", "t", "on", "yes", "y"}};
    const int known = *name == 'K' || stands_for_libomp() ? 8 : 1;
    for (int value = 0; value < 2; ++value)
        for (int i = 0; i < known; ++i)
            if (strcasecmp(text, kWords[value][i]) == 0) {
                *into = value == 1;
                return true;
            }
    complain(name, text, "true or false", *into ? "true" : "false");
    return false;
}

std::uint64_t environment_hash() {
    std::uint64_t hash = 14695981039346656037ull; // of Fowler, Noll and Vo
    for (char **entry = environ; entry && *entry; ++entry) {
        if (std::strncmp(*entry, "OMP_", 4) != 0 && std::strncmp(*entry, "KMP_", 4) != 0)
            continue;
        const char *end = *entry + std::strlen(*entry) + 1;
        for (const char *at = *entry; at < end; ++at)
            hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211ull;
    }
    return hash;
}

namespace {

// Which runtimes does what was loaded together with us name as needed?
struct Needed {
    bool libgomp = false, libomp = false, ours = false;
};

const Needed &needed() {
    static const Needed found = [] {
        Needed result;
        for (const link_map *object = _r_debug.r_map; object; object = object->l_next)
            DynamicSection(*object).needs([&](const char *name) {
                const OpenMpLibrary library = openmp_library(name);
                result.libgomp |= library == OpenMpLibrary::libgomp;
                result.libomp |= library == OpenMpLibrary::libomp;
                result.ours |= library == OpenMpLibrary::ours;
                return false;
            });
        return result;
    }();
    return found;
}

// By our own name: we are preloaded, as a rule.
bool loaded_for_libomp() {
    Dl_info self;
    if (dladdr(reinterpret_cast<void *>(stands_for_libomp), &self) == 0)
        return false;
    const char *slash = std::strrchr(self.dli_fname, '/');
    const OpenMpLibrary name = openmp_library(slash ? slash + 1 : self.dli_fname);
    return name == OpenMpLibrary::libomp ||
           (name == OpenMpLibrary::ours && needed().libomp && !needed().libgomp);
}

} // namespace

bool is_needed() {
    return needed().libgomp || needed().libomp || needed().ours;
}

// Asked a few times when a program starts; dladdr looks through all of the library's symbols.
bool stands_for_libomp() {
    static const bool stands = loaded_for_libomp();
    return stands;
}

} // namespace sennit

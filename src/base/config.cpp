// SPDX-License-Identifier: Apache-2.0
#include "base/config.h"

#include "base/environment.h"
#include "base/message.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit {
namespace {

Config g_config;

long read_number(const char *variable, long fallback, long least, long most) {
    const char *value = trusted_environment(variable);
    if (!value)
        return fallback;
    char *end = nullptr;
    errno = 0;
    const long number = std::strtol(value, &end, 10);
    if (errno == 0 && end != value && *end == '\0' && number >= least && number <= most)
        return number;
    warn("%s='%s' is not a number in %ld..%ld; going on with %ld", variable, value, least, most,
         fallback);
    return fallback;
}

const char *read_text(const char *variable, const char *fallback) {
    const char *value = trusted_environment(variable);
    return value ? value : fallback;
}

void warn_of(const char *line) {
    warn("%s", line);
}

} // namespace

const Config &config() {
    return g_config;
}

std::string_view policy_word() {
    return word_at(SENNIT_WORDS(SENNIT_POLICIES), static_cast<int>(g_config.policy));
}

bool is_given(const char *variable) {
    return trusted_environment(variable) != nullptr;
}

void choose_policy(Policy policy) {
    g_config.policy = policy;
}

void config_setup() {
#define SENNIT_CHOICE(field, Type, WORDS, variable, fallback, help)                                \
    g_config.field =                                                                               \
        static_cast<Type>(read_choice(variable, fallback, SENNIT_WORDS(WORDS), warn_of));
#define SENNIT_NUMBER(field, variable, fallback, least, most, help)                                \
    g_config.field = read_number(variable, fallback, least, most);
#define SENNIT_TEXT(field, variable, fallback, form, help)                                         \
    g_config.field = read_text(variable, fallback);
#include "base/options.def"
#undef SENNIT_CHOICE
#undef SENNIT_NUMBER
#undef SENNIT_TEXT
    if (given_system_files())
        return;
    if (*g_config.system_files && std::strcmp(g_config.system_files, kSystemFiles) != 0)
        warn("SENNIT_SYSTEM_FILES='%.200s' describes no machine: there is no folder cpu, node or "
             "cgroup in it; going on with %s",
             g_config.system_files, kSystemFiles);
    g_config.system_files = kSystemFiles;
}

} // namespace sennit

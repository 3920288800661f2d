// SPDX-License-Identifier: Apache-2.0
// libc's calls that start a program, as programs use them to start themselves again: in place of
// the loader, which /proc/self/exe is, the rank's program. It becomes an ordinary process.
#include "ranks/inside/next.h"
#include "ranks/inside/self.h"

#include <alloca.h>
#include <cstdarg>
#include <cstddef>
#include <spawn.h>
#include <unistd.h>

using namespace sennit::loader::inside;

#define SENNIT_STARTS(name, parameters, types, arguments)                                          \
    namespace {                                                                                    \
    constinit Next<int types> next_##name{#name};                                                  \
    }                                                                                              \
    SENNIT_IN_FRONT(int, name, parameters) {                                                       \
        return next_##name arguments;                                                              \
    }

SENNIT_STARTS(execve, (const char *path, char *const *words, char *const *environment),
              (const char *, char *const *, char *const *),
              (real_program(path), words, environment))
SENNIT_STARTS(execv, (const char *path, char *const *words), (const char *, char *const *),
              (real_program(path), words))
SENNIT_STARTS(execvp, (const char *path, char *const *words), (const char *, char *const *),
              (real_program(path), words))
SENNIT_STARTS(execvpe, (const char *path, char *const *words, char *const *environment),
              (const char *, char *const *, char *const *),
              (real_program(path), words, environment))
SENNIT_STARTS(execveat,
              (int folder, const char *path, char *const *words, char *const *environment,
               int flags),
              (int, const char *, char *const *, char *const *, int),
              (folder, real_program(path), words, environment, flags))
SENNIT_STARTS(posix_spawn,
              (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *words, char *const *environment),
              (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
               char *const *, char *const *),
              (process, real_program(path), actions, attributes, words, environment))
SENNIT_STARTS(posix_spawnp,
              (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *words, char *const *environment),
              (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
               char *const *, char *const *),
              (process, real_program(path), actions, attributes, words, environment))

namespace {

std::size_t count_words(const char *first, va_list *list) {
    std::size_t count = 0;
    for (const char *word = first; word; word = va_arg(*list, const char *))
        ++count;
    return count;
}

// With the null. Then the list is at the environment, if there is one.
char **take_words(char **to, std::size_t count, const char *first, va_list *list) {
    const char *word = first;
    for (std::size_t i = 0; i < count; ++i, word = va_arg(*list, const char *))
        to[i] = const_cast<char *>(word);
    to[count] = nullptr;
    return to;
}

} // namespace

// Between fork and exec there may be no heap: on the stack. `then` uses `words`, and `list` behind
// them.
#define SENNIT_STARTS_LISTED(name, then)                                                           \
    SENNIT_IN_FRONT(int, name, (const char *path, const char *first, ...)) {                       \
        va_list list;                                                                              \
        va_start(list, first);                                                                     \
        const std::size_t count = count_words(first, &list);                                       \
        va_end(list);                                                                              \
        va_start(list, first);                                                                     \
        char **const words = take_words(                                                           \
            static_cast<char **>(alloca((count + 1) * sizeof(char *))), count, first, &list);      \
        const int result = then;                                                                   \
        va_end(list);                                                                              \
        return result;                                                                             \
    }

SENNIT_STARTS_LISTED(execl, next_execve(real_program(path), words, environ))
SENNIT_STARTS_LISTED(execlp, next_execvp(real_program(path), words))
SENNIT_STARTS_LISTED(execle, next_execve(real_program(path), words, va_arg(list, char **)))

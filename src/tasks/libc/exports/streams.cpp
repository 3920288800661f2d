// SPDX-License-Identifier: Apache-2.0
// Calls that read from a FILE, commands and names of hosts, as programs find them. Functions with
// `...` become those with a va_list, which libc's do, too.
#include "tasks/libc/exports/interpose.h"

#include <cstdarg>

INTERPOSE_64(FILE *, fopen, (const char *path, const char *mode), path, mode)
INTERPOSE_64(FILE *, freopen, (const char *path, const char *mode, FILE *stream), path, mode,
             stream)
INTERPOSE(int, getc, (FILE * stream), stream)
INTERPOSE(int, fgetc, (FILE * stream), stream)
INTERPOSE(char *, fgets, (char *bytes, int size, FILE *stream), bytes, size, stream)
INTERPOSE(ssize_t, getline, (char **line, std::size_t *size, FILE *stream), line, size, stream)
INTERPOSE(ssize_t, getdelim, (char **line, std::size_t *size, int delimiter, FILE *stream), line,
          size, delimiter, stream)
INTERPOSE(ssize_t, __getdelim, (char **line, std::size_t *size, int delimiter, FILE *stream), line,
          size, delimiter, stream)
INTERPOSE(std::size_t, fread, (void *items, std::size_t size, std::size_t count, FILE *stream),
          items, size, count, stream)
INTERPOSE(int, system, (const char *command), command)
INTERPOSE(int, pclose, (FILE * stream), stream)

INTERPOSE(int, getaddrinfo,
          (const char *host, const char *service, const addrinfo *hints, addrinfo **result), host,
          service, hints, result)
INTERPOSE(int, getnameinfo,
          (const sockaddr *address, socklen_t length, char *host, socklen_t host_size,
           char *service, socklen_t service_size, int flags),
          address, length, host, host_size, service, service_size, flags)
INTERPOSE(int, gethostbyname_r,
          (const char *host, hostent *result, char *buffer, std::size_t size, hostent **found,
           int *error),
          host, result, buffer, size, found, error)
INTERPOSE(int, gethostbyname2_r,
          (const char *host, int family, hostent *result, char *buffer, std::size_t size,
           hostent **found, int *error),
          host, family, result, buffer, size, found, error)
INTERPOSE(int, gethostbyaddr_r,
          (const void *address, socklen_t length, int family, hostent *result, char *buffer,
           std::size_t size, hostent **found, int *error),
          address, length, family, result, buffer, size, found, error)

// ---- other signatures --------------------------------------------------------------------------

#define INTERPOSE_AS(result, name, parameters, arguments, call)                                    \
    INTERPOSE_CHECKED(result, name, parameters, arguments, true, call)

INTERPOSE_AS(int, getchar, (), (), libc::getchar(CALLER))
INTERPOSE_CHECKED(char *, __fgets_chk, (char *bytes, std::size_t room, int size, FILE *stream),
                  (bytes, room, size, stream), size > 0 && static_cast<std::size_t>(size) <= room,
                  libc::fgets(bytes, size, stream, CALLER))
INTERPOSE_CHECKED(std::size_t, __fread_chk,
                  (void *items, std::size_t room, std::size_t size, std::size_t count,
                   FILE *stream),
                  (items, room, size, count, stream), size == 0 || count <= room / size,
                  libc::fread(items, size, count, stream, CALLER))

#define INTERPOSE_SCAN(prefix, kind)                                                               \
    INTERPOSE_AS(int, prefix##vfscanf, (FILE * stream, const char *format, va_list arguments),     \
                 (stream, format, arguments),                                                      \
                 libc::vfscanf(libc::Scan::kind, stream, format, arguments, CALLER))               \
    INTERPOSE_AS(int, prefix##vscanf, (const char *format, va_list arguments),                     \
                 (format, arguments),                                                              \
                 libc::vfscanf(libc::Scan::kind, stdin, format, arguments, CALLER))                \
    extern "C" SENNIT_EXPORT int interposed_##prefix##fscanf(FILE *stream, const char *format,     \
                                                             ...) __asm__(#prefix "fscanf");       \
    int interposed_##prefix##fscanf(FILE *stream, const char *format, ...) {                       \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        const int read = SENNIT_LIKELY(!libc::in_task())                                           \
                             ? bare.prefix##vfscanf(stream, format, arguments)                     \
                             : libc::vfscanf(libc::Scan::kind, stream, format, arguments, CALLER); \
        va_end(arguments);                                                                         \
        return read;                                                                               \
    }                                                                                              \
    extern "C" SENNIT_EXPORT int interposed_##prefix##scanf(const char *format,                    \
                                                            ...) __asm__(#prefix "scanf");         \
    int interposed_##prefix##scanf(const char *format, ...) {                                      \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        const int read = SENNIT_LIKELY(!libc::in_task())                                           \
                             ? bare.prefix##vscanf(format, arguments)                              \
                             : libc::vfscanf(libc::Scan::kind, stdin, format, arguments, CALLER);  \
        va_end(arguments);                                                                         \
        return read;                                                                               \
    }
INTERPOSE_SCAN(, gnu)
INTERPOSE_SCAN(__isoc99_, c99)
INTERPOSE_SCAN(__isoc23_, c23)

// SPDX-License-Identifier: Apache-2.0
// Threads of the library's own, which need little stack and which nobody joins.
#pragma once

#include <cerrno>
#include <cstddef>
#include <pthread.h>

namespace sennit {

inline constexpr std::size_t kHelperStack = 256 * 1024;

// Returns an error number. glibc takes a thread's static TLS out of its stack, and refuses a stack
// that is too short for it, as in programs with large threadprivate arrays. Then the thread gets
// the default size.
inline int create_helper_thread(void *(*main)(void *), void *arg) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    std::size_t usual = 0;
    pthread_attr_getstacksize(&attributes, &usual);
    pthread_attr_setstacksize(&attributes, kHelperStack);
    int error = pthread_create(&thread, &attributes, main, arg);
    if (error == EINVAL && pthread_attr_setstacksize(&attributes, usual) == 0)
        error = pthread_create(&thread, &attributes, main, arg);
    pthread_attr_destroy(&attributes);
    return error;
}

} // namespace sennit

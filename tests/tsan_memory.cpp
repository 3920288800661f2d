// SPDX-License-Identifier: Apache-2.0
// What Clang's ThreadSanitizer pass calls and GCC's runtime does not have by that name; see
// cmake/SennitPrograms.cmake. The runtime intercepts the functions below.
#include <cstring>

extern "C" {
void *__tsan_memset(void *to, int value, std::size_t size) {
    return std::memset(to, value, size);
}
void *__tsan_memcpy(void *to, const void *from, std::size_t size) {
    return std::memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, std::size_t size) {
    return std::memmove(to, from, size);
}
}

// SPDX-License-Identifier: Apache-2.0
// Memory that a test takes while it runs is noted with its own: the linker puts these in place of
// the C library's (CMakeLists.txt).
#include "explorer.h"

using sennit::schedules::Explorer;
extern "C" {
void *__real_malloc(std::size_t size);
void *__real_calloc(std::size_t count, std::size_t size);
void *__real_realloc(void *block, std::size_t size);
void *__real_aligned_alloc(std::size_t align, std::size_t size);
void __real_free(void *block);

void *__wrap_malloc(std::size_t size) {
    return Explorer::is_at_work() ? Explorer::allocate(size) : __real_malloc(size);
}
void *__wrap_calloc(std::size_t count, std::size_t size) {
    return Explorer::is_at_work() ? Explorer::allocate(count * size) : __real_calloc(count, size);
}
void *__wrap_realloc(void *block, std::size_t size) {
    if (!Explorer::is_at_work())
        return __real_realloc(block, size);
    void *const larger = Explorer::allocate(size);
    if (block) {
        std::memcpy(larger, block, std::min(size, sennit::schedules::g_arena.size_of(block)));
        Explorer::release(block);
    }
    return larger;
}
void *__wrap_aligned_alloc(std::size_t align, std::size_t size) {
    return Explorer::is_at_work() ? Explorer::allocate(size) : __real_aligned_alloc(align, size);
}
void __wrap_free(void *block) {
    if (sennit::schedules::g_arena.has(block))
        Explorer::release(block);
    else
        __real_free(block);
}
}

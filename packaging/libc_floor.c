/* SPDX-License-Identifier: Apache-2.0
 * What Sennit's code and GCC's static libraries take of glibc that 2.28 has not: here by means that
 * it has. (What it has in an older version is older_glibc.py's matter.) Linked into all that is
 * installed, hidden. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __GLIBC_PREREQ(2, 30)
pid_t gettid(void) {
    return (pid_t)syscall(SYS_gettid);
}
#endif

#if __GLIBC_PREREQ(2, 32)
/* The C++ library's counters are atomic in a process with one thread, too. */
char __libc_single_threaded = 0;
#endif

/* GCC's libraries refer to functions of threads weakly. That is not enough for the linker to take
 * them from the libpthread of older_glibc.py. */
__attribute__((used)) static int (*const once)(pthread_once_t *, void (*)(void)) = pthread_once;

#if __GLIBC_PREREQ(2, 36)
/* Of std::random_device, which nothing uses, but which comes with the rest. */
uint32_t arc4random(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        abort();
    return number;
}
#endif

#if __GLIBC_PREREQ(2, 38)
/* What headers for C23 call. Those of C99 do not take numbers such as 0b101, and nobody counts on
 * it who runs with older ones, too. */
#define AS_IN_C99(type, name)                                                                      \
    type c99_##name(const char *text, char **end, int base) __asm__(#name);                        \
    type __isoc23_##name(const char *text, char **end, int base);                                  \
    type __isoc23_##name(const char *text, char **end, int base) {                                 \
        return c99_##name(text, end, base);                                                        \
    }
AS_IN_C99(long, strtol)
AS_IN_C99(long long, strtoll)
AS_IN_C99(unsigned long, strtoul)
AS_IN_C99(unsigned long long, strtoull)

int c99_vsscanf(const char *text, const char *format, va_list values) __asm__("__isoc99_vsscanf");
int __isoc23_sscanf(const char *text, const char *format, ...);
int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const int found = c99_vsscanf(text, format, values);
    va_end(values);
    return found;
}
#endif

#if __GLIBC_PREREQ(2, 35)
struct Search {
    uintptr_t address;
    struct dl_find_object *result;
};

static int look(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    struct Search *search = data;
    const ElfW(Phdr) *frames = NULL;
    int holds_address = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME)
            frames = header;
        else if (header->p_type == PT_LOAD && search->address - start < header->p_memsz)
            holds_address = 1;
    }
    if (!holds_address)
        return 0;
    if (!frames)
        return -1;
    search->result->dlfo_eh_frame = (void *)(object->dlpi_addr + frames->p_vaddr);
    return 1;
}

static int find_without_libc(void *address, struct dl_find_object *result) {
    memset(result, 0, sizeof *result);
    struct Search search = {(uintptr_t)address, result};
    if (dl_iterate_phdr(look, &search) != 1)
        return -1;
    Dl_info info;
    void *object = NULL;
    if (dladdr1(address, &info, &object, RTLD_DL_LINKMAP) != 0)
        result->dlfo_link_map = object;
    return 0;
}

/* The unwinder asks where the tables of the code at `address` are, and object_of() in
 * src/base/loaded_object.h whose code it is. They look at nothing else of the result. Where libc
 * has the function, its own is called, which takes no lock. The first call, with any address, looks
 * for it: several threads may. */
int _dl_find_object(void *address, struct dl_find_object *result) {
    static int (*found)(void *, struct dl_find_object *);
    int (*find)(void *, struct dl_find_object *) = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!find) {
        void *const symbol = dlsym(RTLD_DEFAULT, "_dl_find_object"); /* ours is hidden */
        memcpy(&find, &symbol, sizeof find);
        if (!find)
            find = find_without_libc;
        __atomic_store_n(&found, find, __ATOMIC_RELAXED);
    }
    return find(address, result);
}
#endif

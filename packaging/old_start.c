/* SPDX-License-Identifier: Apache-2.0
 * How a program starts with a glibc that is older than the one that it was linked with. Since 2.34
 * libc itself runs the program's constructors. Before, crt1.o handed it a function that does, and a
 * newer crt1.o hands it none. A newer libc calls such a function, too, if it is handed one. Linked
 * into programs, with --wrap. */
#include <stddef.h>

typedef int Main(int, char **, char **);
typedef void Constructor(int, char **, char **);

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif

int old_start(Main *program, int count, char **words, Constructor *constructors,
              void (*destructors)(void), void (*loader_ends)(void), void *stack);
__asm__(".symver old_start, __libc_start_main@" OLDEST);
int __wrap___libc_start_main(Main *program, int count, char **words, Constructor *constructors,
                             void (*destructors)(void), void (*loader_ends)(void), void *stack);

void _init(void);
extern Constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor *const __init_array_end[] __attribute__((visibility("hidden")));

static void construct(int count, char **words, char **environment) {
    _init();
    for (Constructor *const *next = __init_array_start; next != __init_array_end; ++next)
        (*next)(count, words, environment);
}

/* What is to run at the end is run by the loader, in every version. */
int __wrap___libc_start_main(Main *program, int count, char **words, Constructor *constructors,
                             void (*destructors)(void), void (*loader_ends)(void), void *stack) {
    return old_start(program, count, words, constructors ? constructors : construct, destructors,
                     loader_ends, stack);
}

/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -ldl -lpthread
 * run: omp.late_load.{compiler}.t{threads} -- {bin}/{compiler}/late_load_part # stock libgomp
 *     crashes
 * A program without OpenMP that opens a library with it late, from a thread of its own too, closes
 * and opens it again, and closes it for good only at exit: late_load_main LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void check(int holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "late_load_main: does not hold: %s (%s)\n", what, dlerror());
    _Exit(1);
}

static void open_and_compute(const char *path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    check(library != NULL, "dlopen");
    int (*compute)(int);
    *(void **)&compute = dlsym(library, "late_compute");
    check(compute && compute(4) == 4970, "the first call");
    check(compute(3) == 4970, "the second call");
}

static void *in_a_thread(void *path) {
    open_and_compute(path);
    return NULL;
}

static void at_exit(void) {
    check(dlclose(library) == 0, "dlclose at exit");
}

int main(int count, char **arguments) {
    check(count == 2, "usage");
    pthread_t thread;
    check(pthread_create(&thread, NULL, in_a_thread, arguments[1]) == 0, "a thread");
    check(pthread_join(thread, NULL) == 0, "its end");
    check(dlclose(library) == 0, "dlclose");
    open_and_compute(arguments[1]);
    check(dlclose(library) == 0, "dlclose");
    open_and_compute(arguments[1]);
    check(atexit(at_exit) == 0, "atexit");
    return 0;
}

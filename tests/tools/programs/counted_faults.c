/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc
 * Tasks that touch fresh pages, each of which is a fault, and tasks that touch none. Tasks of the
 * first kind sleep in the middle, while their threads run others. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TASKS = 8, PAGES = 64, PAGE = 4096 };

static char *fresh_pages(void) {
    char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE) != 0)
        abort();
    return pages;
}

static void touch(char *pages, int from, int to) {
    for (int i = from; i < to; ++i)
        ((volatile char *)pages)[i * PAGE] = 1;
}

static void touch_in_halves(char *pages) {
#pragma omp task
    {
        touch(pages, 0, PAGES / 2);
        usleep(2000);
        touch(pages, PAGES / 2, PAGES);
    }
}

static void touch_at_once(char *pages) {
#pragma omp task
    touch(pages, 0, PAGES);
}

static void only_compute(volatile int *sum) {
#pragma omp task
    for (int i = 0; i < 100000; ++i)
        *sum = *sum + 1;
}

int main(void) {
    char *halves[TASKS], *wholes[TASKS];
    static volatile int sums[TASKS];
    for (int i = 0; i < TASKS; ++i) {
        halves[i] = fresh_pages();
        wholes[i] = fresh_pages();
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < TASKS; ++i) {
        touch_in_halves(halves[i]);
        touch_at_once(wholes[i]);
        only_compute(&sums[i]);
    }
    return 0;
}

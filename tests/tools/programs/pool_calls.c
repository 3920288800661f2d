/* SPDX-License-Identifier: Apache-2.0
 * build:
 *
 * A program that asks for cores and looks at how they are used: one line a step, for pool_test.py.
 * It goes on with each line on its input. */
#define _GNU_SOURCE
#include <sennit.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static __typeof__(sennit_pool_ask) *ask;
static __typeof__(sennit_pool_get_state) *get_state;

/* The workers of the last region keep their cores until they sleep. Only then does the state stay
 * as it is. The first thread keeps its own. */
static struct sennit_pool_state state_at_rest(void) {
    const struct timespec a_little = {0, 1000000};
    struct sennit_pool_state state;
    for (int looks = 0; looks < 20000; ++looks) {
        if (get_state(&state) != SENNIT_SUCCESS)
            exit(3);
        if (state.process.used <= 1)
            return state;
        nanosleep(&a_little, NULL);
    }
    exit(5);
}

static void say(const char *step) {
    const struct sennit_pool_state state = state_at_rest();
    int got = -1;
    if (ask(1000, &got) != SENNIT_SUCCESS)
        exit(3);
    ask(0, NULL);
    const struct sennit_pool_part *p = &state.process;
    printf(
        "%s cores %d free %d owned %d used %d lent %d borrowed %d wanted %d without %d asked %d\n",
        step, state.cores, state.free, p->owned, p->used, p->lent, p->borrowed, p->wanted,
        p->without, got);
    fflush(stdout);
}

int main(void) {
    *(void **)&ask = dlsym(RTLD_DEFAULT, "sennit_pool_ask");
    *(void **)&get_state = dlsym(RTLD_DEFAULT, "sennit_pool_get_state");
    if (!ask || !get_state)
        return 2;
    if (ask(-1, NULL) != SENNIT_ERR_PARAMETER || get_state(NULL) != SENNIT_ERR_PARAMETER)
        return 4;
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    say("start");
    while (getchar() == '\n')
        say("again");
    return threads < 1;
}

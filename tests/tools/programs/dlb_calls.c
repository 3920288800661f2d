/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that was written for DLB: what its calls return, one line each.
 *
 * Usage: dlb_calls lewi | list | mask PID | set PID CORE [steal] */
#define _GNU_SOURCE
#include <dlb.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *call, int result) {
    printf("%s: %d %s\n", call, result, DLB_Strerror(result));
}

static void lewi(void) {
    say("early", DLB_Lend());
    say("init", DLB_Init(0, NULL, "--lewi --drom"));
    say("again", DLB_Init(0, NULL, NULL));
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    say("borrow", DLB_Borrow());
    say("lend", DLB_Lend());
    say("reclaim", DLB_Reclaim());
    say("nothing", DLB_Reclaim());
    say("poll", DLB_PollDROM(NULL, NULL));
    say("disable", DLB_Disable());
    say("disabled", DLB_LendCpus(1));
    say("enable", DLB_Enable());
    say("finalize", DLB_Finalize());
    printf("threads %d\n", sum > 0);
}

static void list(void) {
    int pids[64], count = 0, cores = 0;
    say("list", DLB_DROM_GetPidList(pids, &count, 64));
    say("cores", DLB_DROM_GetNumCpus(&cores));
    printf("of %d cores", cores);
    for (int i = 0; i < count; ++i)
        printf(" %d", pids[i]);
    printf("\n");
}

static void mask(int pid) {
    cpu_set_t set;
    CPU_ZERO(&set);
    say("mask", DLB_DROM_GetProcessMask(pid, &set, DLB_DROM_FLAGS_NONE));
    printf("owns");
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set))
            printf(" %d", core);
    printf("\n");
}

int main(int count, char **arguments) {
    if (strcmp(arguments[1], "lewi") == 0) {
        lewi();
        return 0;
    }
    say("attach", DLB_DROM_Attach());
    if (strcmp(arguments[1], "list") == 0)
        list();
    else if (strcmp(arguments[1], "mask") == 0)
        mask(atoi(arguments[2]));
    else {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(arguments[3]), &set);
        say("set", DLB_DROM_SetProcessMask(atoi(arguments[2]), &set,
                                           count > 4 ? DLB_STEAL_CPUS : DLB_DROM_FLAGS_NONE));
    }
    say("detach", DLB_DROM_Detach());
    return 0;
}

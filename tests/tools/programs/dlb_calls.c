/* SPDX-License-Identifier: Apache-2.0
 * build_dlb: compiler=all out={programs}/{program}.{compiler}
 *     compile='{cc} -fopenmp -std=gnu11 -Wall -Wextra -Werror -O1 -I{include}'
 *
 * A program that was written for DLB: what its calls return, one line each.
 *
 * Usage: dlb_calls lewi | idle | callbacks | talp | talp-of PID | list | mask PID | set PID CORE
 * [steal] */
#define _GNU_SOURCE
#include <dlb.h>
#include <dlb_drom.h>
#include <dlb_stats.h>
#include <dlb_talp.h>

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void say(const char *call, int result) {
    printf("%s: %d %s\n", call, result, DLB_Strerror(result));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A kernel that computes for so long, on any machine. A busy one takes longer: returns how long. */
static double hold(int milliseconds) {
    const double begin = now();
    struct timespec time = {0, milliseconds * 1000000L};
    syscall(SYS_nanosleep, &time, NULL);
    return now() - begin;
}

static int told_threads = -1;
static int told_cores = -1;
static void set_threads(int threads, void *argument) {
    told_threads = argument == &told_threads ? threads : -2;
}
static void set_mask(const_dlb_cpu_set_t mask, void *argument) {
    told_cores = argument == NULL ? CPU_COUNT((const cpu_set_t *)mask) : -2;
}

/* It waits for a line, and for cores to be moved meanwhile. */
static void callbacks(void) {
    dlb_callback_t got = NULL;
    void *argument = NULL;
    say("none", DLB_CallbackSet(0, NULL, NULL));
    say("threads",
        DLB_CallbackSet(dlb_callback_set_num_threads, (dlb_callback_t)set_threads, &told_threads));
    say("mask", DLB_CallbackSet(dlb_callback_set_process_mask, (dlb_callback_t)set_mask, NULL));
    say("get", DLB_CallbackGet(dlb_callback_set_num_threads, &got, &argument));
    say("init", DLB_Init(0, NULL, NULL));
    int cores = 0;
    DLB_DROM_GetNumCpus(&cores);
    int available = 0;
    for (int core = 0; core < cores; ++core)
        available += DLB_CheckCpuAvailability(core) == DLB_SUCCESS;
    printf("available %d\n", available);
    say("still", DLB_PollDROM_Update());
    fflush(stdout);
    getchar();
    say("update", DLB_PollDROM_Update());
    say("finalize", DLB_Finalize());
    printf("told %d %d %d\n", told_threads, told_cores,
           got == (dlb_callback_t)set_threads && argument == &told_threads);
}

static void lewi(void) {
    say("early", DLB_Lend());
    say("init", DLB_Init(0, NULL, "--lewi --drom"));
    say("again", DLB_Init(0, NULL, NULL));
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += 1;
    say("borrow", DLB_Borrow());
    say("acquire", DLB_AcquireCpus(1000));
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

/* Threads that have nothing to do lend their cores when they are told to; the caller goes on. */
static void idle(void) {
    cpu_set_t none;
    CPU_ZERO(&none);
    say("init", DLB_Init(0, NULL, NULL));
    int lent = DLB_NOUPDT;
    for (int region = 0; region < 10000 && lent == DLB_NOUPDT; ++region) {
#pragma omp parallel num_threads(2)
        __asm__ volatile("");
        lent = DLB_LendCpus(DLB_MAX_CPUS);
    }
    say("lent", lent);
    say("none", DLB_LendCpuMask(&none));
    say("mine", DLB_Reclaim());
    say("finalize", DLB_Finalize());
}

/* Its time, from the command on if that counts it, else from DLB_Init; until it gets a line. */
static void talp(void) {
    say("init", DLB_Init(0, NULL, "--lewi --talp"));
    dlb_monitor_t *const loop = DLB_MonitoringRegionRegister("loop");
    dlb_monitor_t *const other = DLB_MonitoringRegionRegister("");
    printf("same %d %d\n", loop == DLB_MonitoringRegionRegister("loop"),
           DLB_MonitoringRegionGetGlobal() == DLB_MonitoringRegionRegister("gLOBAL"));
    printf("none %d %d\n", DLB_MonitoringRegionRegister("All") == NULL,
           DLB_MonitoringRegionRegister(DLB_LAST_OPEN_REGION) == NULL);
    say("stopped", DLB_MonitoringRegionStop(loop));
    say("start", DLB_MonitoringRegionStart(loop));
    say("again", DLB_MonitoringRegionStart(loop));
    say("other", DLB_MonitoringRegionStart(other));
    double held[2] = {0, 0}, serial = 0;
    for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)
        held[omp_get_thread_num()] += hold(omp_get_thread_num() == 0 ? 40 : 10);
        serial += hold(20); /* of 120 ms: 70 useful, 30 imbalance, 20 serial */
    }
    say("last", DLB_MonitoringRegionStop(DLB_LAST_OPEN_REGION));
    say("stop", DLB_MonitoringRegionStop(loop));
    say("unknown", DLB_MonitoringRegionStop((dlb_monitor_t *)&loop));
    dlb_pop_metrics_t all;
    say("metrics", DLB_TALP_CollectPOPMetrics(loop, &all));
    if (loop)
        printf("loop %s %d %d %d %.6f %.6f %.6f %.6f\n", loop->name, loop->num_cpus,
               loop->num_measurements, (int)loop->num_omp_parallels,
               (double)loop->elapsed_time * 1e-9, all.parallel_efficiency, all.omp_load_balance,
               all.omp_serialization_efficiency);
    printf("held %.6f %.6f %.6f\n", held[0], held[1], serial);
    say("report", DLB_MonitoringRegionReport(loop));
    say("reset", DLB_MonitoringRegionReset(loop));
    if (loop && other)
        printf("reset %d %d %d %d\n", loop->num_resets, loop->num_measurements,
               loop->useful_time == 0, other->useful_time > 0);
    fflush(stdout);
    getchar();
    say("finalize", DLB_Finalize());
}

/* What another process shows of its time. */
static void talp_of(int pid) {
    int pids[64], count = 0, cores = 0;
    double in_mpi = -1, useful = -1;
    dlb_node_metrics_t node;
    dlb_node_times_t times[64];
    say("early", DLB_TALP_GetPidList(pids, &count, 64));
    say("attach", DLB_TALP_Attach());
    say("cores", DLB_TALP_GetNumCPUs(&cores) ? -1 : cores < 1);
    say("list", DLB_TALP_GetPidList(pids, &count, 64));
    printf("processes %d %d\n", count, count > 0 && pids[0] == pid);
    say("nobody", DLB_TALP_GetTimes(1, &in_mpi, &useful));
    say("times", DLB_TALP_GetTimes(pid, &in_mpi, &useful));
    say("mine", DLB_TALP_GetTimes(0, &in_mpi, &useful));
    printf("useful %.6f %.6f\n", useful, in_mpi);
    say("node times", DLB_TALP_GetNodeTimes(NULL, times, &count, 64));
    printf("node %d %d\n", count, count > 0 && times[0].pid == pid);
    say("node metrics", DLB_TALP_QueryPOPNodeMetrics("global", &node));
    say("no region", DLB_TALP_QueryPOPNodeMetrics("loop", &node));
    say("detach", DLB_TALP_Detach());
    say("twice", DLB_TALP_Detach());
}

static void list(void) {
    int pids[64], count = 0, cores = 0;
    say("list", DLB_DROM_GetPidList(pids, &count, 64));
    say("cores", DLB_DROM_GetNumCpus(&cores));
    printf("of %d cores", cores);
    for (int i = 0; i < count; ++i)
        printf(" %d", pids[i]);
    printf("\n");
    say("region", DLB_MonitoringRegionStart(DLB_MonitoringRegionRegister("all")));
    say("statistics", DLB_Stats_Init());
    say("listed", DLB_Stats_GetPidList(pids, &count, 1) - count);
    say("usage", DLB_Stats_GetCpuUsage(pids[0], NULL));
    say("statistics end", DLB_Stats_Finalize());
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
    if (strcmp(arguments[1], "idle") == 0) {
        idle();
        return 0;
    }
    if (strcmp(arguments[1], "callbacks") == 0) {
        callbacks();
        return 0;
    }
    if (strcmp(arguments[1], "talp") == 0) {
        talp();
        return 0;
    }
    if (strcmp(arguments[1], "talp-of") == 0) {
        talp_of(atoi(arguments[2]));
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
        say("no list", DLB_DROM_SetProcessMaskStr(atoi(arguments[2]), "none", DLB_DROM_FLAGS_NONE));
        say("set", DLB_DROM_SetProcessMask(atoi(arguments[2]), &set,
                                           count > 4 ? DLB_STEAL_CPUS : DLB_DROM_FLAGS_NONE));
    }
    say("preinit", DLB_DROM_PreInit(1, NULL, DLB_DROM_FLAGS_NONE, NULL));
    say("gone", DLB_DROM_PostFinalize(1, DLB_DROM_FLAGS_NONE));
    say("detach", DLB_DROM_Detach());
    return 0;
}

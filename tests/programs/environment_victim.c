// SPDX-License-Identifier: Apache-2.0
// build:
// What the environment has made of the settings: environment_stock.py compares it with what the
// stock runtimes make of them.
#include "check.h"

static void show_team(const char *name, int size) {
    printf("%s %d\n", name, size);
}

int main(void) {
    omp_sched_t kind;
    int chunk = 0, size = 0;
    omp_get_schedule(&kind, &chunk);
    printf("schedule %d,%d\n", (int)((unsigned)kind & 0x7FFFFFFFu), chunk);
    printf("dynamic %d\n", omp_get_dynamic());
    printf("levels %d of %d\n", omp_get_max_active_levels(), omp_get_supported_active_levels());
    omp_set_max_active_levels(1000);
    printf("many levels %d\n", omp_get_max_active_levels());
    omp_set_max_active_levels(-1);
    printf("negative levels %d\n", omp_get_max_active_levels());
    printf("cancellation %d, %d teams of %d\n", omp_get_cancellation(), omp_get_max_teams(),
           omp_get_teams_thread_limit());
    if (omp_get_thread_limit() < 1000) // without a limit each runtime says another number
        printf("limit %d\n", omp_get_thread_limit());
    printf("processors %d, at most %d threads\n", omp_get_num_procs(), omp_get_max_threads());
    printf("bound %d\n", omp_get_proc_bind() != omp_proc_bind_false && omp_get_num_places() > 1);
    fflush(stdout);
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    show_team("team", size);
#pragma omp parallel num_threads(4)
#pragma omp single
    size = omp_get_num_threads();
    show_team("team of 4", size);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * test: 'OMP_AFFINITY_FORMAT=%{thread_num} of %N' # libgomp shows pthread_self()
 * OpenMP 5.2, 18.3.8 to 18.3.11 and table 21.2: the text about a thread's affinity. Run with
 * OMP_AFFINITY_FORMAT="%{thread_num} of %N".
 */
#define _GNU_SOURCE
#include "check.h"

#include <string.h>
#include <sys/syscall.h>

static void check_text(const char *format, const char *expected) {
    char buffer[256];
    const size_t length = omp_capture_affinity(buffer, sizeof buffer, format);
    if (strcmp(buffer, expected) != 0) {
        fprintf(stderr, "'%s' gives '%s', expected '%s'\n", format, buffer, expected);
        _exit(1);
    }
    CHECK_EQ(length, strlen(expected));
}

int main(void) {
    char buffer[256];
    char expected[256];
    omp_set_dynamic(0);

    /* The environment's format; a buffer that is too small gets what fits. */
    CHECK_EQ(omp_get_affinity_format(buffer, sizeof buffer), strlen("%{thread_num} of %N"));
    CHECK(strcmp(buffer, "%{thread_num} of %N") == 0);
    CHECK_EQ(omp_get_affinity_format(buffer, 5), strlen("%{thread_num} of %N"));
    CHECK(strcmp(buffer, "%{th") == 0);
    check_text(NULL, "0 of 1");
    check_text("", "0 of 1");

    omp_set_affinity_format("<%n>");
    check_text(NULL, "<0>");
    CHECK_EQ(omp_get_affinity_format(buffer, sizeof buffer), 4);

    /* Every field, by both names. */
    char host[128];
    CHECK_EQ(gethostname(host, sizeof host), 0);
    snprintf(expected, sizeof expected, "0 1 0 0 1 -1 %s %d %ld", host, (int)getpid(),
             (long)syscall(SYS_gettid));
    check_text("%t %T %L %n %N %a %H %P %i", expected);
    check_text("%{team_num} %{num_teams} %{nesting_level} %{thread_num} %{num_threads} "
               "%{ancestor_tnum} %{host} %{process_id} %{native_thread_id}",
               expected);
    CHECK(omp_capture_affinity(buffer, sizeof buffer, "%A") > 0);
    CHECK(omp_capture_affinity(expected, sizeof expected, "%{thread_affinity}") > 0);
    CHECK(strcmp(buffer, expected) == 0);

    /* Width, side, zeros, the percent sign itself. */
    check_text("[%4n|%.4n|%0.4n|%%]", "[0   |   0|0000|%]");
    CHECK_EQ(omp_capture_affinity(buffer, 4, "%0.9n"), 9);
    CHECK(strcmp(buffer, "000") == 0);
    CHECK_EQ(omp_capture_affinity(NULL, 0, "%0.9n"), 9);

    /* Each thread has its own text. */
    const int threads = check_threads();
#pragma omp parallel num_threads(threads)
    {
        char mine[64];
        char text[64];
        snprintf(mine, sizeof mine, "L1 n%d N%d a0", omp_get_thread_num(), threads);
        omp_capture_affinity(text, sizeof text, "L%L n%n N%N a%a");
        CHECK(strcmp(mine, text) == 0);
#pragma omp parallel num_threads(1)
        {
            snprintf(mine, sizeof mine, "L2 n0 a%d",
                     omp_get_ancestor_thread_num(omp_get_level() - 1));
            omp_capture_affinity(text, sizeof text, "L%L n%n a%a");
            CHECK(strcmp(mine, text) == 0);
        }
    }
    return 0;
}

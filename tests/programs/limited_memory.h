/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that may have little more memory than it has now: what the tests share in which stacks
 * are refused.
 */
#ifndef LIMITED_MEMORY_H
#define LIMITED_MEMORY_H

#include "check.h"

#include <sys/resource.h>

/* Bytes of addresses that are in use. */
static inline rlim_t addresses_in_use(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file);
    CHECK_EQ(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

static inline void set_limit(__rlimit_resource_t resource, rlim_t bytes) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(resource, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(resource, &limit), 0);
}

/* The process may have `more` bytes. Not while another thread maps a stack: that one may take them.
 */
static inline void limit_addresses(rlim_t more) {
    set_limit(RLIMIT_AS, addresses_in_use() + more);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * test:
 * The OpenMP routines that this program calls come from libsennit-omp.so, once, and from no stock
 * runtime: without this, every other test might test something else.
 */
#define _GNU_SOURCE
#include "sennit_door.h"
#include <link.h>
#include <string.h>

static int forbidden(struct dl_phdr_info *info, size_t size, void *found) {
    static const char *stock[] = {"/libgomp.so", "/libomp.so", "/libomp-", "/libiomp5.so"};
    char path[4096];
    (void)size;
    if (!realpath(info->dlpi_name, path))
        return 0;
    for (int i = 0; i < 4; ++i)
        if (strstr(path, stock[i]))
            fprintf(stderr, "%s is loaded as well\n", path), *(int *)found += 1;
    return 0;
}

int main(void) {
    int found = 0;
    Dl_info info;
    CHECK_EQ(omp_get_num_threads(), 1);
    char path[4096];
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "omp_get_num_threads"), &info) != 0);
    CHECK(realpath(info.dli_fname, path) != NULL);
    CHECK(strstr(path, "/libsennit-omp.so") != NULL);
    CHECK(strchr(DOOR(sennit_version)(), '.') != NULL);
    dl_iterate_phdr(forbidden, &found);
    CHECK_EQ(found, 0);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// test: # stock libomp says nothing about an empty interop object
// OpenMP 5.2, 18.7, 18.8, 18.12: what the device and interoperability routines answer where there
// is no device but the host. Clang's programs get device memory routines from libomptarget.
#include "check.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

static void numbers(void) {
    CHECK_EQ(omp_get_num_devices(), 0);
    CHECK_EQ(omp_get_initial_device(), 0);
    CHECK_EQ(omp_get_device_num(), 0);
    CHECK(omp_is_initial_device());
    CHECK_EQ(omp_get_default_device(), 0);
    omp_set_default_device(3);
#pragma omp parallel
    CHECK_EQ(omp_get_default_device(), 3);
#pragma omp parallel
    omp_set_default_device(omp_get_thread_num());
    CHECK_EQ(omp_get_default_device(), 3);
    omp_set_default_device(0);
}

#ifdef __clang__
static void memory(void) {
    int code = 1;
    CHECK_EQ(omp_get_num_interop_properties(omp_interop_none), 0);
    CHECK_EQ(omp_get_interop_int(omp_interop_none, omp_ipr_fr_id, &code), 0);
    CHECK_EQ(code, omp_irc_empty);
    code = 1;
    CHECK(omp_get_interop_ptr(omp_interop_none, omp_ipr_device, &code) == NULL);
    CHECK_EQ(code, omp_irc_empty);
    CHECK(omp_get_interop_str(omp_interop_none, omp_ipr_fr_name, NULL) == NULL);
    CHECK(omp_get_interop_name(omp_interop_none, omp_ipr_fr_id) == NULL);
    CHECK(omp_get_interop_type_desc(omp_interop_none, omp_ipr_fr_id) == NULL);
    CHECK(omp_get_interop_rc_desc(omp_interop_none, omp_irc_empty) == NULL);
}
#else
enum { rows = 6, columns = 8 };

// Rows 1 to 3, columns 2 to 6 of one matrix become rows 2 to 4, columns 0 to 4 of the other.
static void rectangles(void) {
    int from[rows][columns], into[rows][columns];
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            from[i][j] = 100 * i + j;
            into[i][j] = -1;
        }
    const size_t volume[] = {3, 5}, to[] = {2, 0}, at[] = {1, 2}, all[] = {rows, columns};
    CHECK_EQ(omp_target_memcpy_rect(into, from, sizeof(int), 2, volume, to, at, all, all, 0, 0), 0);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const int inside = i >= 2 && i < 5 && j < 5;
            CHECK_EQ(into[i][j], inside ? 100 * (i - 1) + j + 2 : -1);
        }
    CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0) >= 3);
    CHECK_EQ(omp_target_memcpy_rect(into, from, 4, 2, volume, to, at, all, all, 0, 5), EINVAL);
    const size_t huge[] = {SIZE_MAX, SIZE_MAX};
    CHECK_EQ(omp_target_memcpy_rect(into, from, 4, 2, volume, to, at, huge, huge, 0, 0), EINVAL);
}

static void memory(void) {
    const int host = omp_get_initial_device();
    char text[] = "abcdefgh";
    char *block = omp_target_alloc(100, host);
    CHECK(block != NULL);
    CHECK_EQ(omp_target_memcpy(block, text, 4, 10, 2, host, host), 0);
    CHECK(memcmp(block + 10, "cdef", 4) == 0);
    CHECK_EQ(omp_target_memcpy(block, text, 4, 0, 0, host, 1), EINVAL);
    CHECK_EQ(omp_target_is_present(text, host), 1);
    CHECK_EQ(omp_target_is_present(NULL, host), 1);
    CHECK_EQ(omp_target_is_present(text, 1), 0);
    CHECK_EQ(omp_target_associate_ptr(text, block, 8, 0, host), EINVAL);
    CHECK_EQ(omp_target_disassociate_ptr(text, host), EINVAL);
    CHECK(omp_target_alloc(100, 7) == NULL);
    CHECK(omp_target_alloc(100, -5) == NULL);
    omp_target_free(block, host);
    omp_target_free(NULL, host);
    rectangles();
}
#endif

int main(void) {
    numbers();
    memory();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// build: compiler=clang if="libomptarget_dir and not sanitized" --
//     -fopenmp-targets=x86_64-pc-linux-gnu -Wl,-rpath,{libomptarget_dir}
// test:
// A program that clang built for an offload device brings LLVM's libomptarget (here the device is
// the host's own kind): regions run there, data is mapped, and the device routines are the
// library's.
#include "check.h"

enum { n = 100 };

int main(void) {
    const int devices = omp_get_num_devices(), host = omp_get_initial_device();
    CHECK(devices > 0);
    CHECK_EQ(host, devices);
    CHECK_EQ(omp_target_is_present(&devices, host), 1);

    int on_host = 1, a[n], sum = 0;
    for (int i = 0; i < n; ++i)
        a[i] = i;
#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    CHECK(!on_host);
#pragma omp target data map(to : a)
    {
        CHECK(omp_target_is_present(a, 0));
        CHECK(omp_get_mapped_ptr(a, 0) != NULL);
        a[0] = 1000; // the device has its copy
#pragma omp target teams distribute parallel for reduction(+ : sum)
        for (int i = 0; i < n; ++i)
            sum += a[i];
    }
    CHECK(!omp_target_is_present(a, 0));
    CHECK_EQ(sum, n * (n - 1) / 2);

    int *there = omp_target_alloc(sizeof a, 0);
    CHECK(there != NULL);
    CHECK_EQ(omp_target_memcpy(there, a, sizeof a, 0, 0, 0, host), 0);
#pragma omp target is_device_ptr(there)
    for (int i = 0; i < n; ++i)
        there[i] += 1;
    int back[n];
    CHECK_EQ(omp_target_memcpy(back, there, sizeof back, 0, 0, host, 0), 0);
    CHECK_EQ(back[0], 1001);
    CHECK_EQ(back[n - 1], n);
    omp_target_free(there, 0);

    // nowait and depend go through the runtime's tasks.
    int x = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 20; ++round) {
        x = 1;
#pragma omp task depend(inout : x) shared(x)
        x *= 10;
#pragma omp target nowait depend(inout : x) map(tofrom : x)
        x += 2;
#pragma omp target enter data nowait depend(inout : x) map(to : x)
#pragma omp target exit data nowait depend(inout : x) map(from : x)
#pragma omp taskwait
        CHECK_EQ(x, 12);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// target constructs where there is no device (OpenMP 5.2, 1.3 and 13.8): the region runs on the
// host as the initial task of a team of its own, and mapped data is the program's own.
#pragma once

#include "omp/team/team.h"

namespace sennit::omp {

// The host is device 0, since there are 0 others, and omp_initial_device.
inline bool is_host_device(int device) {
    constexpr int kInitialDevice = -1;
    return device == 0 || device == kInitialDevice;
}

// With OMP_TARGET_OFFLOAD=mandatory, ends a program that asks for a device other than the host.
void require_device(int device);

// A target region between the two: an initial thread's, whose contention group has at most
// `thread_limit` threads (0: as before), with the settings `icvs` (null: the encountering task's).
void begin_target(sched::Worker &worker, int thread_limit, const Icvs *icvs);
void end_target(sched::Worker &worker);

// The same around body(member, data), with the device's settings: those of the environment.
void run_target(sched::Worker &worker, int thread_limit, Body body, void *data);

// A routine of LLVM's libomptarget, which programs bring that clang built for a device; it owns the
// devices then. Null where it is not loaded.
void *offload_routine(const char *name);

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "openmp/team/team.h"

namespace sennit::omp {

// target constructs without a device (OpenMP 5.2, 1.3 and 13.8). The region runs on the host, as
// the initial task of a team of its own. Mapped data is the program's own data.

// The host is device 0, because there are no other devices. It is also omp_initial_device.
inline bool is_host_device(int device) {
    constexpr int kInitialDevice = -1;
    return device == 0 || device == kInitialDevice;
}

// With OMP_TARGET_OFFLOAD=mandatory, ends a program that asks for a device other than the host.
void require_device(int device);

// Begin and end a target region. An initial thread runs it, with the settings `icvs` (null: those
// of the encountering task). Its contention group has at most `thread_limit` threads (0: as
// before).
void begin_target(sched::Worker &worker, int thread_limit, const Icvs *icvs);
void end_target(sched::Worker &worker);

// The same around body(member, data), with the device's settings, which come from the environment.
void run_target(sched::Worker &worker, int thread_limit, Body body, void *data);

// Find a routine of LLVM's libomptarget. A program that clang has built for a device loads this
// library, which then owns the devices. Null: it is not loaded.
void *offload_routine(const char *name);

} // namespace sennit::omp

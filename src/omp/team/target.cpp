// SPDX-License-Identifier: Apache-2.0
#include "omp/team/target.h"

#include "base/message.h"
#include "omp/team/icv_update.h"

#include <dlfcn.h>

namespace sennit::omp {

void require_device(int device) {
    if (global_icvs().target_offload == TargetOffload::mandatory && !is_host_device(device))
        fatal("OMP_TARGET_OFFLOAD=mandatory, but there is no device %d: Sennit runs target regions "
              "on the host; unset the variable to allow that",
              device);
}

void begin_target(sched::Worker &worker, int thread_limit, const Icvs *icvs) {
    begin_initial(worker, {}, nullptr, nullptr, icvs);
    if (thread_limit > 0)
        icvs_for_update(worker)->thread_limit = thread_limit;
}

void end_target(sched::Worker &worker) {
    join(worker);
}

void run_target(sched::Worker &worker, int thread_limit, Body body, void *data) {
    begin_target(worker, thread_limit, &global_icvs().initial);
    body(member_of(worker), data);
    end_target(worker);
}

void *offload_routine(const char *name) {
    void *landmark = dlsym(RTLD_DEFAULT, "__tgt_target_kernel");
    Dl_info library;
    if (!landmark || !dladdr(landmark, &library))
        return nullptr;
    void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return nullptr;
    void *routine = dlsym(handle, name);
    dlclose(handle); // it stays loaded: the program needs it
    return routine;
}

} // namespace sennit::omp

/* SPDX-License-Identifier: Apache-2.0
 * part: # upstream.py builds it
 * Preloaded where ranks outnumber processors: MPICH over UCX, waiting without success, yields the
 * processor, as Open MPI does by itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
    static __typeof__(&ucp_worker_progress) progress;
    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    if (events == 0)
        sched_yield();
    return events;
}

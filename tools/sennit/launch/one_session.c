/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into MPICH's launcher alone, where ranks outnumber processors.
 *
 * hydra makes each rank the leader of a session, and Linux divides the processors among sessions
 * (sched_autogroup, sched(7)). Then a rank that waits and yields has nobody in its group to yield
 * to, and keeps the rank that it waits for from running until its time slice is over. In one
 * session a hop between ranks takes microseconds instead of a millisecond. Signals still reach the
 * ranks: each leads a process group, as it would as the leader of a session. */
#include <unistd.h>

__attribute__((visibility("default"))) pid_t setsid(void) {
    return setpgid(0, 0) == 0 ? getpid() : -1;
}

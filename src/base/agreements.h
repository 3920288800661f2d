// SPDX-License-Identifier: Apache-2.0
// What Sennit's libraries and its command ask and tell each other, and sennit.h has not.
#pragma once

#include "base/kept_file.h"
#include "base/private_socket.h"

#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// What Sennit's MPI library asks Sennit's runtime, by name, and other libraries need not.
struct sennit_task;

extern "C" {
// The calling task if it is undeferred and has an event of OpenMP's `detach` that is not fulfilled;
// else null. Its creator does not wait for that event, but for those that are bound to the task by
// sennit_task_events_increase.
sennit_task *sennit_task_undeferred(void);
// Does a thread of the runtime's poll while all of the program's sleep? It begins now, if not yet.
int sennit_poll_ticks(void);
}

// Between src/mpi, which counts collective calls, and `sennit run`, which compares those of the
// ranks.

// Ends the name of a call that was made in its non-blocking form, because a task made it. Such a
// one meets MPI_Iallreduce, not the MPI_Allreduce of a rank that calls it outside of tasks.
#define SENNIT_IN_A_TASK " in a task"

namespace sennit {

// The way from a rank to the `sennit run` that has started its job: a socket for datagrams that
// has a name in a folder. Invariant: nothing is told to a socket that another user may have made.
// So the folder has to be this user's, and nobody else may enter it. On another machine than the
// launcher's there is no such folder, and the rank has no launcher.

// A socket whose datagrams reach the launcher, or -1. A send waits for a launcher that is busy, but
// `patience_s` seconds at most.
inline int connect_to_launcher(const char *path, int patience_s) {
    const char *const name = path ? std::strrchr(path, '/') : nullptr;
    sockaddr_un address;
    if (!name || !make_socket_address(path, address))
        return -1;
    char folder[sizeof address.sun_path] = "";
    std::memcpy(folder, path, static_cast<std::size_t>(name - path));
    if (!is_private_folder(folder))
        return -1;
    const int link = above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (link < 0)
        return -1;
    const timeval patience{patience_s, 0};
    setsockopt(link, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(link, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0)
        return link;
    close(link);
    return -1;
}

} // namespace sennit

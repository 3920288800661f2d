// SPDX-License-Identifier: Apache-2.0
// What the wrappers themselves keep, and the calls of MPI that are more than a wrapper.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/wrap/file_queue.h"
#include "mpi/wrap/init_finalize.h"
#include "sennit.h"

#include <atomic>
#include <mpi.h>

namespace sennit::mpi {

// SENNIT_COLLECTIVES: a decision of the whole job, taken in MPI_Init.
class Collectives {
  public:
    // MPI is initialized: what SENNIT_COLLECTIVES asks for.
    void choose();
    bool all_nonblocking() const { return all_nonblocking_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> all_nonblocking_{false};
};

// How a collective call of the calling thread is made. MPI does not match a blocking collective
// with a non-blocking one, so all ranks have to decide alike: by where the call stands in the
// program, not by how far this rank's tasks have come, nor by whether it ever had any. In an
// explicit task and in a callback it is the non-blocking form, everywhere else the blocking one.
// With SENNIT_COLLECTIVES=nonblocking, which is every rank's, it is always the non-blocking one.
// So it is where ranks outnumber cores, on communicators within the job.
enum class CollectiveForm : unsigned char { blocking, nonblocking };
struct CollectivePath {
    CollectiveForm form;
    Path path; // if it blocks in a non-blocking form: in the wait for that
};
// `has_twin`: may the non-blocking form be used in its place? Alike on all ranks, too.
// `crowded`: crowds(comm), see crowd/rings.h.
CollectivePath path_of_collective(bool has_twin, bool crowded);

// One for each MPI library in the process.
struct Wrap {
    Users users;
    Collectives collectives;
    Answers answers;
#ifdef MPICH_NUMVERSION
    FileQueue files;
#endif
};

#pragma GCC visibility push(hidden)
extern constinit Wrap g_wrap;
#pragma GCC visibility pop

// For the call that asks for a request and, in MPICH, does nothing for it.
inline void visit_files() {
#ifdef MPICH_NUMVERSION
    if (!g_wrap.files.empty() && !inside_mpi()) [[unlikely]]
        g_wrap.files.work();
#endif
}

// Answers the runtime's questions about waits and tickets, for reports of hangs.
extern const sennit_describer kDescriber;

// Processes that are not of the job. Those that a program under Sennit spawns are under Sennit,
// too. The launcher starts them with an environment of its own. So they are started through env(1),
// with what Sennit needs of ours.

// MPI_Comm_spawn and MPI_Comm_spawn_multiple.
int spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *intercomm, int errcodes[]);
int spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                   const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm,
                   int errcodes[]);

// The other ways to come by processes that are not of the job.
int accept_others(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *other);
int connect_others(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *other);
int join_others(int socket, MPI_Comm *other);

} // namespace sennit::mpi

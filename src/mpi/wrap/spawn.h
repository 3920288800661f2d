// SPDX-License-Identifier: Apache-2.0
// Processes that are not of the job. Those that a program under Sennit spawns are under Sennit,
// too. The launcher starts them with an environment of its own. So they are started through env(1),
// with what Sennit needs of ours.
#pragma once

#include <mpi.h>

namespace sennit::mpi {

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

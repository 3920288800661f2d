/* SPDX-License-Identifier: Apache-2.0
 *
 * The versions of the paper on task-aware MPI (Sala et al., section 7.1), one that uses MPI detach
 * (Protze et al.), and what each of them needs.
 */
#include "gauss_seidel.h"
#include "tampi.h"

static const struct version versions[] = {
    {{"pure", "MPI only: whole rows, a rank a core"},
     MPI_THREAD_SINGLE,
     false,
     blocking,
     solve_pure},
    {{"nbuffer", "MPI only: blocks of columns, sent as soon as they are done"},
     MPI_THREAD_SINGLE,
     false,
     blocking,
     solve_nbuffer},
    {{"forkjoin", "edges are exchanged; then a task for each block; then all are waited for"},
     MPI_THREAD_SERIALIZED,
     false,
     blocking,
     solve_forkjoin},
    {{"sentinel", "tasks call MPI_Send and MPI_Recv, one after the other"},
     MPI_THREAD_SERIALIZED,
     false,
     blocking,
     solve_tasks},
    {{"interop-blk", "the same without that order, by MPI_TASK_MULTIPLE"},
     MPI_THREAD_SERIALIZED,
     true,
     blocking,
     solve_tasks},
    {{"interop-nonblk", "tasks call MPI_Isend, MPI_Irecv and TAMPI_Iwait"},
     MPI_THREAD_SERIALIZED,
     true,
     bound,
     solve_tasks},
    {{"detach", "tasks with an event, which MPIX_Detach fulfils"},
     MPI_THREAD_MULTIPLE,
     false,
     detached,
     solve_tasks},
#ifdef WITH_FORTRAN
    {{"pure-fortran", "pure, in Fortran"}, MPI_THREAD_SINGLE, false, blocking, solve_pure_fortran},
    {{"interop-blk-fortran", "interop-blk, in Fortran"},
     MPI_THREAD_SERIALIZED,
     true,
     blocking,
     solve_tasks_fortran},
#endif
};
enum { size = sizeof *versions, count = sizeof versions / size };

const struct version *find_version(const char *name) {
    return find_label(versions, count, size, name);
}

void print_versions(void) {
    print_labels(versions, count, size, 20);
}

int level_to_ask(const struct version *version) {
    return version->task_multiple ? task_level_to_ask() : version->level;
}

int check_version(const struct version *version, int provided, int rank,
                  struct exchange *exchange) {
    *exchange = (struct exchange){version->way, version->way == detached ? 0 : 1};
    if (provided < version->level) {
        say(rank, "--version %s: this MPI does not provide the level of threads that it needs",
            version->label.name);
        return not_here;
    }
    if (version->way == detached && !can_detach()) {
        say(rank, "--version %s needs MPIX_Detach: start the program with 'sennit run'",
            version->label.name);
        return not_here;
    }
    /* The paper's figure 6: where the level is not provided, the sentinel is. */
    if (version->task_multiple) {
        const bool interoperable =
            provided >= task_multiple_level && (version->way != bound || can_bind());
        exchange->sentinels = !interoperable;
        if (!interoperable) {
            exchange->way = blocking;
            say(rank, "--version %s: no MPI_TASK_MULTIPLE here, so it runs as sentinel",
                version->label.name);
        }
    }
    return 0;
}

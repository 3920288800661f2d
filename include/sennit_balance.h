/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that move between the ranks of an MPI program, so that all ranks have about the same work
 * (paper: Integrating OpenMP into the Charm++ Programming Model, sections 2 and 3).
 *
 * A program divides its work into many more objects than ranks: blocks of a mesh, patches, groups
 * of particles. Each object has a number, is on one rank, and has data there. The program says when
 * it works on which object; the library measures. Now and then all ranks call sennit_balance(). It
 * decides where each object should be, and moves the data. Messages between objects are addressed
 * to objects, so nobody has to know where they are.
 *
 *     sennit_objects *blocks;
 *     sennit_objects_create(MPI_COMM_WORLD, 64, &type, &blocks);
 *     for (int i = first; i < last; ++i)
 *         sennit_objects_add(blocks, i, new_block(i));
 *     sennit_objects_commit(blocks);
 *     for (int step = 0; step < steps; ++step) {
 *         const int *mine;
 *         int count = sennit_objects_local(blocks, &mine);
 *         for (int i = 0; i < count; ++i) {
 *             sennit_object_begin(blocks, mine[i]);
 *             work(sennit_object_data(blocks, mine[i]));
 *             sennit_object_end(blocks, mine[i]);
 *         }
 *         if (step % 50 == 49)
 *             sennit_balance(blocks, NULL);
 *     }
 *
 * Link with -lsennit-balance-mpich or -lsennit-balance-openmpi (docs/user/objects.md). It needs MPI
 * only: it works under any OpenMP runtime, and without one. Under Sennit, the tasks that a task
 * creates while it works on an object, and the threads of its regions, work on that object, too;
 * and a task that waits in sennit_object_recv() is suspended. The time in which a task waits is not
 * counted as work.
 *
 * Functions that return int return MPI_SUCCESS or a class of MPI errors; one line on stderr says
 * what is wrong. "Collective": all ranks of the communicator call it, in the same order. All others
 * may be called by several threads at once, as far as MPI may be (MPI_THREAD_MULTIPLE for
 * messages), but not while a collective one runs. C++: the functions throw nothing, and callbacks
 * must not.
 */
#ifndef SENNIT_BALANCE_H
#define SENNIT_BALANCE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sennit_objects sennit_objects;

/* What the program does with an object's data. `argument` is the one below. Called by the thread
 * that calls sennit_balance() (destroy: and sennit_objects_free()). */
typedef struct sennit_object_type {
    /* Bytes that pack() is going to write. */
    size_t (*size)(int object, const void *data, void *argument);
    /* Write the object to `buffer`. Not 0: it failed; the object stays where it is. The data are
     * still needed: destroy() follows when the object has arrived. */
    int (*pack)(int object, const void *data, void *buffer, void *argument);
    /* New data, on the new rank, from what pack() wrote. Null: it failed; the object stays. */
    void *(*unpack)(int object, const void *buffer, size_t bytes, void *argument);
    /* The object is on another rank now, or the set is freed. May be null. */
    void (*destroy)(int object, void *data, void *argument);
    void *argument;
} sennit_object_type;

/* For an object that is one range of memory from malloc(): with sennit_objects_add_memory(). */
#define SENNIT_OBJECT_MEMORY ((const sennit_object_type *)0)

/* Collective. A set of `count` objects, 0 to count - 1, on the ranks of `comm`. */
int sennit_objects_create(MPI_Comm comm, int count, const sennit_object_type *type,
                          sennit_objects **set);
/* The object is on this rank, with these data. Before sennit_objects_commit(). */
int sennit_objects_add(sennit_objects *set, int object, void *data);
/* The same; the data are `bytes` bytes from malloc(), which the library frees when the object
 * leaves. */
int sennit_objects_add_memory(sennit_objects *set, int object, void *memory, size_t bytes);
/* Where the object is in space, in any unit (dimensions that there are not: 0). For strategies that
 * look at it. On the rank that adds it, before sennit_objects_commit(). */
int sennit_objects_position(sennit_objects *set, int object, double x, double y, double z);
/* Collective. Each object must have been added once, on one rank; else MPI_ERR_ARG on all ranks. */
int sennit_objects_commit(sennit_objects *set);
/* Collective. Destroys what is on this rank, and messages that nobody received. *set: null. */
int sennit_objects_free(sennit_objects **set);

/* The objects on this rank, ascending; valid until the next sennit_balance(). Returns their number.
 */
int sennit_objects_local(const sennit_objects *set, const int **objects);
/* The rank (of the set's communicator) where it is. -1: there is no such object. */
int sennit_object_rank(const sennit_objects *set, int object);
/* Its data; null on other ranks. */
void *sennit_object_data(const sennit_objects *set, int object);

/* The calling thread, or task, works on the object from here to there. Several threads may work on
 * one object. May be nested: the inner object's time is not the outer one's. Under Sennit, what the
 * task creates in between works on the object, too, also after the end: tasks and regions. */
int sennit_object_begin(sennit_objects *set, int object);
int sennit_object_end(sennit_objects *set, int object);
/* So many seconds more of work, for programs that know better. */
int sennit_object_load(sennit_objects *set, int object, double seconds);
/* An object of this rank has told another one so many bytes more, or was told them, in another way
 * than by sennit_object_send(), which counts by itself. For strategies that look at it
 * (greedycomm, refinecomm, hierarchicalcomm, and follow if objects have no positions). Under
 * `sennit run` messages of MPI count by themselves (docs/user/objects.md); between two objects that
 * this is called for they do not, since the last sennit_balance(). */
int sennit_object_traffic(sennit_objects *set, int object, int other, size_t bytes);
/* How fast this rank is: cores that execute its objects (default 1). */
int sennit_objects_speed(sennit_objects *set, double speed);

/* From an object of this rank to any object. The bytes are copied: it does not wait for the
 * receiver. `tag`: not negative. Messages with the same two objects and tag do not overtake each
 * other, also when objects move meanwhile. */
int sennit_object_send(sennit_objects *set, int from, int to, int tag, const void *buffer,
                       size_t bytes);
#define SENNIT_ANY (-1)
typedef struct sennit_object_status {
    int from;
    int tag;
    size_t bytes;
} sennit_object_status;
/* The next message to `to`, an object of this rank, `from` that object (or SENNIT_ANY) with that
 * tag (or SENNIT_ANY). Waits for it. Longer than `bytes`: MPI_ERR_TRUNCATE, and the message is
 * lost. `status` may be null. */
int sennit_object_recv(sennit_objects *set, int to, int from, int tag, void *buffer, size_t bytes,
                       sennit_object_status *status);

typedef struct sennit_balance_info {
    double imbalance;      /* max / mean - 1 of the ranks' loads since the last call */
    double node_imbalance; /* the same of the nodes */
    double promised;       /* what the strategy's answer would have made of `imbalance` */
    int64_t moved;         /* objects, of all ranks */
    int64_t bytes;         /* of them */
    int64_t failed;        /* objects that had to stay: pack() or unpack() failed */
    int declined;          /* not 0: it would have cost more than it gains */
    double seconds;        /* of this call */
} sennit_balance_info;
/* Collective. Measures, decides, moves; new measurements begin. No thread may be in another call of
 * this set. What messages are under way moves with their objects. If an object's pack() or unpack()
 * fails: MPI_ERR_OTHER on all ranks; the object stays, all else is done. `info` may be null; it is
 * the same on all ranks. */
int sennit_balance(sennit_objects *set, sennit_balance_info *info);
/* Collective in effect: all ranks must choose alike. One of the names in docs/user/objects.md; the
 * default is SENNIT_BALANCE, or "greedy". Unknown: MPI_ERR_ARG, and the old one stays. */
int sennit_balance_strategy(sennit_objects *set, const char *name);

#ifdef __cplusplus
}
#endif

#endif

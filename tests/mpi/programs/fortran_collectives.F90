! SPDX-License-Identifier: Apache-2.0
! fortran_calls:
! test_fortran: shape=2x1|2x2|4x1 # one rank alone: Open MPI 4.1 refuses Alltoallw's types
! split: called=fortran_collectives3
! in_world: called={program}{binding} binding=1|2|3 exe={bin}/{called}-gcc-{mpi} if=mpifc
! fortran_calls: called=fortran_persistent if="mpi == 'mpich'"
!     compile='{fortran} {untyped} {mpi_4} -DPERSISTENT'
! test_fortran: called=fortran_persistent{binding} shape=1x1|2x1|2x2 # as neighbors.c
! Every collective call on data inside tasks, blocking or (with PERSISTENT) initialized and started.
#include "fortran_cases.inc"
#if defined PERSISTENT
#define COLLECTIVE(name) call MPI_/**/name/**/_init(
#define ON(comm) , comm, MPI_INFO_NULL, request, error); call run(request)
#else
#define COLLECTIVE(name) call MPI_/**/name(
#define ON(comm) , comm, error)
#endif

module collectives
    use cases
    implicit none

contains

    subroutine run(request)
        HANDLE(Request), intent(inout) :: request
        integer :: error
        call MPI_Start(request, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        call MPI_Request_free(request, error)
    end subroutine

    ! Rank r has 10 r + 1 for rank 0, 10 r + 2 for rank 1, ...
    subroutine rooted(comm)
        HANDLE(Comm), intent(in) :: comm
        integer :: error, i, root, counts(ranks), places(ranks)
        integer, asynchronous :: out(ranks), in(ranks), one(1)
#if defined PERSISTENT
        HANDLE(Request) :: request
#endif
        root = ranks - 1
        counts = 1
        places = [(ranks - i, i = 1, ranks)] ! from the back
        one = merge(5, -1, rank == root)
        COLLECTIVE(Bcast) one, 1, MPI_INTEGER, root ON(comm)
        call check(one(1) == 5, 'Bcast')
        out = [(10 * rank + i, i = 1, ranks)]
        in = -1
        COLLECTIVE(Gather) out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, root ON(comm)
        if (rank == root) call check(all(in == [(10 * (i - 1) + 1, i = 1, ranks)]), 'Gather')
        in = -1
        COLLECTIVE(Gatherv) out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, root ON(comm)
        if (rank == root) call check(all(in == [(10 * (ranks - i) + 1, i = 1, ranks)]), 'Gatherv')
        one = -1
        COLLECTIVE(Scatter) out, 1, MPI_INTEGER, one, 1, MPI_INTEGER, root ON(comm)
        call check(one(1) == 10 * root + rank + 1, 'Scatter')
        one = -1
        COLLECTIVE(Scatterv) out, counts, places, MPI_INTEGER, one, 1, MPI_INTEGER, root ON(comm)
        call check(one(1) == 10 * root + ranks - rank, 'Scatterv')
        one = -1
        COLLECTIVE(Reduce) [rank + 1], one, 1, MPI_INTEGER, MPI_SUM, root ON(comm)
        if (rank == root) call check(one(1) == ranks * (ranks + 1) / 2, 'Reduce')
    end subroutine

    subroutine everywhere(comm)
        HANDLE(Comm), intent(in) :: comm
        integer :: error, i, counts(ranks), places(ranks), bytes(ranks)
        integer, asynchronous :: out(ranks), in(ranks), one(1)
        HANDLE(Datatype) :: types(ranks)
#if defined PERSISTENT
        HANDLE(Request) :: request
#endif
        counts = 1
        places = [(ranks - i, i = 1, ranks)]
        bytes = 4 * places
        types = MPI_INTEGER
        COLLECTIVE(Barrier) comm &
#if defined PERSISTENT
            , MPI_INFO_NULL, request, error)
        call run(request)
#else
            , error)
#endif
        one = 10 * rank + 1
        in = -1
        COLLECTIVE(Allgather) one, 1, MPI_INTEGER, in, 1, MPI_INTEGER ON(comm)
        call check(all(in == [(10 * (i - 1) + 1, i = 1, ranks)]), 'Allgather')
        in = -1
        COLLECTIVE(Allgatherv) one, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER ON(comm)
        call check(all(in == [(10 * (ranks - i) + 1, i = 1, ranks)]), 'Allgatherv')
        out = [(10 * rank + i, i = 1, ranks)]
        in = -1
        COLLECTIVE(Alltoall) out, 1, MPI_INTEGER, in, 1, MPI_INTEGER ON(comm)
        call check(all(in == [(10 * (i - 1) + rank + 1, i = 1, ranks)]), 'Alltoall')
        in = -1
        COLLECTIVE(Alltoallv) out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER ON(comm)
        call check(all(in == [(10 * (ranks - i) + ranks - rank, i = 1, ranks)]), 'Alltoallv')
        in = -1
        COLLECTIVE(Alltoallw) out, counts, bytes, types, in, counts, bytes, types ON(comm)
        call check(all(in == [(10 * (ranks - i) + ranks - rank, i = 1, ranks)]), 'Alltoallw')
        COLLECTIVE(Allreduce) [rank], one, 1, MPI_INTEGER, MPI_SUM ON(comm)
        call check(one(1) == ranks * (ranks - 1) / 2, 'Allreduce')
        COLLECTIVE(Reduce_scatter) out, one, counts, MPI_INTEGER, MPI_SUM ON(comm)
        call check(one(1) == 10 * (ranks * (ranks - 1) / 2) + ranks * (rank + 1), 'Reduce_scatter')
        one = -1
        COLLECTIVE(Reduce_scatter_block) out, one, 1, MPI_INTEGER, MPI_SUM ON(comm)
        call check(one(1) == 10 * (ranks * (ranks - 1) / 2) + ranks * (rank + 1), 'Reduce_scatter_block')
        COLLECTIVE(Scan) [rank + 1], one, 1, MPI_INTEGER, MPI_SUM ON(comm)
        call check(one(1) == (rank + 1) * (rank + 2) / 2, 'Scan')
        one = -1
        COLLECTIVE(Exscan) [rank + 1], one, 1, MPI_INTEGER, MPI_SUM ON(comm)
        if (rank > 0) call check(one(1) == rank * (rank + 1) / 2, 'Exscan')
    end subroutine

    ! On a ring, where the neighbours are the previous rank and the next.
    subroutine neighbours(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Comm) :: ring
        integer :: error, counts(2), places(2)
        integer, asynchronous :: out(2), in(2)
        integer(MPI_ADDRESS_KIND) :: bytes(2)
        HANDLE(Datatype) :: types(2)
#if defined PERSISTENT
        HANDLE(Request) :: request
#endif
        ! Not a Cartesian one: mpi_f08 of MPICH 4.0 cannot do with those.
        call MPI_Dist_graph_create_adjacent(comm, 2, [previous, next], [1, 1], 2, [previous, next], [1, 1], &
                                            MPI_INFO_NULL, .false., ring, error)
        counts = 1
        places = [0, 1]
        bytes = [0, 4]
        types = MPI_INTEGER
        out = [10 * rank, 10 * rank + 1]
        in = -1
        COLLECTIVE(Neighbor_allgather) out, 1, MPI_INTEGER, in, 1, MPI_INTEGER ON(ring)
        call check(all(in == [10 * previous, 10 * next]), 'Neighbor_allgather')
        in = -1
        COLLECTIVE(Neighbor_allgatherv) out, 1, MPI_INTEGER, in, counts, places, MPI_INTEGER ON(ring)
        call check(all(in == [10 * previous, 10 * next]), 'Neighbor_allgatherv')
        in = -1
        COLLECTIVE(Neighbor_alltoall) out, 1, MPI_INTEGER, in, 1, MPI_INTEGER ON(ring)
        call exchanged('Neighbor_alltoall')
        COLLECTIVE(Neighbor_alltoallv) out, counts, places, MPI_INTEGER, in, counts, places, MPI_INTEGER ON(ring)
        call exchanged('Neighbor_alltoallv')
        COLLECTIVE(Neighbor_alltoallw) out, counts, bytes, types, in, counts, bytes, types ON(ring)
        call exchanged('Neighbor_alltoallw')
        call MPI_Comm_free(ring, error)

    contains

        ! Of two ranks, each is the other's previous and next: MPI leaves open which message is which.
        subroutine exchanged(name)
            character(*), intent(in) :: name
            if (ranks > 2) then
                call check(all(in == [10 * previous + 1, 10 * next]), name)
            else
                call check(sum(in) == 20 * next + 1, name)
            end if
            in = -1
        end subroutine
    end subroutine
end module

program fortran_collectives
    use collectives
    implicit none
    call begin()
    !$omp parallel
    !$omp single
    call on_both(rooted)
    call on_both(everywhere)
    call on_both(neighbours)
    !$omp end single
    !$omp end parallel
    call finish()
end program

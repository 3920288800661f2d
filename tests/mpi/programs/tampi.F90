! SPDX-License-Identifier: Apache-2.0
! fortran: called=tampi_fortran compile='{fortran} {untyped}' -I{include} -- {library} # TAMPI's
!     calls have no interfaces, as MPI's in mpif.h: a buffer is of any type
! test_fortran: called=tampi_fortran{binding} shape=1x1|2x1|2x2
! split: called=tampi_fortran3
! in_world: called=tampi_fortran3 exe={bin}/{called}-gcc-{mpi} if=mpifc
! fortran: called=tampi3_fortran compile='{fortran} {untyped} -DREQUESTS' -I{include}/tampi3 -- {library}
! test_fortran: called=tampi3_fortran{binding} shape=2x2
! TAMPI's calls from Fortran, by each of the three bindings: BINDING is 1 (mpif.h), 2 (use mpi) or 3
! (use mpi_f08). A task that depends on the call's results checks them. With REQUESTS, the calls are
! those of TAMPI 1 to 3, which have a request.
#ifdef REQUESTS
#include "TAMPIf.h"
#define AT(x) HANDLE(requests(x)),
#else
#define AT(x)
#endif
#if BINDING == 3
#define HANDLE(x) x%MPI_VAL
#else
#define HANDLE(x) x
#endif
#define WORLD HANDLE(MPI_COMM_WORLD)
#define INT HANDLE(MPI_INTEGER)
#define ADD HANDLE(MPI_SUM)
program tampi
#if BINDING == 3
    use mpi_f08
#elif BINDING == 2
    use mpi
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
#ifndef REQUESTS
    include 'TAMPIf.h'
#elif BINDING == 3
    type(MPI_Request) :: requests(80)
#else
    integer :: requests(80)
#endif
    integer, parameter :: messages = 40, most = 8, kinds = 18
    integer :: provided, error, rank, ranks, i, before, after, length
    integer :: got(messages), sent(messages), statuses(MPI_STATUS_SIZE, messages)
    integer :: mine, results(most, kinds), ones(most), offsets(most), bytes(most), types(most), twice(most)
    character :: buffer(100000)

    call MPI_Init_thread(MPI_TASK_MULTIPLE, provided, error)
    if (provided /= MPI_TASK_MULTIPLE) call fail('the thread level')
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    before = mod(rank + ranks - 1, ranks)
    after = mod(rank + 1, ranks)
    length = size(buffer)
    call MPI_Buffer_attach(buffer, length, error)
    got = -1
    !$omp parallel
    !$omp single
    do i = 1, messages
        !$omp task firstprivate(i) private(error) shared(got, statuses) depend(out: got(i))
        if (mod(i, 2) == 0) then
            call TAMPI_Irecv(got(i), 1, INT, before, i, WORLD, AT(i) statuses(1, i), error)
        else
            call TAMPI_Irecv(got(i), 1, INT, before, i, WORLD, AT(i) MPI_STATUS_IGNORE, error)
        end if
        !$omp end task
        !$omp task firstprivate(i) shared(got, statuses) depend(in: got(i))
        if (got(i) /= 100 * before + i) call fail('a received value')
        if (mod(i, 2) == 0) then
            if (statuses(MPI_TAG, i) /= i .or. statuses(MPI_SOURCE, i) /= before) call fail('a status')
        end if
        !$omp end task
    end do
    do i = messages, 1, -1
        sent(i) = 100 * rank + i
        !$omp task firstprivate(i) private(error) shared(sent) depend(out: sent(i))
        select case (mod(i, 3))
        case (0)
            call TAMPI_Isend(sent(i), 1, INT, after, i, WORLD, AT(messages + i) error)
        case (1)
            call TAMPI_Issend(sent(i), 1, INT, after, i, WORLD, AT(messages + i) error)
        case default
            call TAMPI_Ibsend(sent(i), 1, INT, after, i, WORLD, AT(messages + i) error)
        end select
        !$omp end task
        !$omp task firstprivate(i) shared(sent) depend(inout: sent(i))
        sent(i) = 0
        !$omp end task
    end do
#ifdef REQUESTS
    call TAMPI_Wait(HANDLE(requests(1)), MPI_STATUS_IGNORE, error)
    if (error /= MPI_SUCCESS) call fail('a wait')
    call TAMPI_Waitall(2 * messages, HANDLE(requests), MPI_STATUSES_IGNORE, error)
    if (error /= MPI_SUCCESS) call fail('a wait for all')
#endif
    !$omp taskwait
    mine = rank + 1
    ones = 1
    offsets = [(i - 1, i = 1, most)]
    bytes = [(4 * (i - 1), i = 1, most)]
    types = INT
    twice = [(10 * rank + i - 1, i = 1, most)]
    results = -1
    do i = 1, kinds ! in one order on one communicator
        !$omp task firstprivate(i) shared(results) depend(out: results(1, i)) depend(inout: mine)
        call start(i, results(:, i))
        !$omp end task
        !$omp task firstprivate(i) shared(results) depend(in: results(1, i))
        call check(i, results(:, i))
        !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call MPI_Finalize(error)

contains

    subroutine start(which, all)
        integer, intent(in) :: which
        integer, intent(inout), target :: all(most)
        integer :: error
        error = -1
        select case (which)
        case (1)
            call TAMPI_Ibarrier(WORLD, AT(which) error)
        case (2)
            if (rank == 0) all(1) = 42
            call TAMPI_Ibcast(all, 1, INT, 0, WORLD, AT(which) error)
        case (3)
            call TAMPI_Igather(mine, 1, INT, all, 1, INT, 0, WORLD, AT(which) error)
        case (4)
            call TAMPI_Igatherv(mine, 1, INT, all, ones, offsets, INT, 0, WORLD, AT(which) error)
        case (5)
            call TAMPI_Iscatter(twice, 1, INT, all, 1, INT, 0, WORLD, AT(which) error)
        case (6)
            call TAMPI_Iscatterv(twice, ones, offsets, INT, all, 1, INT, 0, WORLD, AT(which) error)
        case (7)
            call TAMPI_Iallgather(mine, 1, INT, all, 1, INT, WORLD, AT(which) error)
        case (8)
            call TAMPI_Iallgatherv(mine, 1, INT, all, ones, offsets, INT, WORLD, AT(which) error)
        case (9)
            call TAMPI_Ialltoall(twice, 1, INT, all, 1, INT, WORLD, AT(which) error)
        case (10)
            call TAMPI_Ialltoallv(twice, ones, offsets, INT, all, ones, offsets, INT, WORLD, AT(which) error)
        case (11)
            call TAMPI_Ialltoallw(twice, ones, bytes, types, all, ones, bytes, types, WORLD, AT(which) error)
        case (12)
            call TAMPI_Ireduce(mine, all, 1, INT, ADD, 0, WORLD, AT(which) error)
        case (13)
            call TAMPI_Iallreduce(mine, all, 1, INT, ADD, WORLD, AT(which) error)
        case (14)
            call TAMPI_Ireduce_scatter(twice, all, ones, INT, ADD, WORLD, AT(which) error)
        case (15)
            call TAMPI_Ireduce_scatter_block(twice, all, 1, INT, ADD, WORLD, AT(which) error)
        case (16)
            call TAMPI_Iscan(mine, all, 1, INT, ADD, WORLD, AT(which) error)
        case (17)
            call TAMPI_Iexscan(mine, all, 1, INT, ADD, WORLD, AT(which) error)
        case (18) ! in place
            all(1) = mine
            call TAMPI_Iallreduce(MPI_IN_PLACE, all, 1, INT, ADD, WORLD, AT(which) error)
        end select
        if (error /= MPI_SUCCESS) call fail('an error code')
    end subroutine

    subroutine check(which, all)
        integer, intent(in) :: which, all(most)
        integer :: total, i
        logical :: right
        total = ranks * (ranks + 1) / 2
        right = .true.
        select case (which)
        case (2)
            right = all(1) == 42
        case (3, 4)
            if (rank == 0) right = same(all(1:ranks), [(i, i = 1, ranks)])
        case (5, 6)
            right = all(1) == rank
        case (7, 8)
            right = same(all(1:ranks), [(i, i = 1, ranks)])
        case (9, 10, 11)
            right = same(all(1:ranks), [(10 * (i - 1) + rank, i = 1, ranks)])
        case (12)
            if (rank == 0) right = all(1) == total
        case (13, 18)
            right = all(1) == total
        case (14, 15)
            right = all(1) == 10 * ranks * (ranks - 1) / 2 + ranks * rank
        case (16)
            right = all(1) == (rank + 1) * (rank + 2) / 2
        case (17)
            if (rank > 0) right = all(1) == rank * (rank + 1) / 2
        end select
        if (.not. right) then
            print *, 'collective', which, ':', all
            call fail('a collective')
        end if
    end subroutine

    logical function same(some, others)
        integer, intent(in) :: some(:), others(:)
        same = count(some /= others) == 0
    end function

    subroutine fail(what)
        character(*), intent(in) :: what
        integer :: error
        print *, 'rank', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine
end program

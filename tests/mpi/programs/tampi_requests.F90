! SPDX-License-Identifier: Apache-2.0
! fortran: called=tampi_requests_fortran binding=1 compile='{fortran} {untyped}' -I{include}/tampi3 -- {library}
! test_fortran: called=tampi_requests_fortran1 binding=1 shape=2x2
! fortran: called=tampi_requests_plain binding=1 compile='{mpifc} -O1 -g {untyped}' -I{include}/tampi3
! test_fortran: called=tampi_requests_plain1 binding=1 shape=2x2
! A program for TAMPI 1 to 3, as its own header has it made: in tasks its calls bind what they start,
! and TAMPI_Wait and TAMPI_Waitall do nothing. Built without OpenMP, the same program is one of plain
! MPI, and needs no library of Sennit's.
#include "TAMPIf.h"

program requests_of_tampi
    implicit none
    include 'mpif.h'
    integer, parameter :: messages = 40
    integer :: provided, error, rank, ranks, i, before, after, sum, seen
    integer :: got(messages), sent(messages), requests(2 * messages + 1)
    integer :: statuses(MPI_STATUS_SIZE, 2 * messages)

#ifdef _OPENMP
    call MPI_Init_thread(MPI_TASK_MULTIPLE, provided, error)
    if (provided /= MPI_TASK_MULTIPLE) call fail('the thread level')
#else
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, error)
#endif
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    before = mod(rank + ranks - 1, ranks)
    after = mod(rank + 1, ranks)
    got = -1
    seen = 0
    !$omp parallel
    !$omp single
    do i = 1, messages
        !$omp task firstprivate(i) private(error) depend(out: got(i))
        call TAMPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, requests(i), statuses(1, i), error)
        if (error /= MPI_SUCCESS) call fail('a receive')
        !$omp end task
        !$omp task firstprivate(i) private(error) depend(out: sent(i))
        sent(i) = 100 * rank + i
        if (mod(i, 2) == 0) then
            call TAMPI_Isend(sent(i), 1, MPI_INTEGER, after, i, MPI_COMM_WORLD, requests(messages + i), error)
        else
            call TAMPI_ISSEND(sent(i), 1, MPI_INTEGER, after, i, MPI_COMM_WORLD, requests(messages + i), error)
        end if
        if (error /= MPI_SUCCESS) call fail('a send')
        !$omp end task
    end do
    call TAMPI_Waitall(2 * messages, requests, statuses, error)
    if (error /= MPI_SUCCESS) call fail('a wait for all')
    do i = 1, messages
        !$omp task firstprivate(i) depend(in: got(i)) depend(inout: seen)
        if (got(i) /= 100 * before + i) call fail('a received value')
        if (statuses(MPI_TAG, i) /= i .or. statuses(MPI_SOURCE, i) /= before) call fail('a status')
        seen = seen + 1
        !$omp end task
    end do
    !$omp task private(error) depend(out: sum)
    call tampi_iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(2 * messages + 1), error)
    if (error /= MPI_SUCCESS) call fail('a reduction')
    !$omp end task
    call TAMPI_Wait(requests(2 * messages + 1), MPI_STATUS_IGNORE, error)
    if (error /= MPI_SUCCESS) call fail('a wait')
    !$omp task depend(in: sum) depend(inout: seen)
    if (sum /= ranks * (ranks - 1) / 2) call fail('a sum')
    seen = seen + 1
    !$omp end task
    !$omp end single
    !$omp end parallel
    if (seen /= messages + 1) call fail('the number of checks')
    call MPI_Finalize(error)

contains

    subroutine fail(what)
        character(*), intent(in) :: what
        integer :: error
        print *, 'rank', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine
end program

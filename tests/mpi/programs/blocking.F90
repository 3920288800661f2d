! SPDX-License-Identifier: Apache-2.0
! fortran: called=fortran
! test_fortran: called=fortran{binding} shape=1x1|2x1|2x2
! split: called=fortran3
! Blocking calls inside tasks from Fortran, by each of the three bindings: BINDING is 1 (mpif.h),
! 2 (use mpi) or 3 (use mpi_f08). More blocked tasks than threads, receives first.
program blocking
#if BINDING == 3
    use mpi_f08
#elif BINDING == 2
    use mpi
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    integer, parameter :: messages = 60
    integer :: provided, error, rank, ranks, i, total, got(messages)

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    got = -1
    !$omp parallel
    !$omp single
    do i = 1, messages
        !$omp task firstprivate(i) shared(got)
        call receive(i, got(i))
        !$omp end task
    end do
    do i = messages, 1, -1
        !$omp task firstprivate(i)
        call MPI_Ssend([100 * rank + i], 1, MPI_INTEGER, mod(rank + 1, ranks), i, MPI_COMM_WORLD, error)
        !$omp end task
    end do
    !$omp taskwait
    !$omp task shared(total)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    !$omp end task
    !$omp end single
    !$omp end parallel
    do i = 1, messages
        if (got(i) /= 100 * mod(rank + ranks - 1, ranks) + i) call fail('a received value')
    end do
    if (total /= ranks * (ranks - 1) / 2) call fail('the sum')
    call MPI_Finalize(error)

contains

    subroutine receive(tag, value)
        integer, intent(in) :: tag
        integer, intent(out) :: value
        integer :: error, source
#if BINDING == 3
        type(MPI_Status) :: status
        type(MPI_Request) :: request
#else
        integer :: status(MPI_STATUS_SIZE), request
#endif
        source = mod(rank + ranks - 1, ranks)
        if (mod(tag, 2) == 0) then
            call MPI_Recv(value, 1, MPI_INTEGER, source, tag, MPI_COMM_WORLD, status, error)
        else
            call MPI_Irecv(value, 1, MPI_INTEGER, source, tag, MPI_COMM_WORLD, request, error)
            call MPI_Wait(request, status, error)
        end if
#if BINDING == 3
        if (status%MPI_TAG /= tag .or. status%MPI_SOURCE /= source) call fail('a status')
#else
        if (status(MPI_TAG) /= tag .or. status(MPI_SOURCE) /= source) call fail('a status')
#endif
    end subroutine

    subroutine fail(what)
        character(*), intent(in) :: what
        integer :: error
        print *, 'rank', rank, ': wrong: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine
end program

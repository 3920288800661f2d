! SPDX-License-Identifier: Apache-2.0
! For the Fortran programs that call every row of the table of calls inside tasks: one source for the
! three bindings (BINDING is 1 for mpif.h, 2 for use mpi, 3 for use mpi_f08), which differ in the types
! of handles.
#if BINDING == 3
#define HANDLE(kind) type(MPI_/**/kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define TAG_OF(status) status%MPI_TAG
#define SOURCE_OF(status) status%MPI_SOURCE
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define TAG_OF(status) status(MPI_TAG)
#define SOURCE_OF(status) status(MPI_SOURCE)
#endif
module cases
#if BINDING == 3
    use mpi_f08
#elif BINDING == 2
    use mpi
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    integer :: rank, ranks, next, previous
    HANDLE(Comm) :: comms(2)
    HANDLE(Info) :: hints ! none, for calls that want an object

    abstract interface
        subroutine case_on(comm)
            import
            HANDLE(Comm), intent(in) :: comm
        end subroutine
    end interface

contains

    subroutine begin()
        integer :: provided, error, i
#if defined PLAIN_INIT
        call MPI_Init(error)
#else
        call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
#endif
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
        next = mod(rank + 1, ranks)
        previous = mod(rank + ranks - 1, ranks)
        call MPI_Info_create(hints, error)
        do i = 1, 2
            call MPI_Comm_dup(MPI_COMM_WORLD, comms(i), error)
        end do
    end subroutine

    subroutine finish()
        integer :: error, i
        do i = 1, 2
            call MPI_Comm_free(comms(i), error)
        end do
        call MPI_Info_free(hints, error)
        call MPI_Finalize(error)
    end subroutine

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        integer :: error
        if (holds) return
        print *, 'rank', rank, ': does not hold: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine

    ! A task for each of the two communicators, on odd ranks in the other order: with one thread they
    ! would wait for each other for ever, were they not suspended.
    subroutine on_both(work)
        procedure(case_on) :: work
        integer :: i, k
        do i = 1, 2
            k = merge(i, 3 - i, mod(rank, 2) == 0)
            !$omp task firstprivate(k)
            call work(comms(k))
            !$omp end task
        end do
        !$omp taskwait
    end subroutine
end module

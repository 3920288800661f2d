! SPDX-License-Identifier: Apache-2.0
! mpif: -fopenmp -- {fortran_flags} -Wl,-z,execstack # their code is on the stack; else Debian 13's linker
!     makes a program that cannot run, bare either
! test: shape=2x1|2x2
! Internal procedures passed as arguments in tasks that are suspended in MPI. Compilers call them through
! code on the host's stack, which is that of a fiber. Each host waits for a message, then calls a procedure
! that sees its variables and waits for another one, and then itself. mpif.h is for every compiler.
module hosts
    implicit none
    include 'mpif.h'
    abstract interface
        subroutine adds(x)
            integer, intent(in) :: x
        end subroutine
        subroutine calls(procedure)
            import adds
            procedure(adds) :: procedure
        end subroutine
    end interface
    ! Compilers shall not see who is called.
    procedure(calls), pointer :: apply => null()
    integer :: rank, ranks, hosts_begun = 0
    integer, parameter :: tasks = 40
contains
    integer function from_previous(sent, tag)
        integer, intent(in) :: sent, tag
        integer :: status(MPI_STATUS_SIZE), error
        call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), tag, &
                          from_previous, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), tag, &
                          MPI_COMM_WORLD, status, error)
    end function

    recursive subroutine host()
        integer :: i, mine, previous
        !$omp atomic capture
        hosts_begun = hosts_begun + 1
        i = hosts_begun
        !$omp end atomic
        if (mod(rank, 2) == 1) i = tasks + 1 - i ! so most of them wait
        previous = mod(rank + ranks - 1, ranks)
        mine = from_previous(1000 * rank + i, i)
        call apply(inner)
        if (mine /= 2000 * previous + 2 * i + 1) then
            print *, 'internal_procedures: host', i, 'of rank', rank, 'has', mine
            error stop
        end if
    contains
        subroutine inner(x)
            integer, intent(in) :: x
            mine = mine + x + from_previous(1000 * rank + i, tasks + i)
        end subroutine
    end subroutine

    subroutine call_it(procedure)
        procedure(adds) :: procedure
        call procedure(1)
    end subroutine
end module

program internal_procedures
    use hosts
    implicit none
    integer :: i, level, error
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
    if (level < MPI_THREAD_MULTIPLE) error stop 'internal_procedures: threads must not call MPI'
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    apply => call_it
    !$omp parallel
    !$omp single
    do i = 1, tasks
        !$omp task
        call host()
        !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call MPI_Finalize(error)
end program

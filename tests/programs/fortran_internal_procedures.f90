! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc
! build: compiler=clang -- -Wl,-z,execstack # without, Debian 13's linker makes a program that cannot run, bare either
! test:
! Fortran 2018, 15.6.2.1: an internal procedure that is passed as an argument sees its host's variables.
! Compilers call it through code on the host's stack; that works in tasks too. Through a pointer, lest
! they see who is called.
module hosts
    implicit none
    abstract interface
        subroutine adds(x)
            integer, intent(in) :: x
        end subroutine
        subroutine calls(procedure)
            import adds
            procedure(adds) :: procedure
        end subroutine
    end interface
    procedure(calls), pointer :: apply => null()
    integer :: total = 0, hosts_begun = 0
contains
    recursive subroutine host()
        integer :: mine, n
        !$omp atomic capture
        hosts_begun = hosts_begun + 1
        n = hosts_begun
        !$omp end atomic
        mine = n
        !$omp task shared(mine)
        call apply(inner)
        !$omp end task
        !$omp taskyield
        call apply(inner)
        !$omp taskwait
        if (mine /= n + 2) then
            print *, 'fortran_internal_procedures: the host of', n, 'has', mine
            error stop
        end if
    contains
        subroutine inner(x)
            integer, intent(in) :: x
            !$omp atomic
            mine = mine + x
            !$omp atomic
            total = total + n
        end subroutine
    end subroutine

    subroutine yield_and_call(procedure)
        procedure(adds) :: procedure
        !$omp taskyield
        call procedure(1)
    end subroutine
end module

program fortran_internal_procedures
    use hosts
    implicit none
    integer :: i
    integer, parameter :: tasks = 200
    apply => yield_and_call
    !$omp parallel
    !$omp single
    do i = 1, tasks
        !$omp task
        call host()
        !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    if (total /= tasks * (tasks + 1)) error stop 'fortran_internal_procedures: a wrong total'
end program

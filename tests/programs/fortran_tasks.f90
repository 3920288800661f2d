! SPDX-License-Identifier: Apache-2.0
! test:
! OpenMP 5.2, 12.5 and 15.9.5 in Fortran: tasks with data-sharing, if and depend clauses, taskwait,
! taskgroup and taskyield; recursion. Shared variables only: flang 19 reads a firstprivate one when the
! task starts, not when it is created.
program fortran_tasks
    use omp_lib
    implicit none
    integer :: x, y, i, sum, seen(100), answer

    do i = 1, 100
        seen(i) = 0
    end do
    x = 0; y = 0; sum = 0
    !$omp parallel
    !$omp single
    do i = 1, 100
        !$omp task depend(inout: x) shared(x, seen)
        x = x + 1
        seen(x) = 3 * x
        !$omp end task
    end do
    !$omp task depend(inout: x) shared(x, seen)
    call check(x == 100 .and. seen(1) == 3 .and. seen(100) == 300, 'a chain runs in order')
    x = 0
    !$omp end task
    do i = 1, 50
        !$omp task depend(inout: x) shared(x)
        x = x + 1
        !$omp end task
        !$omp task depend(in: x) depend(inout: y) shared(x, y)
        y = y + x
        !$omp end task
    end do
    !$omp task depend(in: y) shared(x, y, sum)
    sum = x + y
    !$omp end task
    !$omp taskwait
    call check(sum == 50 + 1275, 'dependences')
    !$omp taskgroup
    do i = 1, 10
        !$omp task shared(sum)
        !$omp taskyield
        !$omp task shared(sum)
        !$omp atomic
        sum = sum + 1
        !$omp end task
        !$omp end task
    end do
    !$omp end taskgroup
    call check(sum == 1335, 'a taskgroup waits for descendants')
    !$omp task if(.false.) shared(sum)
    sum = -1
    !$omp end task
    call check(sum == -1, 'an undeferred task')
    answer = fib(16)
    !$omp end single
    !$omp end parallel
    call check(answer == 987, 'fib(16)')
contains
    recursive integer function fib(n) result(value)
        integer, intent(in) :: n
        integer :: a, b
        if (n < 2) then
            value = n
            return
        end if
        !$omp task shared(a)
        a = fib(n - 1)
        !$omp end task
        !$omp task shared(b)
        b = fib(n - 2)
        !$omp end task
        !$omp taskwait
        value = a + b
    end function
    include 'check.inc'
end program

! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc # flang 19 lowers none of these clauses
! test:
! OpenMP 5.2, 12.5 and 12.6 in Fortran: firstprivate, untied, mergeable, priority, final, detach, mutexinoutset,
! depobj, taskloop, task_reduction and in_reduction.
program fortran_task_clauses
    use omp_lib
    implicit none
    integer :: i, x, total, seen(100)
    integer(omp_event_handle_kind) :: event
    integer(omp_depend_kind) :: on_x

    x = 0; total = 0; seen = 0
    !$omp parallel
    !$omp single
    do i = 1, 100
        !$omp task firstprivate(i) shared(seen)
        seen(i) = i
        !$omp end task
    end do
    !$omp taskwait
    call check(all(seen == [(i, i = 1, 100)]), 'firstprivate is captured at creation')
    !$omp task final(.true.) untied mergeable priority(3)
    call check(omp_in_final(), 'omp_in_final')
    !$omp end task
    !$omp task detach(event) depend(out: x)
    x = 1
    !$omp end task
    !$omp task firstprivate(event)
    call omp_fulfill_event(event)
    !$omp end task
    do i = 1, 20
        !$omp task depend(mutexinoutset: x) shared(x)
        x = x + 1
        !$omp end task
    end do
    !$omp depobj(on_x) depend(in: x)
    !$omp task depend(depobj: on_x) shared(x)
    call check(x == 21, 'depobj after mutexinoutset after detach')
    !$omp end task
    !$omp taskwait
    !$omp depobj(on_x) destroy
    !$omp taskgroup task_reduction(+: total)
    do i = 1, 10
        !$omp task in_reduction(+: total) firstprivate(i)
        total = total + i
        !$omp end task
    end do
    !$omp taskloop in_reduction(+: total) grainsize(3)
    do i = 1, 10
        total = total + 1
    end do
    !$omp end taskgroup
    call check(total == 65, 'task_reduction')
    total = 0
    !$omp taskloop reduction(+: total) num_tasks(7)
    do i = 1, 100
        total = total + i
    end do
    call check(total == 5050, 'taskloop reduction')
    !$omp end single
    !$omp end parallel
contains
    include 'check.inc'
end program

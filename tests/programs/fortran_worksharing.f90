! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc # flang 19 lowers few of these constructs
! test, split:
!
! Constructs of OpenMP 5.0 and 5.1 from Fortran: scope with a reduction, loop, masked with a filter,
! inclusive and exclusive scans, linear, conditional lastprivate, schedules with modifiers.
program fortran_worksharing
    use omp_lib
    implicit none
    integer, parameter :: count = 1000
    call scopes()
    call loops()
    call masked_threads()
    call scans()
    call last_values()
    call schedules()

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        print '(2a)', 'does not hold: ', what
        stop 1
    end subroutine

    subroutine scopes()
        integer :: sum, threads
        sum = 0
        threads = 0
        !$omp parallel
        !$omp single
        threads = omp_get_num_threads()
        !$omp end single
        !$omp scope reduction(+ : sum)
        sum = sum + omp_get_thread_num() + 1
        !$omp end scope
        !$omp end parallel
        call check(sum == threads * (threads + 1) / 2, 'scope reduces over the team')
    end subroutine

    subroutine loops()
        integer :: i, runs(count)
        runs = 0
        !$omp parallel
        !$omp loop
        do i = 1, count
            runs(i) = runs(i) + 1
        end do
        !$omp end parallel
        call check(all(runs == 1), 'each iteration of loop runs once')
    end subroutine

    subroutine masked_threads()
        integer :: who, runs, last
        who = -1
        runs = 0
        last = -1
        !$omp parallel
        !$omp masked filter(omp_get_num_threads() - 1)
        !$omp atomic
        runs = runs + 1
        who = omp_get_thread_num()
        last = omp_get_num_threads() - 1
        !$omp end masked
        !$omp end parallel
        call check(runs == 1 .and. who == last, 'masked runs on the thread of its filter')
    end subroutine

    subroutine scans()
        integer :: i, sum, inclusive(count), exclusive(count)
        sum = 0
        !$omp parallel do reduction(inscan, + : sum)
        do i = 1, count
            sum = sum + i
            !$omp scan inclusive(sum)
            inclusive(i) = sum
        end do
        call check(sum == count * (count + 1) / 2, 'a scan reduces')
        sum = 0
        !$omp parallel do reduction(inscan, + : sum)
        do i = 1, count
            exclusive(i) = sum
            !$omp scan exclusive(sum)
            sum = sum + i
        end do
        do i = 1, count
            call check(inclusive(i) == i * (i + 1) / 2, 'an inclusive scan')
            call check(exclusive(i) == i * (i - 1) / 2, 'an exclusive scan')
        end do
    end subroutine

    subroutine last_values()
        integer :: i, at, last, seen(count)
        at = 5
        last = -1
        !$omp parallel do linear(at : 3) lastprivate(conditional : last) schedule(dynamic, 7)
        do i = 1, count
            seen(i) = at
            at = at + 3
            if (mod(i, 97) == 13) last = i
        end do
        call check(at == 5 + 3 * count, 'a linear variable after the loop')
        call check(last == 983, 'the last conditional assignment')
        do i = 1, count
            call check(seen(i) == 5 + 3 * (i - 1), 'a linear variable in the loop')
        end do
    end subroutine

    subroutine schedules()
        integer :: i, runs(count)
        integer(omp_sched_kind) :: kind
        integer :: chunk
        runs = 0
        call omp_set_schedule(omp_sched_guided, 9)
        call omp_get_schedule(kind, chunk)
        call check(kind == omp_sched_guided .and. chunk == 9, 'a schedule is read back')
        !$omp parallel
        !$omp do schedule(monotonic : dynamic, 5)
        do i = 1, count
            runs(i) = runs(i) + 1
        end do
        !$omp do schedule(nonmonotonic : guided)
        do i = count, 1, -1
            runs(i) = runs(i) + 1
        end do
        !$omp do schedule(runtime) ordered
        do i = 1, count
            !$omp ordered
            if (i > 1) call check(runs(i - 1) == 3, 'ordered regions come in order')
            runs(i) = runs(i) + 1
            !$omp end ordered
        end do
        !$omp end parallel
        call check(all(runs == 3), 'each iteration of each loop runs once')
    end subroutine
end program

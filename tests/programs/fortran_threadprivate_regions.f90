! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc
! build: compiler=clang group=printing
! test, kept:
! threadprivate common blocks and variables from region to region, in nested regions and in tasks
! (OpenMP 5.2, 5.2); copyin and copyprivate (5.7). Prints what the threads have in the end.
module kept
    implicit none
    integer, save :: level = 3
    real(8), save :: series(20) = 0.5d0
    !$omp threadprivate(level, series)
end module

program fortran_threadprivate_regions
    use omp_lib
    use kept
    implicit none
    integer, parameter :: rounds = 60
    integer :: own, list(50)
    common /mine/ own, list
    !$omp threadprivate(/mine/)
    integer :: round, threads, thread, total
    integer, allocatable :: expected(:), levels(:)

    threads = omp_get_max_threads()
    allocate (expected(0:threads - 1), levels(0:threads - 1))
    call omp_set_dynamic(.false.)
    call omp_set_max_active_levels(3)
    !$omp parallel
    call check(level == 3 .and. series(20) == 0.5d0, 'each thread begins with the first value')
    own = omp_get_thread_num()
    list = -own
    level = 3 * own
    expected(omp_get_thread_num()) = own
    levels(omp_get_thread_num()) = level
    !$omp end parallel
    do round = 1, rounds
        call keep(round)
        select case (mod(round, 6))
        case (0)
            own = round
            list = 2 * round
            series(20) = 0.25d0 * round
            !$omp parallel copyin(own, list, series)
            call check(own == round .and. all(list == 2 * round), 'copyin of what is in a common block')
            call check(series(20) == 0.25d0 * round, 'copyin of a variable')
            own = expected(omp_get_thread_num())
            list = -own
            !$omp end parallel
        case (1)
            call copies_private(round)
        case (2)
            call in_tasks()
        case (3)
            call nested(round)
        case (4)
            call barriers()
        case (5)
            call loop(round)
        end select
    end do
    do thread = 0, threads - 1
        print '(a, i0, a, i0, a, i0)', 'thread ', thread, ' has ', expected(thread), ' and ', levels(thread)
    end do
    deallocate (expected, levels) ! a main program does not do so at its end
contains
    subroutine keep(round)
        integer, intent(in) :: round
        integer :: me
        !$omp parallel private(me)
        me = omp_get_thread_num()
        call check(own == expected(me) .and. level == levels(me) .and. list(50) == -own, 'values persist')
        own = mod(31 * own + me + round, 10007)
        list(50) = -own
        level = mod(level + own, 1009)
        expected(me) = own
        levels(me) = level
        !$omp end parallel
    end subroutine

    subroutine copies_private(round)
        integer, intent(in) :: round
        !$omp parallel
        !$omp single
        level = 7 * round
        !$omp end single copyprivate(level)
        call check(level == 7 * round, 'copyprivate')
        levels(omp_get_thread_num()) = level
        !$omp end parallel
    end subroutine

    ! A task has what the thread has that it is tied to, also after it was suspended.
    subroutine in_tasks()
        integer :: i
        total = 0
        !$omp parallel private(i)
        do i = 1, 5
            !$omp task
            call in_a_task()
            !$omp end task
        end do
        !$omp taskwait
        !$omp end parallel
        call check(total == 5 * threads, 'all tasks ran')
    end subroutine

    subroutine in_a_task()
        integer :: me
        me = omp_get_thread_num()
        call check(own == expected(me), 'a task finds its thread''s')
        !$omp taskyield
        call check(me == omp_get_thread_num() .and. own == expected(me), 'a task goes on with them')
        !$omp atomic
        total = total + 1
    end subroutine

    subroutine nested(round)
        integer, intent(in) :: round
        integer :: me
        !$omp parallel private(me)
        me = omp_get_thread_num()
        call nested_region(me, round)
        expected(me) = expected(me) + round
        call check(own == expected(me), 'what was done in the nested region')
        list(50) = -own
        !$omp end parallel
    end subroutine

    ! Its first thread is the one that encountered it. In a subroutine of its own: else gfortran's
    ! threads of the outer region all write the same pointer.
    subroutine nested_region(me, round)
        integer, intent(in) :: me, round
        !$omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) then
            call check(own == expected(me), 'the encountering thread''s own')
            own = own + round
        else
            own = -1
        end if
        !$omp end parallel
    end subroutine

    subroutine barriers()
        integer :: me
        !$omp parallel private(me)
        me = omp_get_thread_num()
        level = me
        !$omp barrier
        call check(level == me, 'after a barrier')
        !$omp barrier
        level = levels(me)
        !$omp end parallel
    end subroutine

    subroutine loop(round)
        integer, intent(in) :: round
        integer :: i, me
        total = 0
        !$omp parallel private(me)
        me = omp_get_thread_num()
        own = 0
        !$omp do schedule(dynamic)
        do i = 1, 10 * threads
            own = own + round
        end do
        !$omp atomic
        total = total + own
        own = expected(me)
        !$omp end parallel
        call check(total == 10 * threads * round, 'all iterations ran')
    end subroutine

    include 'check.inc'
end program

! SPDX-License-Identifier: Apache-2.0
! test:
! OpenMP 5.2, 10.1 and 11 in Fortran: parallel, do with every schedule, sections, single with
! copyprivate, workshare, critical, atomic, barrier and data-sharing clauses.
program fortran_parallel
    use omp_lib
    implicit none
    integer :: i, j, team, total, last, count(500), own, parts(3)
    integer(8) :: big
    real(8) :: field(200), shared_value

    call omp_set_dynamic(.false.)
    total = 0
    own = 5
    !$omp parallel default(none) shared(total, team) firstprivate(own) num_threads(3)
    call check(omp_get_num_threads() == 3, 'num_threads(3)')
    call check(own == 5, 'firstprivate')
    own = own + omp_get_thread_num()
    !$omp atomic
    total = total + own
    !$omp master
    team = omp_get_num_threads()
    !$omp end master
    !$omp end parallel
    call check(total == 18 .and. team == 3, 'atomic sum over the team')

    count = 0
    !$omp parallel
    !$omp do schedule(static, 3)
    do i = 1, 500
        count(i) = count(i) + 1
    end do
    !$omp end do
    !$omp do schedule(dynamic, 7)
    do i = 500, 1, -1
        count(i) = count(i) + 1
    end do
    !$omp end do
    !$omp do schedule(guided) lastprivate(last)
    do i = 1, 500, 2
        last = i
        !$omp atomic
        count(i) = count(i) + 1
    end do
    !$omp end do
    !$omp do schedule(runtime)
    do i = 2, 500, 2
        count(i) = count(i) + 1
    end do
    !$omp end do
    !$omp end parallel
    call check(all(count == 3), 'each iteration runs once')
    call check(last == 499, 'lastprivate')

    big = 0
    !$omp parallel do collapse(2) reduction(+:big) schedule(dynamic, 5)
    do i = 1, 30
        do j = 10, 1, -2
            big = big + i * j
        end do
    end do
    call check(big == 465 * 30, 'collapse(2)')

    parts = 0
    !$omp parallel
    !$omp sections
    !$omp section
    parts(1) = parts(1) + 1
    !$omp section
    parts(2) = parts(2) + 1
    !$omp section
    parts(3) = parts(3) + 1
    !$omp end sections
    !$omp end parallel
    call check(all(parts == 1), 'each section runs once')

    shared_value = 0
    total = 0
    !$omp parallel private(own)
    !$omp single
    own = 77
    !$omp end single copyprivate(own)
    call check(own == 77, 'copyprivate')
    !$omp critical (adding)
    total = total + 1
    !$omp end critical (adding)
    !$omp barrier
    call check(total == omp_get_num_threads(), 'critical and barrier')
    !$omp end parallel

    !$omp parallel workshare
    field = 2
    field = field * 3
    !$omp end parallel workshare
    call check(all(field == 6), 'workshare')
contains
    include 'check.inc'
end program

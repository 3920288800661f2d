! SPDX-License-Identifier: Apache-2.0
! test: # stock libomp divides by zero for schedule(static, 2)
! OpenMP 5.2, 4.4.2: a loop without iterations runs none, whatever its bounds, step and schedule.
subroutine count(a, first, last, step)
    implicit none
    integer, intent(inout) :: a(10)
    integer, intent(in) :: first, last, step
    integer :: i
    integer(8) :: j
    !$omp parallel do
    do i = first, last, step
        a(i) = a(i) + 1
    end do
    !$omp parallel do schedule(static, 2)
    do i = first, last, step
        a(i) = a(i) + 1
    end do
    !$omp parallel do schedule(dynamic)
    do i = first, last, step
        a(i) = a(i) + 1
    end do
    !$omp parallel do schedule(guided)
    do i = first, last, step
        a(i) = a(i) + 1
    end do
    !$omp parallel do schedule(runtime)
    do i = first, last, step
        a(i) = a(i) + 1
    end do
    !$omp parallel do
    do j = first, last, step
        a(j) = a(j) + 1
    end do
end subroutine

subroutine add(total, a, last)
    implicit none
    integer, intent(inout) :: total
    integer, intent(in) :: a(10), last
    integer :: i
    !$omp parallel do reduction(+ : total)
    do i = 1, last
        total = total + a(i)
    end do
end subroutine

program fortran_empty_loops
    implicit none
    integer :: a(10), total
    a = 0
    call count(a, 5, 4, 1)
    call count(a, 16, 10, 16)
    call count(a, 1, -huge(1) - 1, 1)
    call count(a, 3, 4, -1)
    call count(a, 1, 7, -7)
    if (any(a /= 0)) error stop 'a loop without iterations has run one'
    call count(a, 1, 10, 1)
    call count(a, 10, 1, -1)
    if (any(a /= 12)) error stop 'not every iteration has run once'
    total = 5
    call add(total, a, 0)
    if (total /= 5) error stop 'a reduction over nothing has changed its variable'
    call add(total, a, 10)
    if (total /= 125) error stop 'a reduction is wrong'
end program

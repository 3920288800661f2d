! SPDX-License-Identifier: Apache-2.0
! test:
! OpenMP 5.2, 5.5 in Fortran: operators and intrinsics, integers, reals, complex, logicals, whole
! arrays.
program fortran_reductions
    implicit none
    integer :: i, sum4, low, high, bits_and, bits_or, bits_xor, histogram(8)
    integer(8) :: product8
    real :: sum_real
    real(8) :: low_real
    complex(8) :: z
    logical :: all_hold, some_hold

    sum4 = 10; product8 = 1; sum_real = 0; z = (1d0, 0d0); low = 1000; high = -1000
    bits_and = 255; bits_or = 0; bits_xor = 0; low_real = 1d9
    all_hold = .true.; some_hold = .false.; histogram = 0
    !$omp parallel do reduction(+:sum4, sum_real, histogram) reduction(*:product8) &
    !$omp& reduction(min:low, low_real) reduction(max:high) reduction(.and.:all_hold) &
    !$omp& reduction(.or.:some_hold) reduction(iand:bits_and) reduction(ior:bits_or) &
    !$omp& reduction(ieor:bits_xor) schedule(dynamic, 3)
    do i = 1, 100
        sum4 = sum4 + i
        sum_real = sum_real + 0.5
        if (i <= 20) product8 = product8 * 2
        low = min(low, 50 - i)
        high = max(high, 50 - i)
        low_real = min(low_real, abs(i - 33.5d0))
        all_hold = all_hold .and. i > 0
        some_hold = some_hold .or. i == 77
        bits_and = iand(bits_and, 240 + mod(i, 3))
        bits_or = ior(bits_or, ishft(1, mod(i, 5)))
        bits_xor = ieor(bits_xor, i)
        histogram(mod(i, 8) + 1) = histogram(mod(i, 8) + 1) + 1
    end do
    call check(sum4 == 5060, 'integer +')
    call check(product8 == 1048576_8, 'integer(8) *')
    call check(sum_real == 50.0, 'real +')
    call check(low == -50 .and. high == 49, 'min and max')
    call check(low_real == 0.5d0, 'real(8) min')
    call check(all_hold .and. some_hold, '.and. and .or.')
    call check(bits_and == 240 .and. bits_or == 31 .and. bits_xor == 100, 'iand, ior, ieor')
    call check(sum(histogram) == 100 .and. histogram(5) == 13, 'array +')
    !$omp parallel do reduction(+:z)
    do i = 1, 10
        z = z + cmplx(i, -i, 8)
    end do
    call check(z == (56d0, -55d0), 'complex(8) +')
contains
    include 'check.inc'
end program

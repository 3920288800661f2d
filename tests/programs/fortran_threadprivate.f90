! SPDX-License-Identifier: Apache-2.0
! test:
! test: variant=split threads=2 SENNIT_SPLIT=4
! run: omp.{program}.refused.gcc compiler=gcc threads=2 SENNIT_SPLIT=4
!     pass='SENNIT_SPLIT=4: .* has thread-local data, .* going on with 1'
! OpenMP 5.2, 5.2 and 5.7.1 in Fortran: a threadprivate common block keeps its values from region to
! region; copyin broadcasts the primary thread's.
program fortran_threadprivate
    use omp_lib
    implicit none
    integer :: own, list(50)
    real(8) :: value
    common /mine/ own, list
    common /other/ value
    !$omp threadprivate(/mine/, /other/)

    call omp_set_dynamic(.false.)
    !$omp parallel
    own = omp_get_thread_num() + 10
    list = own
    !$omp end parallel
    !$omp parallel
    call check(own == omp_get_thread_num() + 10 .and. all(list == own), 'values persist')
    !$omp end parallel
    own = -4
    value = 2.5d0
    !$omp parallel copyin(own, list, value)
    call check(own == -4 .and. list(50) == 10 .and. value == 2.5d0, 'copyin')
    value = omp_get_thread_num()
    !$omp barrier
    call check(value == omp_get_thread_num(), 'each thread has its own')
    !$omp end parallel
contains
    include 'check.inc'
end program

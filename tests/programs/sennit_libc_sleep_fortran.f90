! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc if="fc and not tsan"
! test: compiler=gcc
! docs/user/openmp.md, "Blocking calls of libc": gfortran's sleep in a task lets the others of its
! thread run. It is in a loop until a later task has run.
program sennit_libc_sleep_fortran
    implicit none
    integer, volatile, save :: begun = 0, done = 0

    !$omp parallel
    !$omp single
    !$omp task shared(begun, done)
    begun = 1
    do
        call sleep(1)
        if (done /= 0) exit
    end do
    !$omp end task
    do while (begun == 0)
        !$omp taskyield
    end do
    !$omp task shared(done)
    done = 1
    !$omp end task
    !$omp end single
    !$omp end parallel
    print '(a)', 'ok'
end program

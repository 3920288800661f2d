! SPDX-License-Identifier: Apache-2.0
! test: OMP_PLACES=threads OMP_PROC_BIND=close
! OpenMP 5.2, 18.3: the routines about places and the affinity format, from Fortran. Run with
! OMP_PLACES=threads OMP_PROC_BIND=close.
program affinity
    use omp_lib
    implicit none
    character(len=40) :: text
    integer :: ids(8192), numbers(8192)
    integer :: places, i

    places = omp_get_num_places()
    call check(places >= 1, 'there are places')
    call check(omp_get_proc_bind() == omp_proc_bind_close, 'close')
    call check(omp_get_place_num() == 0, 'the initial thread is on the first place')
    call check(omp_get_place_num_procs(0) == 1, 'a place is a processor')
    ids(1) = -1
    call omp_get_place_proc_ids(places - 1, ids)
    call check(ids(1) >= 0, 'a processor has a number')
    call check(omp_get_partition_num_places() == places, 'the partition is all')
    call omp_get_partition_place_nums(numbers)
    do i = 1, places
        call check(numbers(i) == i - 1, 'places in order')
    end do

    call omp_set_affinity_format('%0.3n in %N')
    call check(omp_get_affinity_format(text) == 11, 'length of the format')
    call check(text == '%0.3n in %N', 'the format')
    call check(omp_capture_affinity(text, '') == 8, 'length of the text')
    call check(text == '000 in 1', 'the text')
    call check(omp_capture_affinity(text(1:3), 'level %L') == 7, 'length of a text that is cut')
    call check(text(1:3) == 'lev', 'a text that is cut')
    call omp_display_affinity('thread %n')

contains

    include 'check.inc'
end program affinity

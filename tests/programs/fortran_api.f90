! SPDX-License-Identifier: Apache-2.0
! test:
! OpenMP 5.2, 18 in Fortran: the routines of omp_lib, with default and 8-byte integer arguments,
! agree with those of C; locks.
program fortran_api
    use omp_lib
    implicit none
    integer(omp_sched_kind) :: kind
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest_lock
    integer :: chunk, counter, nest_counter, threads

    threads = omp_get_max_threads()
    call omp_set_dynamic(.false.)
    call check(.not. omp_get_dynamic(), 'omp_get_dynamic')
    call check(omp_get_num_procs() >= 1, 'omp_get_num_procs')
    call check(.not. omp_in_parallel(), 'omp_in_parallel outside')
    call check(omp_get_level() == 0 .and. omp_get_thread_num() == 0, 'outside of a region')
    call check(omp_get_wtime() > 0d0 .and. omp_get_wtick() > 0d0, 'timers')
    call omp_set_schedule(omp_sched_guided, 5)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_guided .and. chunk == 5, 'omp_set_schedule')
    call omp_set_max_active_levels(2)
    call check(omp_get_max_active_levels() == 2, 'omp_set_max_active_levels')
    call omp_set_num_threads(4)
    call check(omp_get_max_threads() == 4, 'omp_set_num_threads')

    call omp_init_lock(lock)
    call omp_init_nest_lock(nest_lock)
    counter = 0
    nest_counter = 0
    !$omp parallel
    call check(omp_get_num_threads() == 4 .and. omp_in_parallel(), 'a team of four')
    call check(omp_get_team_size(1) == 4, 'omp_get_team_size')
    call check(omp_get_ancestor_thread_num(1) == omp_get_thread_num(), 'omp_get_ancestor_thread_num')
    call omp_set_lock(lock)
    counter = counter + 1
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest_lock)
    call check(omp_test_nest_lock(nest_lock) == 2, 'omp_test_nest_lock')
    nest_counter = nest_counter + 1
    call omp_unset_nest_lock(nest_lock)
    call omp_unset_nest_lock(nest_lock)
    !$omp end parallel
    call check(counter == 4 .and. nest_counter == 4, 'locks')
    call check(omp_test_lock(lock), 'omp_test_lock')
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest_lock)
    call omp_set_num_threads(threads)
contains
    include 'check.inc'
end program

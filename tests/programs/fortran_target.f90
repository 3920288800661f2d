! SPDX-License-Identifier: Apache-2.0
! build: compiler=gcc # flang 19 needs libomptarget for every target construct
! test:
! OpenMP 5.2, 13.8, 5.4, 5.8: target regions on the host in Fortran: mapped arrays and allocatables,
! copies, thread_limit, nowait with depend, optional arguments that are absent; and the routines that
! take 8-byte integers, however large, and allocators.
program fortran_target
    use omp_lib
    use iso_c_binding
    implicit none
    integer, parameter :: long = selected_int_kind(18)
    integer(long), parameter :: huge_level = huge(0_long)
    integer :: x
    logical :: wrong

    wrong = .true.
    !$omp target thread_limit(6) map(tofrom: wrong)
    wrong = omp_get_thread_limit() /= 6
    !$omp end target
    call check(.not. wrong, 'the limit holds in the region')
    call check(omp_get_thread_limit() /= 6, 'and not outside')

    x = 1
    !$omp task depend(out: x) shared(x)
    x = 20
    !$omp end task
    !$omp target nowait depend(inout: x) map(tofrom: x) thread_limit(2)
    x = x + 22
    !$omp end target
    !$omp taskwait
    call check(x == 42, 'the target task waits for its dependences')

    call change(.false.)
    call check(x == 42, 'an absent argument is nowhere')
    call change(.true., x)
    call check(x == 43, 'a present one is changed in place')

    !$omp parallel reduction(.or.: wrong)
    wrong = omp_get_ancestor_thread_num(huge_level) /= -1
    wrong = wrong .or. omp_get_ancestor_thread_num(-huge_level) /= -1
    wrong = wrong .or. omp_get_team_size(huge_level) /= -1
    wrong = wrong .or. omp_get_team_size(-huge_level) /= -1
    !$omp end parallel
    call check(.not. wrong, 'there is no team at a level beyond all integers')
    call mapped()
    call allocators()
contains
    subroutine mapped()
        integer, parameter :: n = 100
        integer :: i, total, scalar
        integer :: a(n)
        integer, allocatable :: b(:)

        scalar = 3
        a = [(i, i=1, n)]
        !$omp target map(tofrom: a) firstprivate(scalar)
        a = a + scalar
        scalar = 0
        !$omp end target
        call check(scalar == 3, 'a firstprivate scalar keeps its value')
        call check(all(a == [(i + 3, i=1, n)]), 'a mapped array is changed')

        allocate (b(n), source=1)
        !$omp target data map(tofrom: b)
        !$omp target teams distribute parallel do
        do i = 1, n
            b(i) = b(i) + a(i)
        end do
        !$omp end target teams distribute parallel do
        !$omp target update from(b)
        !$omp end target data
        call check(all(b == a + 1), 'an allocatable is changed by a combined construct')

        total = 0
        !$omp target parallel do reduction(+: total) map(tofrom: total)
        do i = 1, n
            total = total + b(i)
        end do
        !$omp end target parallel do
        call check(total == sum(b), 'a reduction of a target region')
    end subroutine

    subroutine change(is_present, a)
        logical, value :: is_present
        integer, optional :: a
        !$omp target data map(a) use_device_addr(a)
        !$omp target has_device_addr(a)
        if (is_present) a = a + 1
        !$omp end target
        !$omp end target data
    end subroutine

    subroutine allocators()
        type(omp_alloctrait) :: traits(2)
        integer(omp_allocator_handle_kind) :: aligned
        type(c_ptr) :: block
        traits = [omp_alloctrait(omp_atk_alignment, 128), &
                  omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)]
        aligned = omp_init_allocator(omp_default_mem_space, 2_long, traits)
        call check(aligned /= omp_null_allocator, 'an allocator is made')
        block = omp_alloc(1000_c_size_t, aligned)
        call check(mod(transfer(block, 0_c_intptr_t), 128_c_intptr_t) == 0, 'its blocks are aligned')
        call omp_free(block, aligned)
        call omp_destroy_allocator(aligned)
    end subroutine
    include 'check.inc'
end program

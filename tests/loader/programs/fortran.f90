! SPDX-License-Identifier: Apache-2.0
! fortran:
! A virtual rank in Fortran: COMMON blocks, SAVE variables, units and the allocated are its own,
! though all ranks write to unit 10 and to a file of their folder. Its number is its argument.
program fortran
    implicit none
    integer :: number, round, i, got, total
    common /shared/ total
    integer, allocatable :: held(:)
    character(len=16) :: word
    character(len=32) :: file

    call get_command_argument(1, word)
    read (word, *) number
    write (file, '(a, i0)') 'fortran-', number
    open (unit=10, status='scratch', action='readwrite')
    open (unit=11, file=file, status='replace', action='readwrite')
    total = 0
    do round = 1, 200
        allocate (held(1000))
        held = number
        write (10, *) number, round
        write (11, '(i0)') number*round
        total = total + number
        call count_calls(number, round)
        if (any(held /= number)) error stop 'allocated by another'
        deallocate (held)
    end do
    if (total /= 200*number) error stop 'COMMON of another'
    rewind (10)
    rewind (11)
    do i = 1, 200
        read (10, *) got, round
        if (got /= number .or. round /= i) error stop 'unit 10 of another'
        read (11, *) got
        if (got /= number*i) error stop 'unit 11 of another'
    end do
    close (10)
    close (11, status='delete')
contains
    subroutine count_calls(own, times)
        integer, intent(in) :: own, times
        integer, save :: calls = 0
        calls = calls + own
        if (calls /= own*times) error stop 'SAVE of another'
    end subroutine
end program

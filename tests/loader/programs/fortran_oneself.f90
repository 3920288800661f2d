! SPDX-License-Identifier: Apache-2.0
! fortran:
! A Fortran program that reads itself and its arguments by /proc. The first argument is its path.
program oneself
  implicit none
  character(len=4096) :: path, word
  character(len=1) :: mine(4096), theirs(4096), text(8192)
  integer :: unit, status, i, length

  call get_command_argument(1, path)
  open (newunit=unit, file=trim(path), access='stream', action='read')
  read (unit) mine
  close (unit)
  open (newunit=unit, file='/proc/self/exe', access='stream', action='read')
  read (unit) theirs
  close (unit)
  if (any(mine /= theirs)) error stop 'another program'

  text = '?'
  open (newunit=unit, file='/proc/self/cmdline', access='stream', action='read')
  read (unit, iostat=status) text
  close (unit)
  call get_command_argument(0, word)
  length = len_trim(word)
  do i = 1, length
    if (text(i) /= word(i:i)) error stop 'other arguments'
  end do
  if (text(length + 1) /= achar(0)) error stop 'other arguments'
end program oneself

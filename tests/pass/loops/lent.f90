! SPDX-License-Identifier: Apache-2.0
! flang's static loops, let go by the plug-in. With an argument the last iteration has to be taken over.
program lent
  implicit none
  integer, parameter :: n = 4000
  integer :: seen(n), i, j, round, total
  integer(8) :: done
  seen = 0
  total = 0
  do round = 1, 20
    !$omp parallel do reduction(+:total) private(j)
    do i = 1, n
      do j = 1, mod(i, 7)
        seen(i) = seen(i) + j
      end do
      total = total + 1
    end do
  end do
  if (total /= 20 * n) stop 1
  do i = 1, n
    if (seen(i) /= 20 * (mod(i, 7) * (mod(i, 7) + 1)) / 2) stop 2
  end do
  if (command_argument_count() == 0) stop
  done = 0
  !$omp parallel do num_threads(2)
  do i = 1, n
    if (i == n / 2 + 1) call await(done)
    if (i == n) call tell(done)
  end do
contains
  subroutine await(flag)
    integer(8) :: flag, now
    now = 0
    do while (now == 0)
      !$omp atomic read
      now = flag
    end do
  end subroutine
  subroutine tell(flag)
    integer(8) :: flag
    !$omp atomic write
    flag = 1
  end subroutine
end program

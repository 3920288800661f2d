! SPDX-License-Identifier: Apache-2.0
! fortran_calls:
! test_fortran: shape=2x1|2x2 lock={program}{binding}-gcc-{mpi} # they have one file
! Communicators, topologies, windows and files, made and used inside tasks.
#define PLAIN_INIT
#include "fortran_cases.inc"

module objects
    use cases
    implicit none
    integer, parameter :: offset = MPI_OFFSET_KIND, address = MPI_ADDRESS_KIND
    integer(address), parameter :: room = 32 ! puts into windows of 4 bytes get lost in MPICH 4.0

contains

    ! A communicator that was made is one on which its members agree; then it goes.
    subroutine use_up(comm, what)
        HANDLE(Comm), intent(inout) :: comm
        character(*), intent(in) :: what
        integer :: error, size, total(1)
        call MPI_Comm_size(comm, size, error)
        call MPI_Allreduce([1], total, 1, MPI_INTEGER, MPI_SUM, comm, error)
        call check(total(1) == size, what)
        call MPI_Comm_free(comm, error)
    end subroutine

    subroutine communicators(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Comm) :: new, half, between
        HANDLE(Group) :: group
        integer :: error
        call MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, new, error)
        call MPI_Comm_set_info(new, hints, error)
        call use_up(new, 'Comm_dup_with_info')
        call MPI_Comm_dup(comm, new, error)
        call MPI_Comm_disconnect(new, error)
        call MPI_Comm_group(comm, group, error)
        call MPI_Comm_create(comm, group, new, error)
        call use_up(new, 'Comm_create')
        call MPI_Comm_create_group(comm, group, 9, new, error)
        call use_up(new, 'Comm_create_group')
        call MPI_Group_free(group, error)
        call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, new, error)
        call use_up(new, 'Comm_split_type')
        call MPI_Comm_split(comm, mod(rank, 2), rank, half, error)
        if (ranks > 1) then
            call MPI_Intercomm_create(half, 0, comm, 1 - mod(rank, 2), 7, between, error)
            call MPI_Intercomm_merge(between, mod(rank, 2) == 1, new, error)
            call use_up(new, 'Intercomm_merge')
            call MPI_Comm_free(between, error)
        end if
        call use_up(half, 'Comm_split')
    end subroutine

#if defined MPI_4
    ! Two sessions in two tasks, in each a communicator of all, in one of them one between each rank and the other.
    subroutine sessions(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Session) :: session
        HANDLE(Group) :: group, me, other
        HANDLE(Comm) :: new
        character(4) :: name
        integer :: error, order
        call MPI_Comm_compare(comm, comms(1), order, error)
        name = merge('one ', 'two ', order == MPI_IDENT)
        call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, error)
        call check(error == MPI_SUCCESS, 'Session_init')
        call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, error)
        call MPI_Comm_create_from_group(group, 'all '//name, MPI_INFO_NULL, MPI_ERRORS_RETURN, new, error)
        call use_up(new, 'Comm_create_from_group')
        ! Two such calls at once disturb each other in MPICH 4.0, whatever their tags.
        if (ranks == 2 .and. order == MPI_IDENT) then
            call MPI_Group_incl(group, 1, [rank], me, error)
            call MPI_Group_incl(group, 1, [next], other, error)
            call MPI_Intercomm_create_from_groups(me, 0, other, 0, 'pair '//name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &
                                                  new, error)
            call check(error == MPI_SUCCESS, 'Intercomm_create_from_groups')
            call MPI_Comm_free(new, error)
            call MPI_Group_free(me, error)
            call MPI_Group_free(other, error)
        end if
        call MPI_Group_free(group, error)
        call MPI_Session_finalize(session, error)
        call check(error == MPI_SUCCESS, 'Session_finalize')
    end subroutine
#endif

    subroutine topologies(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Comm) :: grid, row
        integer :: error, i, place, degrees(ranks), edges(ranks)
        call MPI_Cart_create(comm, 2, [ranks, 1], [.true., .false.], .false., grid, error)
        call MPI_Cart_sub(grid, [.false., .true.], row, error)
        call use_up(row, 'Cart_sub')
        call use_up(grid, 'Cart_create')
        call MPI_Cart_map(comm, 1, [ranks], [.true.], place, error)
        call check(place >= 0 .and. place < ranks, 'Cart_map')
        ! A ring in one direction, as a graph: the i-th rank's edges end at degrees(i).
        degrees = [(i, i = 1, ranks)]
        edges = [(mod(i, ranks), i = 1, ranks)]
        call MPI_Graph_create(comm, ranks, degrees, edges, .false., grid, error)
        call use_up(grid, 'Graph_create')
        call MPI_Graph_map(comm, ranks, degrees, edges, place, error)
        call check(place >= 0 .and. place < ranks, 'Graph_map')
        call MPI_Dist_graph_create(comm, 1, [rank], [1], [next], [1], MPI_INFO_NULL, .false., grid, error)
        call use_up(grid, 'Dist_graph_create')
        call MPI_Dist_graph_create_adjacent(comm, 1, [previous], [1], 1, [next], [1], MPI_INFO_NULL, .false., &
                                            grid, error)
        call use_up(grid, 'Dist_graph_create_adjacent')
    end subroutine

    ! In each way of synchronization the next rank's word becomes this rank's number.
    subroutine one_sided(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Win) :: win
        HANDLE(Group) :: all_of, to, from
        integer, volatile :: word(8), value(1), seen(1) ! MPI writes them behind the compiler's back
        integer :: error
        word = -1
        value = rank
        call MPI_Win_create(word, room, 4, MPI_INFO_NULL, comm, win, error)
        call MPI_Win_set_info(win, hints, error)
        call MPI_Win_fence(0, win, error)
        call MPI_Put(value, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, error)
        call MPI_Win_fence(0, win, error)
        call check(word(1) == previous, 'Win_fence')
        word = -1
        call MPI_Comm_group(comm, all_of, error)
        call MPI_Group_incl(all_of, 1, [next], to, error)
        call MPI_Group_incl(all_of, 1, [previous], from, error)
        call MPI_Win_post(from, 0, win, error)
        call MPI_Win_start(to, 0, win, error)
        call MPI_Put(value, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, error)
        call MPI_Win_complete(win, error)
        call MPI_Win_wait(win, error)
        call check(word(1) == previous, 'Win_wait')
        call MPI_Barrier(comm, error)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win, error)
        value = 100 + rank
        call MPI_Put(value, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, error)
        call MPI_Win_flush_local(next, win, error)
        call MPI_Win_flush(next, win, error)
        call MPI_Win_unlock(next, win, error)
        call MPI_Barrier(comm, error)
        call MPI_Win_lock_all(0, win, error)
        call MPI_Get(seen, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, error)
        call MPI_Win_flush_local_all(win, error)
        call MPI_Win_flush_all(win, error)
        call check(seen(1) == 100 + rank, 'Win_flush_all')
        call MPI_Win_unlock_all(win, error)
        call MPI_Group_free(all_of, error)
        call MPI_Group_free(to, error)
        call MPI_Group_free(from, error)
        call MPI_Win_free(win, error)
    end subroutine

    ! The other ways to make a window.
    subroutine windows(comm)
        use iso_c_binding
        HANDLE(Comm), intent(in) :: comm
        HANDLE(Win) :: win
#if BINDING == 3
        type(c_ptr) :: base
#else
        integer(address) :: base
#endif
        integer, volatile :: out(1), in(1)
        integer :: error
        out = 30 + rank
        call MPI_Win_allocate(room, 4, MPI_INFO_NULL, comm, base, win, error)
        call swap_through('Win_allocate')
        call MPI_Win_allocate_shared(room, 4, MPI_INFO_NULL, comm, base, win, error)
        call swap_through('Win_allocate_shared')
        call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win, error)
        call MPI_Win_fence(0, win, error)
        call MPI_Win_free(win, error)

    contains

        subroutine swap_through(what)
            character(*), intent(in) :: what
            in = -1
            call MPI_Win_fence(0, win, error)
            call MPI_Put(out, 1, MPI_INTEGER, next, 0_address, 1, MPI_INTEGER, win, error)
            call MPI_Win_fence(0, win, error)
            call MPI_Get(in, 1, MPI_INTEGER, rank, 0_address, 1, MPI_INTEGER, win, error)
            call MPI_Win_fence(0, win, error)
            call check(in(1) == 30 + previous, what)
            call MPI_Win_free(win, error)
        end subroutine
    end subroutine

    ! Every rank writes a word and reads it again, in each way.
    subroutine files(comm)
        HANDLE(Comm), intent(in) :: comm
        HANDLE(File) :: file
        character(*), parameter :: name = FILE_NAME
        integer :: error, out(1), in(1)
        integer(offset) :: mine, size, at
        mine = 4 * rank
        out = 40 + rank
        call MPI_File_open(comm, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file, error)
        call check(error == MPI_SUCCESS, 'File_open')
        call MPI_File_set_info(file, hints, error)
        call MPI_File_set_size(file, 0_offset, error)
        call MPI_File_preallocate(file, 4_offset * ranks, error)
        call MPI_File_get_size(file, size, error)
        call check(size == 4 * ranks, 'File_get_size')
        call MPI_File_set_atomicity(file, .true., error)
        call MPI_File_set_atomicity(file, .false., error)

        call MPI_File_write_at(file, mine, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        in = -1
        call MPI_File_read_at(file, mine, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call written('File_write_at')
        call MPI_File_write_at_all(file, mine, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call MPI_File_read_at_all(file, mine, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call written('File_write_at_all')
        call MPI_File_write_at_all_begin(file, mine, out, 1, MPI_INTEGER, error)
        call MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE, error)
        call MPI_File_read_at_all_begin(file, mine, in, 1, MPI_INTEGER, error)
        call MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE, error)
        call written('File_write_at_all_end')

        call rewind_to_mine()
        call MPI_File_write(file, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call MPI_File_sync(file, error)
        call rewind_to_mine()
        call MPI_File_read(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call written('File_write')
        call rewind_to_mine()
        call MPI_File_write_all(file, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call rewind_to_mine()
        call MPI_File_read_all(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call written('File_write_all')
        call rewind_to_mine()
        call MPI_File_write_all_begin(file, out, 1, MPI_INTEGER, error)
        call MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE, error)
        call rewind_to_mine()
        call MPI_File_read_all_begin(file, in, 1, MPI_INTEGER, error)
        call MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE, error)
        call written('File_write_all_end')

        call from_the_start()
        call MPI_File_write_ordered(file, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call from_the_start()
        call MPI_File_read_ordered(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call written('File_write_ordered')
        call from_the_start()
        call MPI_File_write_ordered_begin(file, out, 1, MPI_INTEGER, error)
        call MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE, error)
        call from_the_start()
        call MPI_File_read_ordered_begin(file, in, 1, MPI_INTEGER, error)
        call MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE, error)
        call written('File_write_ordered_end')
        ! Whoever comes first.
        call from_the_start()
        call MPI_File_write_shared(file, out, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call MPI_Barrier(comm, error)
        call MPI_File_get_position_shared(file, at, error)
        call check(at == 4 * ranks, 'File_get_position_shared')
        call from_the_start()
        call MPI_File_read_shared(file, in, 1, MPI_INTEGER, MPI_STATUS_IGNORE, error)
        call check(in(1) >= 40 .and. in(1) < 40 + ranks, 'File_read_shared')

        call MPI_File_set_view(file, 0_offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, error)
        call MPI_File_close(file, error)
        call MPI_Barrier(comm, error)
        if (rank == 0) then
            call MPI_File_delete(name, MPI_INFO_NULL, error)
            call check(error == MPI_SUCCESS, 'File_delete')
        end if

    contains

        subroutine written(what)
            character(*), intent(in) :: what
            call check(in(1) == out(1), what)
            in = -1
            out = out + 1000
            call MPI_Barrier(comm, error)
        end subroutine

        subroutine rewind_to_mine()
            call MPI_File_seek(file, mine, MPI_SEEK_SET, error)
        end subroutine

        subroutine from_the_start()
            if (out(1) > 1000 * 8) out = 40 + rank
            call MPI_Barrier(comm, error)
            call MPI_File_seek_shared(file, 0_offset, MPI_SEEK_SET, error)
        end subroutine
    end subroutine
end module

program fortran_objects
    use objects
    implicit none
    call begin()
    !$omp parallel
    !$omp single
    call on_both(communicators)
    call on_both(topologies)
#if defined MPI_4
    call on_both(sessions)
#endif
    call on_both(one_sided)
    call on_both(windows)
    ! MPICH makes one call on files at a time, so one file.
    !$omp task
    call files(comms(1))
    !$omp end task
    !$omp end single
    !$omp end parallel
    call finish()
end program

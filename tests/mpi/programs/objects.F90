! SPDX-License-Identifier: Apache-2.0
! mpif: called=objects_fortran sources={include}/sennit_objects.f90|objects.F90 -- {fortran_flags}
!     {balance} -Wl,-rpath,{folder('sennit-balance-' + mpi)} # mpif.h is for both compilers, of
!     which Debian's wrappers know but gfortran
! test: called=objects_fortran shape=1x1|2x1|4x1
! include/sennit_objects.f90: objects with functions of Fortran, and ranges of memory, move between
! ranks; messages find them. MPI by mpif.h, which every compiler can read.
module blocks
    use, intrinsic :: iso_c_binding
    use sennit_objects
    implicit none
    integer, parameter :: objects = 16, words = 100

    type, bind(c) :: block_t
        integer(c_int) :: number = -1
        integer(c_int) :: visits = 0
        integer(c_int) :: values(words) = 0
    end type
    integer(c_int), target :: marker = 4711 ! what the functions' argument points to
    integer :: destroyed = 0
    integer :: packs_not = -1 ! this object's pack fails
contains
    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        print *, 'objects.F90: ', what
        error stop 1
    end subroutine

    subroutine check_argument(argument)
        type(c_ptr), intent(in) :: argument
        integer(c_int), pointer :: value
        call c_f_pointer(argument, value)
        call check(value == 4711, 'the argument is another one')
    end subroutine

    function block_size(object, data, argument) bind(c)
        integer(c_int), value :: object
        type(c_ptr), value :: data, argument
        integer(c_size_t) :: block_size
        type(block_t), pointer :: one
        call check_argument(argument)
        call c_f_pointer(data, one)
        call check(one%number == object, 'size: another object')
        block_size = int(4 * (2 + words), c_size_t)
    end function

    function block_pack(object, data, buffer, argument) bind(c)
        integer(c_int), value :: object
        type(c_ptr), value :: data, buffer, argument
        integer(c_int) :: block_pack
        type(block_t), pointer :: one
        integer(c_int), pointer :: packed(:)
        call check_argument(argument)
        call c_f_pointer(data, one)
        call c_f_pointer(buffer, packed, [2 + words])
        packed = [one%number, one%visits, one%values]
        block_pack = merge(1_c_int, 0_c_int, object == packs_not)
    end function

    function block_unpack(object, buffer, bytes, argument) bind(c)
        integer(c_int), value :: object
        type(c_ptr), value :: buffer, argument
        integer(c_size_t), value :: bytes
        type(c_ptr) :: block_unpack
        type(block_t), pointer :: one
        integer(c_int), pointer :: packed(:)
        call check_argument(argument)
        call check(bytes == 4 * (2 + words), 'unpack: how many bytes')
        call c_f_pointer(buffer, packed, [2 + words])
        allocate (one)
        one%number = packed(1)
        one%visits = packed(2)
        one%values = packed(3:)
        call check(one%number == object, 'unpack: another object')
        block_unpack = c_loc(one)
    end function

    subroutine block_destroy(object, data, argument) bind(c)
        integer(c_int), value :: object
        type(c_ptr), value :: data, argument
        type(block_t), pointer :: one
        call check_argument(argument)
        call c_f_pointer(data, one)
        call check(one%number == object, 'destroy: another object')
        deallocate (one)
        destroyed = destroyed + 1
    end subroutine
end module

program main
    use blocks
    implicit none
    include 'mpif.h'
    interface
        function malloc(bytes) bind(c)
            import :: c_ptr, c_size_t
            integer(c_size_t), value :: bytes
            type(c_ptr) :: malloc
        end function
    end interface
    integer :: rank, ranks, error

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call blocks_move
    call loads_count
    call memory_moves
    call MPI_Finalize(error)
contains
    subroutine ok(code)
        integer(c_int), intent(in) :: code
        call check(code == MPI_SUCCESS, 'a call of sennit_objects failed')
    end subroutine

    function new_set() result(set)
        type(c_ptr) :: set
        type(sennit_object_type) :: kind
        type(block_t), pointer :: one
        integer(c_int) :: i
        kind%size = c_funloc(block_size)
        kind%pack = c_funloc(block_pack)
        kind%unpack = c_funloc(block_unpack)
        kind%destroy = c_funloc(block_destroy)
        kind%argument = c_loc(marker)
        call ok(sennit_objects_create(MPI_COMM_WORLD, int(objects, c_int), kind, set))
        do i = 0, objects - 1
            if (mod(i, ranks) /= rank) cycle
            allocate (one)
            one%number = i
            one%values = i
            call ok(sennit_objects_add(set, i, c_loc(one)))
            call ok(sennit_objects_position(set, i, real(i, c_double), 0._c_double, 0._c_double))
        end do
        call ok(sennit_objects_commit(set))
    end function

    ! Each object sends to the next one, moves, and receives there.
    subroutine blocks_move
        integer, parameter :: rounds = 20
        type(c_ptr) :: set, list
        type(sennit_balance_info) :: info
        type(sennit_object_status) :: status
        type(block_t), pointer :: one
        integer(c_int), pointer :: mine(:)
        integer(c_int), target :: message(2)
        integer(c_int) :: before
        integer :: round, i, count, all
        set = new_set()
        call ok(sennit_balance_strategy(set, c_char_'rotate'//c_null_char))
        do round = 1, rounds
            count = sennit_objects_local(set, list)
            call c_f_pointer(list, mine, [count])
            do i = 1, count
                message = [mine(i), round]
                call ok(sennit_object_send(set, mine(i), mod(mine(i) + 1, objects), 3, c_loc(message), 8_c_size_t))
            end do
            call ok(sennit_balance(set, info))
            call check(info%failed == 0 .and. info%declined == 0, 'an object could not move')
            call check(info%moved == merge(objects, 0, ranks > 1), 'not all objects have moved')
            count = sennit_objects_local(set, list)
            call c_f_pointer(list, mine, [count])
            do i = 1, count
                call c_f_pointer(sennit_object_data(set, mine(i)), one)
                call check(sennit_object_rank(set, mine(i)) == rank, 'it is elsewhere')
                call check(one%number == mine(i) .and. all_are(one%values, mine(i)), 'it is not whole')
                before = mod(mine(i) + objects - 1, objects)
                call ok(sennit_object_recv(set, mine(i), merge(before, SENNIT_ANY, mod(round, 2) == 0), 3, &
                                           c_loc(message), 8_c_size_t, status))
                call check(status%from == before .and. status%tag == 3 .and. status%bytes == 8, 'status')
                call check(message(1) == before .and. message(2) == round, 'the wrong message')
                call ok(sennit_object_begin(set, mine(i)))
                one%visits = one%visits + 1
                call ok(sennit_object_end(set, mine(i)))
            end do
            call MPI_Allreduce(count, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
            call check(all == objects, 'objects are lost')
        end do
        count = sennit_objects_local(set, list)
        call c_f_pointer(list, mine, [count])
        do i = 1, count
            call c_f_pointer(sennit_object_data(set, mine(i)), one)
            call check(one%visits == rounds, 'visits are lost')
        end do
        ! What cannot be packed stays.
        packs_not = 4
        before = sennit_object_rank(set, 4)
        if (ranks > 1) then
            call check(sennit_balance(set, info) /= MPI_SUCCESS, 'it says that all have moved')
            call check(info%failed == 1, 'how many stay')
            call check(sennit_object_rank(set, 4) == before, 'it has moved')
        end if
        packs_not = -1
        call check(.not. c_associated(sennit_object_data(set, objects)), 'data of what is not there')
        destroyed = 0
        count = sennit_objects_local(set, list)
        call ok(sennit_objects_free(set))
        call check(.not. c_associated(set) .and. destroyed == count, 'the set is not freed')
    end subroutine

    logical function all_are(values, value)
        integer(c_int), intent(in) :: values(:), value
        all_are = all(values == value)
    end function

    ! Objects of equal loads are put with whom they talk to.
    subroutine loads_count
        type(c_ptr) :: set, list
        type(sennit_balance_info) :: info
        integer(c_int), pointer :: mine(:)
        integer :: i, count, apart
        set = new_set()
        call ok(sennit_balance_strategy(set, c_char_'greedycomm'//c_null_char))
        call check(sennit_balance_strategy(set, c_char_'greedier'//c_null_char) /= MPI_SUCCESS, 'no such strategy')
        call ok(sennit_objects_speed(set, 2._c_double))
        count = sennit_objects_local(set, list)
        call c_f_pointer(list, mine, [count])
        do i = 1, count
            call ok(sennit_object_load(set, mine(i), 10._c_double))
            call ok(sennit_object_traffic(set, mine(i), objects - 1 - mine(i), 4000000000_c_size_t))
        end do
        call ok(sennit_balance(set, info))
        call check(info%seconds > 0, 'it takes no time')
        apart = 0
        do i = 0, objects / 2 - 1
            if (sennit_object_rank(set, i) /= sennit_object_rank(set, objects - 1 - i)) apart = apart + 1
        end do
        call check(apart == 0 .and. info%promised < 1e-3, 'who talks is not together')
        call ok(sennit_objects_free(set))
    end subroutine

    subroutine memory_moves
        type(c_ptr) :: set, memory
        type(sennit_balance_info) :: info
        integer(c_int), pointer :: values(:)
        integer(c_int) :: i
        call ok(sennit_objects_create(MPI_COMM_WORLD, int(objects, c_int), set))
        do i = 0, objects - 1
            if (mod(i, ranks) /= rank) cycle
            memory = malloc(4_c_size_t * (i + 1))
            call c_f_pointer(memory, values, [i + 1])
            values = i
            call ok(sennit_objects_add_memory(set, i, memory, 4_c_size_t * (i + 1)))
        end do
        call ok(sennit_objects_commit(set))
        call ok(sennit_balance_strategy(set, c_char_'rotate'//c_null_char))
        call ok(sennit_balance(set, info))
        do i = 0, objects - 1
            call check(sennit_object_rank(set, i) == mod(mod(i, ranks) + 1, ranks), 'where it is')
            memory = sennit_object_data(set, i)
            call check(c_associated(memory) .eqv. sennit_object_rank(set, i) == rank, 'who has it')
            if (.not. c_associated(memory)) cycle
            call c_f_pointer(memory, values, [i + 1])
            call check(all_are(values, i), 'it is not whole')
        end do
        call ok(sennit_objects_free(set))
    end subroutine
end program

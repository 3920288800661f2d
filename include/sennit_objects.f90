! SPDX-License-Identifier: Apache-2.0
!
! sennit_objects.f90 - sennit_balance.h for Fortran 2003 and later: objects that move between the ranks
! of an MPI program. Compile it with your program: modules differ from compiler to compiler. Each
! function is that of the C header, which says what it does; objects are numbered from 0, as there.
! They return MPI_SUCCESS or a class of MPI errors. docs/user/objects.md has an example.
module sennit_objects
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_null_funptr, &
        c_null_ptr, c_ptr, c_size_t
    implicit none
    private

    ! An object's functions: c_funloc() of procedures with bind(c) and these interfaces.
    type, bind(c), public :: sennit_object_type
        type(c_funptr) :: size = c_null_funptr    ! sennit_object_size
        type(c_funptr) :: pack = c_null_funptr    ! sennit_object_pack
        type(c_funptr) :: unpack = c_null_funptr  ! sennit_object_unpack
        type(c_funptr) :: destroy = c_null_funptr ! sennit_object_destroy, or null
        type(c_ptr) :: argument = c_null_ptr
    end type

    type, bind(c), public :: sennit_object_status
        integer(c_int) :: from = -1
        integer(c_int) :: tag = -1
        integer(c_size_t) :: bytes = 0
    end type

    type, bind(c), public :: sennit_balance_info
        real(c_double) :: imbalance = 0
        real(c_double) :: node_imbalance = 0
        real(c_double) :: promised = 0
        integer(c_int64_t) :: moved = 0
        integer(c_int64_t) :: bytes = 0
        integer(c_int64_t) :: failed = 0
        integer(c_int) :: declined = 0
        real(c_double) :: seconds = 0
    end type

    integer(c_int), parameter, public :: SENNIT_ANY = -1

    abstract interface
        function sennit_object_size(object, data, argument) bind(c)
            import
            integer(c_int), value :: object
            type(c_ptr), value :: data, argument
            integer(c_size_t) :: sennit_object_size
        end function
        function sennit_object_pack(object, data, buffer, argument) bind(c)
            import
            integer(c_int), value :: object
            type(c_ptr), value :: data, buffer, argument
            integer(c_int) :: sennit_object_pack
        end function
        function sennit_object_unpack(object, buffer, bytes, argument) bind(c)
            import
            integer(c_int), value :: object
            type(c_ptr), value :: buffer, argument
            integer(c_size_t), value :: bytes
            type(c_ptr) :: sennit_object_unpack
        end function
        subroutine sennit_object_destroy(object, data, argument) bind(c)
            import
            integer(c_int), value :: object
            type(c_ptr), value :: data, argument
        end subroutine
    end interface
    public :: sennit_object_size, sennit_object_pack, sennit_object_unpack, sennit_object_destroy

    ! Of two kinds: objects with functions, and ranges of memory from malloc(), without `kind`. The
    ! communicator is Fortran's: with mpi_f08, comm%MPI_VAL.
    interface sennit_objects_create
        function sennit_objects_create_f(comm, count, kind, set) bind(c)
            import
            integer(c_int), value :: comm
            integer(c_int), value :: count
            type(sennit_object_type), intent(in) :: kind
            type(c_ptr), intent(out) :: set
            integer(c_int) :: sennit_objects_create_f
        end function
        function sennit_objects_create_memory_f(comm, count, set) bind(c)
            import
            integer(c_int), value :: comm
            integer(c_int), value :: count
            type(c_ptr), intent(out) :: set
            integer(c_int) :: sennit_objects_create_memory_f
        end function
    end interface
    public :: sennit_objects_create

    interface
        function sennit_objects_add(set, object, data) bind(c)
            import
            type(c_ptr), value :: set, data
            integer(c_int), value :: object
            integer(c_int) :: sennit_objects_add
        end function
        function sennit_objects_add_memory(set, object, memory, bytes) bind(c)
            import
            type(c_ptr), value :: set, memory
            integer(c_int), value :: object
            integer(c_size_t), value :: bytes
            integer(c_int) :: sennit_objects_add_memory
        end function
        function sennit_objects_position(set, object, x, y, z) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            real(c_double), value :: x, y, z
            integer(c_int) :: sennit_objects_position
        end function
        function sennit_objects_commit(set) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int) :: sennit_objects_commit
        end function
        function sennit_objects_free(set) bind(c)
            import
            type(c_ptr), intent(inout) :: set
            integer(c_int) :: sennit_objects_free
        end function
        ! How many are here; c_f_pointer(objects, numbers, [that many]) has their numbers.
        function sennit_objects_local(set, objects) bind(c)
            import
            type(c_ptr), value :: set
            type(c_ptr), intent(out) :: objects
            integer(c_int) :: sennit_objects_local
        end function
        function sennit_object_rank(set, object) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            integer(c_int) :: sennit_object_rank
        end function
        function sennit_object_data(set, object) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            type(c_ptr) :: sennit_object_data
        end function
        function sennit_object_begin(set, object) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            integer(c_int) :: sennit_object_begin
        end function
        function sennit_object_end(set, object) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            integer(c_int) :: sennit_object_end
        end function
        function sennit_object_load(set, object, seconds) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object
            real(c_double), value :: seconds
            integer(c_int) :: sennit_object_load
        end function
        function sennit_object_traffic(set, object, other, bytes) bind(c)
            import
            type(c_ptr), value :: set
            integer(c_int), value :: object, other
            integer(c_size_t), value :: bytes
            integer(c_int) :: sennit_object_traffic
        end function
        function sennit_objects_speed(set, speed) bind(c)
            import
            type(c_ptr), value :: set
            real(c_double), value :: speed
            integer(c_int) :: sennit_objects_speed
        end function
        ! `buffer`: c_loc() of the first of the bytes.
        function sennit_object_send(set, from, to, tag, buffer, bytes) bind(c)
            import
            type(c_ptr), value :: set, buffer
            integer(c_int), value :: from, to, tag
            integer(c_size_t), value :: bytes
            integer(c_int) :: sennit_object_send
        end function
        function sennit_object_recv(set, to, from, tag, buffer, bytes, status) bind(c)
            import
            type(c_ptr), value :: set, buffer
            integer(c_int), value :: to, from, tag
            integer(c_size_t), value :: bytes
            type(sennit_object_status), intent(out) :: status
            integer(c_int) :: sennit_object_recv
        end function
        function sennit_balance(set, info) bind(c)
            import
            type(c_ptr), value :: set
            type(sennit_balance_info), intent(out) :: info
            integer(c_int) :: sennit_balance
        end function
        ! A name of docs/user/objects.md, and c_null_char after it.
        function sennit_balance_strategy(set, name) bind(c)
            import
            type(c_ptr), value :: set
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: sennit_balance_strategy
        end function
    end interface
    public :: sennit_objects_add, sennit_objects_add_memory, sennit_objects_position, sennit_objects_commit, &
        sennit_objects_free, sennit_objects_local, sennit_object_rank, sennit_object_data, sennit_object_begin, &
        sennit_object_end, sennit_object_load, sennit_object_traffic, sennit_objects_speed, sennit_object_send, &
        sennit_object_recv, sennit_balance, sennit_balance_strategy
end module

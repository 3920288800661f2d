! SPDX-License-Identifier: Apache-2.0
! fortran: called=worlds_fortran modules=-J -- {library}
! worlds: mpi.worlds.fortran{binding}.{mpi} binding=1|2|3 exe={bin}/worlds_fortran{binding}-gcc-{mpi}
!     if=mpifc
! As worlds.c, by each of the three bindings: BINDING is 1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
#if BINDING == 3
#define HANDLE(kind) type(MPI_/**/kind)
#define NUMBER(handle) handle%MPI_VAL
#else
#define HANDLE(kind) integer
#define NUMBER(handle) handle
#endif
module world
#if BINDING == 3
    use mpi_f08
#elif BINDING == 2
    use mpi
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    integer :: program_number, own, all_ranks, rank, error
    HANDLE(Comm) :: everyone

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        print *, 'rank', rank, 'of program', program_number, ': does not hold: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, error)
    end subroutine

    integer function argument(position)
        integer, intent(in) :: position
        character(16) :: text
        call get_command_argument(position, text)
        read (text, *) argument
    end function

    subroutine ask_for_ranks()
        integer :: ranks, position, relation
        integer, external :: sennit_comm_all
        character(16) :: text
        logical :: found
        HANDLE(Info) :: info
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
        call check(ranks == own, 'own ranks')
        NUMBER(everyone) = sennit_comm_all()
        call MPI_Comm_size(everyone, ranks, error)
        call MPI_Comm_rank(everyone, position, error)
        call check(ranks == all_ranks, 'ranks of all')
        call check(position == rank + merge(0, all_ranks - own, program_number == 0), 'rank in all')
        call MPI_Comm_get_info(MPI_COMM_WORLD, info, error)
        call MPI_Info_get(info, 'sennit_comm_all', len(text), text, found, error)
        call check(found, 'the key of the info')
        read (text, *) NUMBER(everyone)
        call MPI_Info_free(info, error)
        call MPI_Comm_compare(MPI_COMM_WORLD, everyone, relation, error)
        call check(relation == MPI_UNEQUAL, 'the world is not all')
    end subroutine

    subroutine keep_attributes()
        integer :: key
        integer(MPI_ADDRESS_KIND) :: value, extra
        logical :: found
        HANDLE(Comm) :: copy
        extra = 0
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, found, error)
        call check(found .and. value >= 32767, 'MPI_TAG_UB')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, found, error)
        call check(found .and. value == program_number, 'MPI_APPNUM')
        call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, error)
        value = 5
        call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, error)
        value = 0
        call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
        call check(found .and. value == 5, 'an attribute')
        call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
        value = 0
        call MPI_Comm_get_attr(copy, key, value, found, error)
        call check(found .and. value == 5, 'an attribute of a copy')
        call MPI_Comm_free(copy, error)
        call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, error)
        call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, found, error)
        call check(.not. found, 'no attribute')
        call MPI_Comm_free_keyval(key, error)
    end subroutine

    subroutine handle_errors()
        integer :: class, nothing(1)
        HANDLE(Errhandler) :: before
        call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before, error)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
        nothing = 0
        call MPI_Send(nothing, 1, MPI_INTEGER, own, 0, MPI_COMM_WORLD, error)
        call MPI_Error_class(error, class, error)
        call check(class == MPI_ERR_RANK, 'the other program is not in this world')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before, error)
    end subroutine

    subroutine meet()
        integer :: one(1), sum(1), length
        character(MPI_MAX_OBJECT_NAME) :: name
        HANDLE(Comm) :: line
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, error)
        call check(name(:length) == 'MPI_COMM_WORLD', 'its name')
        one = 1
        call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call check(sum(1) == own, 'a sum over the world')
        call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, everyone, error)
        call check(sum(1) == all_ranks, 'a sum over all')
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [own], [.true.], .false., line, error)
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, own), 0, one, 1, MPI_INTEGER, &
            mod(rank + own - 1, own), 0, line, MPI_STATUS_IGNORE, error)
        call check(one(1) == mod(rank + own - 1, own), 'a message')
        call MPI_Comm_free(line, error)
    end subroutine

end module

program worlds
    use world
    implicit none
    program_number = argument(1)
    own = argument(2)
    all_ranks = argument(3)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call ask_for_ranks()
    call keep_attributes()
    call handle_errors()
    call meet()
    call MPI_Finalize(error)
end program

# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: programs that are built with AddressSanitizer, on libraries that are not. What MPI
# keeps until the end is no leak of the program's. Clang's sanitizer is in the program, and Debian's MPICH does
# not start with it, bare either.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    foreach(compiler ${SENNIT_COMPILERS})
        sennit_has_sanitizer(can ${compiler} address)
        if(NOT can OR (compiler STREQUAL clang AND mpi STREQUAL mpich))
            continue()
        endif()
        set(cxx ${SENNIT_GXX})
        if(compiler STREQUAL clang)
            set(cxx ${SENNIT_CLANGXX})
        endif()
        sennit_mpi_wrapper(wrapper ${mpi} ${cxx})
        sennit_mpi_program(sanitized-${compiler}-${mpi}
            COMPILE ${wrapper} -O1 -g -std=c++17 -x c++ -Wall -Wextra -Werror -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX
                    -fopenmp -fsanitize=address
            SOURCES sanitized.cpp LIBS -lstdc++ DEPENDS check.h)
        sennit_run(run ${mpi} 2 2)
        set(name mpi.sanitized.${compiler}.${mpi})
        add_test(NAME ${name} COMMAND ${run} ${output})
        add_test(NAME ${name}.finds COMMAND ${run} ${output} fault)
        set_tests_properties(${name} ${name}.finds PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2 ENVIRONMENT
                             ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1)
        set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer|ASan")
        set_tests_properties(${name}.finds PROPERTIES PASS_REGULAR_EXPRESSION
                             "ERROR: AddressSanitizer: stack-buffer-overflow[^#]*#0 [^\n]*check_receive")
    endforeach()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: more ranks than cores, and ranks of one address space.

# More ranks than cores.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/programs/doorbells.c)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/doorbells-${mpi})
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${SENNIT_${MPI}_CC} -O1 -g -D_DEFAULT_SOURCE -std=c11 -pthread -Wall -Wextra -Werror ${source} -o ${output}
        DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.h
        VERBATIM)
    list(APPEND outputs ${output})
    add_test(NAME mpi.doorbells.${mpi}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/doorbells.py
                     --sennit $<TARGET_FILE:sennit> --program ${output} --mpi ${mpi})
    set_tests_properties(mpi.doorbells.${mpi} PROPERTIES TIMEOUT 300 LABELS mpi PROCESSORS 2)
endforeach()
# Tasks that bind what is not over yet.
foreach(mpi ${SENNIT_MPIS})
    sennit_run(run ${mpi} 2 1)
    add_test(NAME mpi.bound_early.doorbells.${mpi}
             COMMAND ${run} ${CMAKE_CURRENT_BINARY_DIR}/bound_early-${SENNIT_PAIRED_${mpi}}-${mpi})
    set_tests_properties(mpi.bound_early.doorbells.${mpi} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2
                         ENVIRONMENT SENNIT_DOORBELLS=on)
endforeach()
# Small collectives in shared memory, also where late completions let ranks run apart; and bare.
foreach(mpi ${SENNIT_MPIS})
    set(program ${CMAKE_CURRENT_BINARY_DIR}/assembled-${SENNIT_PAIRED_${mpi}}-${mpi})
    set(environment SENNIT_DOORBELLS=on)
    set(bare 3 6)
    if(mpi STREQUAL mpich) # its ranks do not yield: six of them on two cores take most of a minute, and show no more
        set(bare 3)
    endif()
    foreach(ranks ${bare})
        sennit_run(run ${mpi} ${ranks} 1)
        add_test(NAME mpi.assembled.bare.${mpi}.n${ranks} COMMAND ${run} ${program})
        set_tests_properties(mpi.assembled.bare.${mpi}.n${ranks} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2
                             ENVIRONMENT SENNIT_DOORBELLS=off)
    endforeach()
    foreach(shape 2x2 4x1 6x1 3x2)
        string(REPLACE "x" ";" split ${shape})
        list(GET split 0 ranks)
        list(GET split 1 threads)
        sennit_run(run ${mpi} ${ranks} ${threads})
        add_test(NAME mpi.assembled.together.${mpi}.n${ranks}t${threads} COMMAND ${run} ${program})
        set_tests_properties(mpi.assembled.together.${mpi}.n${ranks}t${threads} PROPERTIES
                             TIMEOUT 120 LABELS "mpi;mpi-programs" PROCESSORS 2 ENVIRONMENT "${environment}")
    endforeach()
    sennit_run(run ${mpi} 3 1)
    add_test(NAME mpi.assembled.late.${mpi} COMMAND ${run} ${program})
    set_tests_properties(mpi.assembled.late.${mpi} PROPERTIES TIMEOUT 120 LABELS "mpi;mpi-programs" PROCESSORS 2
                         ENVIRONMENT "${environment};SENNIT_CHAOS=seed:5,latency:200,order")
    sennit_run(run ${mpi} 3 1)
    add_test(NAME mpi.assembled.mixed.${mpi} COMMAND ${run} ${program} mixed)
    set_tests_properties(mpi.assembled.mixed.${mpi} PROPERTIES TIMEOUT 60 LABELS mpi PROCESSORS 2
                         ENVIRONMENT "${environment}" PASS_REGULAR_EXPRESSION
                         "sennit: on MPI_COMM_WORLD rank . calls MPI_[A-Z][a-z]+ .. bytes. where rank . calls MPI_[A-Z]")
endforeach()
# Ranks that take turns on few kernel threads.
if(TARGET sennit-loader AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    foreach(mpi ${SENNIT_MPIS})
        string(TOUPPER ${mpi} MPI)
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/programs/rank_fibers.cpp)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/rank_fibers-${mpi})
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${SENNIT_${MPI}_CC} -O1 -g -std=c++17 -Wall -Wextra -Werror -fPIE -pie -pthread
                    -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX ${source} -o ${output} -lstdc++ -lm
            DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.h
            VERBATIM)
        set(waits_source ${CMAKE_CURRENT_SOURCE_DIR}/programs/rank_fibers_waits.c)
        set(waits_output ${CMAKE_CURRENT_BINARY_DIR}/rank_fibers_waits-${mpi})
        add_custom_command(
            OUTPUT ${waits_output}
            COMMAND ${SENNIT_${MPI}_CC} -O1 -g -std=c11 -Wall -Wextra -Werror -fPIE -pie -fopenmp ${waits_source}
                    -o ${waits_output}
            DEPENDS ${waits_source} ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.h
            VERBATIM)
        set(teams_source ${CMAKE_CURRENT_SOURCE_DIR}/programs/rank_fibers_teams.c)
        set(teams_output ${CMAKE_CURRENT_BINARY_DIR}/rank_fibers_teams-${mpi})
        add_custom_command(
            OUTPUT ${teams_output}
            COMMAND ${SENNIT_${MPI}_CC} -O1 -g -std=c11 -Wall -Wextra -Werror -fPIE -pie -fopenmp ${teams_source}
                    -o ${teams_output} -lm
            DEPENDS ${teams_source} ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.h
            VERBATIM)
        set(uneven_source ${CMAKE_CURRENT_SOURCE_DIR}/programs/rank_fibers_uneven.cpp)
        set(uneven_output ${CMAKE_CURRENT_BINARY_DIR}/rank_fibers_uneven-${mpi})
        add_custom_command(
            OUTPUT ${uneven_output}
            COMMAND ${SENNIT_${MPI}_CC} -O1 -g -std=c++20 -Wall -Wextra -Werror -fPIE -pie
                    -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I${CMAKE_SOURCE_DIR}/src ${uneven_source}
                    -o ${uneven_output} -lstdc++
            DEPENDS ${uneven_source} ${CMAKE_SOURCE_DIR}/src/virt/rank_fiber.h ${CMAKE_SOURCE_DIR}/src/virt/own_fiber.h
            VERBATIM)
        list(APPEND outputs ${output} ${waits_output} ${teams_output} ${uneven_output})
        add_test(NAME mpi.rank_fibers.${mpi}
                 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/rank_fibers.py
                         --sennit $<TARGET_FILE:sennit> --program ${output} --waits ${waits_output}
                         --teams ${teams_output} --uneven ${uneven_output} --mpi ${mpi})
        set_tests_properties(mpi.rank_fibers.${mpi} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2)
    endforeach()
endif()
# Long messages between ranks of one address space.
if(TARGET sennit-loader)
    set(ways virtual far)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
        list(APPEND ways fibers)
    endif()
    set(options_virtual --virtual)
    set(options_fibers --virtual=fibers)
    set(options_far)
    foreach(mpi ${SENNIT_MPIS})
        string(TOUPPER ${mpi} MPI)
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/programs/near_memory.c)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/near_memory-${mpi})
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${SENNIT_${MPI}_CC} -O1 -g -std=c11 -Wall -Wextra -Werror -fPIE -pie ${source} -o ${output}
            DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.h
            VERBATIM)
        list(APPEND outputs ${output})
        foreach(way ${ways})
            set(where near)
            if(way STREQUAL far)
                set(where far)
            endif()
            add_test(NAME mpi.near_memory.${mpi}.${way}
                     COMMAND $<TARGET_FILE:sennit> run ${options_${way}} --mpi ${mpi} -n 2 --threads 1 ${output} ${where})
            # As Open MPI says where the kernel has refused a copy; then it sends another way.
            set_tests_properties(mpi.near_memory.${mpi}.${way} PROPERTIES TIMEOUT 120 LABELS "mpi;virtual"
                                 PROCESSORS 2 FAIL_REGULAR_EXPRESSION "errno = 1")
        endforeach()
    endforeach()
endif()
add_custom_target(mpi-programs ALL DEPENDS ${outputs})

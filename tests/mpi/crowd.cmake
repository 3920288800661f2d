# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: more ranks than cores, and ranks of one address space.

# More ranks than cores.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(doorbells-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -D_DEFAULT_SOURCE -pthread
                       SOURCES doorbells.c DEPENDS check.h)
    add_test(NAME mpi.doorbells.${mpi}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/doorbells.py
                     --sennit $<TARGET_FILE:sennit> --program ${output} --mpi ${mpi})
    set_tests_properties(mpi.doorbells.${mpi} PROPERTIES TIMEOUT 1200 LABELS mpi PROCESSORS 2)
endforeach()
# Ranks that the launcher binds nowhere, and variables that bind their threads.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    set(bound)
    foreach(compiler ${SENNIT_COMPILERS})
        string(TOUPPER ${compiler} COMPILER)
        sennit_mpi_wrapper(wrapper ${mpi} ${SENNIT_${COMPILER}})
        sennit_mpi_program(bound-${compiler}-${mpi} COMPILE ${wrapper} ${c_flags} -fopenmp SOURCES bound.c)
        list(APPEND bound ${compiler}=${output})
    endforeach()
    if(SENNIT_SANITIZE)
        continue()
    endif()
    set(ways)
    if(TARGET sennit-loader)
        set(ways --virtual)
    endif()
    add_test(NAME mpi.bound_ranks.${mpi}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/bound_ranks.py ${ways}
                     --sennit $<TARGET_FILE:sennit> --mpiexec ${SENNIT_${MPI}_EXEC} --mpi ${mpi}
                     --lib ${CMAKE_BINARY_DIR}/lib/omp ${bound})
    set_tests_properties(mpi.bound_ranks.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2)
endforeach()
# Tasks that bind what is not over yet.
foreach(mpi ${SENNIT_MPIS})
    sennit_run(run ${mpi} 2 1)
    add_test(NAME mpi.bound_early.doorbells.${mpi}
             COMMAND ${run} ${CMAKE_CURRENT_BINARY_DIR}/bound_early-${SENNIT_PAIRED_${mpi}}-${mpi})
    set_tests_properties(mpi.bound_early.doorbells.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
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
        set_tests_properties(mpi.assembled.bare.${mpi}.n${ranks} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                             ENVIRONMENT SENNIT_DOORBELLS=off)
    endforeach()
    foreach(shape 2x2 4x1 6x1 3x2)
        string(REPLACE "x" ";" split ${shape})
        list(GET split 0 ranks)
        list(GET split 1 threads)
        sennit_run(run ${mpi} ${ranks} ${threads})
        add_test(NAME mpi.assembled.together.${mpi}.n${ranks}t${threads} COMMAND ${run} ${program})
        set_tests_properties(mpi.assembled.together.${mpi}.n${ranks}t${threads} PROPERTIES
                             TIMEOUT 600 LABELS "mpi;mpi-programs" PROCESSORS 2 ENVIRONMENT "${environment}")
    endforeach()
    sennit_run(run ${mpi} 3 1)
    add_test(NAME mpi.assembled.late.${mpi} COMMAND ${run} ${program})
    set_tests_properties(mpi.assembled.late.${mpi} PROPERTIES TIMEOUT 600 LABELS "mpi;mpi-programs" PROCESSORS 2
                         ENVIRONMENT "${environment};SENNIT_CHAOS=seed:5,latency:200,order")
    sennit_run(run ${mpi} 3 1)
    # Half of the ranks is on another node, as far as they know.
    set(other_node : -n 3 SENNIT_BOARD=${CMAKE_CURRENT_BINARY_DIR}/board-of-other-node)
    add_test(NAME mpi.assembled.nodes.${mpi} COMMAND ${run} ${program} nodes ${other_node} ${program} nodes)
    set_tests_properties(mpi.assembled.nodes.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2 ENVIRONMENT "${environment}")
    foreach(where "" child nodes)
        set(test mpi.assembled.mixed.${mpi})
        set(named MPI_COMM_WORLD)
        set(more)
        if(where)
            set(test mpi.assembled.mixed_${where}.${mpi})
            set(named "a communicator made from MPI_COMM_WORLD")
        endif()
        if(where STREQUAL nodes)
            set(more ${other_node} ${program} mixed nodes)
        endif()
        add_test(NAME ${test} COMMAND ${run} ${program} mixed ${where} ${more})
        set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                             ENVIRONMENT "${environment}" PASS_REGULAR_EXPRESSION
                             "sennit: on ${named} rank . calls MPI_[A-Z][a-z]+ .. bytes. where rank . calls MPI_[A-Z]")
    endforeach()
    # Several ranks find at once that another one is gone: one of them says so, and ends the job.
    foreach(where "" apart)
        set(test mpi.assembled.gone.${mpi})
        if(where)
            set(test mpi.assembled.gone_${where}.${mpi})
        endif()
        add_test(NAME ${test} COMMAND ${run} ${program} gone ${where})
        set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2 ENVIRONMENT "${environment}"
                             PASS_REGULAR_EXPRESSION "which has ended without MPI_Finalize"
                             FAIL_REGULAR_EXPRESSION "which has ended.*which has ended")
    endforeach()
endforeach()
# What is wrong on all ranks is found on all ranks.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(wrong_arguments-${mpi}
                       COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -Wno-stringop-overflow -Wno-stringop-overread -fopenmp
                       SOURCES wrong_arguments.c DEPENDS check.h)
    add_test(NAME mpi.wrong_arguments.${mpi}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/wrong_arguments.py --sennit $<TARGET_FILE:sennit>
                     --program ${output} --mpi ${mpi} --exec ${SENNIT_${MPI}_EXEC})
    set_tests_properties(mpi.wrong_arguments.${mpi} PROPERTIES TIMEOUT 1200 LABELS mpi PROCESSORS 2)
endforeach()
# Broadcasts there, and reductions for one rank; also where the ranks are of one address space.
foreach(calls broadcasts reductions)
    foreach(mpi ${SENNIT_MPIS})
        set(program ${CMAKE_CURRENT_BINARY_DIR}/${calls}-${SENNIT_PAIRED_${mpi}}-${mpi})
        set(other_node : -n 3 SENNIT_BOARD=${CMAKE_CURRENT_BINARY_DIR}/board-of-other-node-${calls})
        foreach(shape 2x2 3x1 4x1 6x1)
            string(REPLACE "x" ";" split ${shape})
            list(GET split 0 ranks)
            list(GET split 1 threads)
            sennit_run(run ${mpi} ${ranks} ${threads})
            add_test(NAME mpi.${calls}.together.${mpi}.n${ranks}t${threads} COMMAND ${run} ${program})
            set_tests_properties(mpi.${calls}.together.${mpi}.n${ranks}t${threads} PROPERTIES TIMEOUT 600
                                 LABELS "mpi;mpi-programs" PROCESSORS 2 ENVIRONMENT SENNIT_DOORBELLS=on)
        endforeach()
        sennit_run(run ${mpi} 3 1)
        add_test(NAME mpi.${calls}.late.${mpi} COMMAND ${run} ${program})
        set_tests_properties(mpi.${calls}.late.${mpi} PROPERTIES TIMEOUT 600 LABELS "mpi;mpi-programs" PROCESSORS 2
                             ENVIRONMENT "SENNIT_DOORBELLS=on;SENNIT_CHAOS=seed:5,latency:200,order")
        add_test(NAME mpi.${calls}.nodes.${mpi} COMMAND ${run} ${program} nodes ${other_node} ${program} nodes)
        set_tests_properties(mpi.${calls}.nodes.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                             ENVIRONMENT SENNIT_DOORBELLS=on)
        add_test(NAME mpi.${calls}.mixed.${mpi} COMMAND ${run} ${program} mixed)
        add_test(NAME mpi.${calls}.mixed_child.${mpi} COMMAND ${run} ${program} mixed child)
        set_tests_properties(mpi.${calls}.mixed.${mpi} mpi.${calls}.mixed_child.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi
                             PROCESSORS 2 ENVIRONMENT SENNIT_DOORBELLS=on PASS_REGULAR_EXPRESSION
                             "rank . calls MPI_[A-Z][a-z]+ .. bytes. where rank . calls MPI_[A-Z]")
        if(TARGET sennit-loader)
            set(ways virtual)
            if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
                list(APPEND ways fibers)
            endif()
            set(option_virtual --virtual)
            set(option_fibers --virtual=fibers)
            foreach(way ${ways})
                add_test(NAME mpi.${calls}.${way}.${mpi}
                         COMMAND $<TARGET_FILE:sennit> run ${option_${way}} --mpi ${mpi} -n 4 --threads 1 ${program})
                set_tests_properties(mpi.${calls}.${way}.${mpi} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2
                                     ENVIRONMENT SENNIT_DOORBELLS=on)
            endforeach()
        endif()
    endforeach()
endforeach()
# Two lengths of which only one is too long to be sent without messages.
foreach(mpi ${SENNIT_MPIS})
    set(program ${CMAKE_CURRENT_BINARY_DIR}/broadcasts-${SENNIT_PAIRED_${mpi}}-${mpi})
    sennit_run(run ${mpi} 3 1)
    set(call "MPI_[A-Z][a-z]+ .(200 bytes|more than 256 bytes).")
    foreach(case 300x200 200x300 300x200xchild 200x300xchild 200x300xmessages 300x200xreduction 200x300xreduction)
        string(REPLACE "x" ";" arguments ${case})
        set(test mpi.broadcasts.uneven_${case}.${mpi})
        add_test(NAME ${test} COMMAND ${run} ${program} uneven ${arguments})
        set_tests_properties(${test} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2 ENVIRONMENT SENNIT_DOORBELLS=on
                             PASS_REGULAR_EXPRESSION "rank . calls ${call} where rank . calls ${call};")
    endforeach()
endforeach()
# One rank cannot keep what it knows of a communicator: it decides like the others, all the same.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(no_attributes-${mpi}.so COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fPIC -shared SOURCES no_attributes.c)
    set(library ${output})
    sennit_mpi_program(broadcasts-no_attributes-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -Wno-stringop-overflow -fopenmp
                       SOURCES broadcasts.c LIBS -Wl,--no-as-needed ${library} DEPENDS check.h small_calls.h ${library})
    sennit_run(run ${mpi} 3 1)
    set(other_node : -n 3 SENNIT_BOARD=${CMAKE_CURRENT_BINARY_DIR}/board-of-other-node-a)
    add_test(NAME mpi.broadcasts.no_attributes.${mpi} COMMAND ${run} ${output} nodes ${other_node} ${output} nodes)
    set_tests_properties(mpi.broadcasts.no_attributes.${mpi} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2
                         ENVIRONMENT SENNIT_DOORBELLS=on)
endforeach()
# Ranks that take turns on few kernel threads.
if(TARGET sennit-loader AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    add_library(homecomings STATIC programs/homecomings.cpp)
    target_include_directories(homecomings PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_options(homecomings PRIVATE -fno-exceptions)
    set_target_properties(homecomings PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set(counting LIBS $<TARGET_FILE:homecomings>)
    set(counted DEPENDS check.h homecomings.h team_work.h homecomings)
    sennit_mpi_program(rank_fibers_openmp COMPILE ${SENNIT_GCC} ${c_flags} -D_GNU_SOURCE -fPIE -pie -fopenmp
                       SOURCES rank_fibers_openmp.c ${counting} ${counted})
    sennit_mpi_program(rank_fibers_exec COMPILE ${SENNIT_GCC} ${c_flags} -D_GNU_SOURCE -fPIE -pie -fopenmp -pthread
                       SOURCES rank_fibers_exec.c ${counting} DEPENDS homecomings.h homecomings)
    foreach(mpi ${SENNIT_MPIS})
        string(TOUPPER ${mpi} MPI)
        set(compile_c ${SENNIT_${MPI}_CC} ${c_flags} -fPIE -pie -fopenmp)
        set(compile_cxx ${SENNIT_${MPI}_CC} -O1 -g -Wall -Wextra -Werror -fPIE -pie -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
        sennit_mpi_program(rank_fibers_waits-${mpi} COMPILE ${compile_c} SOURCES rank_fibers_waits.c ${counting} ${counted})
        sennit_mpi_program(rank_fibers_teams-${mpi} COMPILE ${compile_c} SOURCES rank_fibers_teams.c ${counting} -lm
                           ${counted})
        set(balance $<TARGET_FILE:sennit-balance-${mpi}>)
        foreach(program objects openmp_objects)
            set(with)
            if(program STREQUAL openmp_objects)
                set(with -DWITH_OPENMP)
            endif()
            sennit_mpi_program(rank_fibers_${program}-${mpi} COMPILE ${compile_c} ${with} -I${CMAKE_SOURCE_DIR}/include
                               SOURCES rank_fibers_objects.c ${counting} ${balance} -lm
                               -Wl,-rpath,$<TARGET_FILE_DIR:sennit-${mpi}> ${counted} ${balance})
        endforeach()
        set(virt ${CMAKE_SOURCE_DIR}/src/ranks/fibers)
        sennit_mpi_program(rank_fibers_uneven-${mpi} COMPILE ${compile_cxx} -std=c++20 -I${CMAKE_SOURCE_DIR}/src
                           SOURCES rank_fibers_uneven.cpp LIBS -lstdc++
                           DEPENDS ${virt}/rank_fiber.h)
        sennit_mpi_program(rank_fibers-${mpi} COMPILE ${compile_cxx} -std=c++17 -pthread
                           SOURCES rank_fibers.cpp LIBS -lstdc++ -lm DEPENDS check.h)
        set(others ${CMAKE_CURRENT_BINARY_DIR}/rank_fibers)
        add_test(NAME mpi.rank_fibers.${mpi}
                 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/rank_fibers.py
                         --sennit $<TARGET_FILE:sennit> --program ${output} --waits ${others}_waits-${mpi}
                         --teams ${others}_teams-${mpi} --uneven ${others}_uneven-${mpi}
                         --objects ${others}_objects-${mpi} ${others}_openmp_objects-${mpi} --openmp ${others}_openmp --exec ${others}_exec
                         --doorbells ${CMAKE_CURRENT_BINARY_DIR}/doorbells-${mpi} --mpi ${mpi})
        set_tests_properties(mpi.rank_fibers.${mpi} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2)
        sennit_mpi_program(prompt_sends-${mpi} COMPILE ${compile_c} SOURCES prompt_sends.c DEPENDS check.h)
        foreach(ranks 2 4)
            set(test mpi.prompt_sends.${mpi}.n${ranks})
            add_test(NAME ${test}
                     COMMAND $<TARGET_FILE:sennit> run --virtual=fibers --mpi ${mpi} -n ${ranks} --threads 1 ${output})
            set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2
                                 PASS_REGULAR_EXPRESSION "^prompt\n$")
        endforeach()
    endforeach()
endif()
# Threads that make communicators at once. Open MPI 4.1 may deadlock there, bare too.
if(mpich IN_LIST SENNIT_MPIS)
    sennit_mpi_program(dup_alone-mpich COMPILE ${SENNIT_MPICH_CC} ${c_flags} -D_DEFAULT_SOURCE -pthread
                       SOURCES dup_alone.c DEPENDS check.h)
    sennit_run(run mpich 4 1)
    add_test(NAME mpi.dup_alone.mpich COMMAND ${run} ${output})
    set_tests_properties(mpi.dup_alone.mpich PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                         ENVIRONMENT SENNIT_DOORBELLS=on PASS_REGULAR_EXPRESSION "^made\n$")
endif()
# Tasks that wait by tests of their own.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(tests_in_tasks-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fopenmp -rdynamic
                       SOURCES tests_in_tasks.c DEPENDS check.h)
    sennit_run(run ${mpi} 3 1)
    add_test(NAME mpi.tests_in_tasks.${mpi} COMMAND ${run} ${output})
    set_tests_properties(mpi.tests_in_tasks.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                         ENVIRONMENT SENNIT_DOORBELLS=on)
endforeach()
# Graphs, whose messages must not meet those of collectives.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(graphs-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -Wno-stringop-overflow -Wno-stringop-overread
                       SOURCES graphs.c DEPENDS check.h)
    sennit_run(run ${mpi} 6 1)
    foreach(doorbells on off)
        if(mpi STREQUAL mpich AND doorbells STREQUAL off) # six ranks that do not yield, on two cores
            continue()
        endif()
        set(test mpi.graphs.${doorbells}.${mpi})
        add_test(NAME ${test} COMMAND ${run} ${output})
        set_tests_properties(${test} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2
                             ENVIRONMENT SENNIT_DOORBELLS=${doorbells} PASS_REGULAR_EXPRESSION "^graphs\n$")
    endforeach()
endforeach()
# Communicators of two groups, one of them a single rank.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(dup_between-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} SOURCES dup_between.c DEPENDS check.h)
    sennit_run(run ${mpi} 4 1)
    add_test(NAME mpi.dup_between.${mpi} COMMAND ${run} ${output})
    set_tests_properties(mpi.dup_between.${mpi} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2
                         ENVIRONMENT SENNIT_DOORBELLS=on)
endforeach()
# Many ranks.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(many_ranks-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fPIE -pie
                       SOURCES many_ranks.c DEPENDS check.h)
    foreach(ranks 12 66) # one call of 64 ranks at most has room for what they agree on
        set(test mpi.many_ranks.${mpi}.n${ranks})
        add_test(NAME ${test} COMMAND $<TARGET_FILE:sennit> run --mpi ${mpi} -n ${ranks} --threads 1 ${output})
        set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2 PASS_REGULAR_EXPRESSION "^many\n$")
    endforeach()
endforeach()
# Many ranks start and end on few cores: on one, if there is taskset, or Sennit would not care on large machines.
if(TARGET sennit-loader AND NOT SENNIT_SANITIZE)
    find_program(SENNIT_TASKSET taskset)
    set(on_one_core)
    if(SENNIT_TASKSET)
        set(on_one_core ${SENNIT_TASKSET} -c 0)
    endif()
    foreach(mpi ${SENNIT_MPIS})
        string(TOUPPER ${mpi} MPI)
        sennit_mpi_program(crowded_start-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -D_DEFAULT_SOURCE -fPIE -pie
                           SOURCES crowded_start.c DEPENDS check.h)
        set(start $<TARGET_FILE:sennit> run --virtual --mpi ${mpi} --threads 1)
        foreach(case plain own)
            set(test mpi.crowded_start.${mpi}.${case})
            add_test(NAME ${test} COMMAND ${on_one_core} ${start} -n 16 ${output} ${case})
            set_tests_properties(${test} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2
                                 PASS_REGULAR_EXPRESSION "^started\n$")
        endforeach()
        set(test mpi.crowded_start.${mpi}.n128)
        sennit_user_test(${test} COMMAND ${start} -n 128 ${output})
        set_tests_properties(${test}.user PROPERTIES TIMEOUT 600 LABELS "mpi;virtual" PROCESSORS 2)
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
        sennit_mpi_program(near_memory-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fPIE -pie
                           SOURCES near_memory.c DEPENDS check.h)
        foreach(way ${ways})
            set(where near)
            if(way STREQUAL far)
                set(where far)
            endif()
            add_test(NAME mpi.near_memory.${mpi}.${way}
                     COMMAND $<TARGET_FILE:sennit> run ${options_${way}} --mpi ${mpi} -n 2 --threads 1 ${output} ${where})
            # As Open MPI says where the kernel has refused a copy; then it sends another way.
            set_tests_properties(mpi.near_memory.${mpi}.${way} PROPERTIES TIMEOUT 600 LABELS "mpi;virtual"
                                 PROCESSORS 2 FAIL_REGULAR_EXPRESSION "errno = 1")
        endforeach()
    endforeach()
endif()
add_custom_target(mpi-programs ALL DEPENDS ${outputs})

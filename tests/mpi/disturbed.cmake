# SPDX-License-Identifier: Apache-2.0
# A part of CMakeLists.txt: programs under injected faults, over an injected network, with lent cores, on split
# threads; and what is said where ranks do not agree.

# Whatever the network does, the results are the same: every program that does not judge failures
# itself, or what is over at once, under late completions in any order.
set(same_under_chaos ${programs})
list(REMOVE_ITEM same_under_chaos errors tool tool_callbacks processes abort_suspended million_tasks bound_early
     detached_funneled callbacks_funneled)
set(seed 0)
set(faults_mpich latency:300,order)
set(faults_openmpi latency:20,bandwidth:2000,order)
if(SENNIT_TEST_MATRIX STREQUAL "full")
    set(faults_mpich ${faults_mpich} ${faults_openmpi})
    set(faults_openmpi ${faults_mpich})
endif()
foreach(program ${same_under_chaos})
    foreach(mpi ${SENNIT_MPIS})
        foreach(faults ${faults_${mpi}})
            math(EXPR seed "${seed} + 1")
            list(GET shapes_${program} -1 shape)
            string(REPLACE "x" ";" split ${shape})
            list(GET split 0 ranks)
            list(GET split 1 threads)
            set(name mpi.chaos.${program}.${mpi}.seed${seed})
            add_test(NAME ${name}
                     COMMAND $<TARGET_FILE:sennit> run -n ${ranks} --threads ${threads}
                             ${CMAKE_CURRENT_BINARY_DIR}/${program}-${SENNIT_PAIRED_${mpi}}-${mpi})
            set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                                 ENVIRONMENT SENNIT_CHAOS=seed:${seed},${faults})
            sennit_virtual_tests(${name} COMMAND $<TARGET_FILE:sennit> run -n ${ranks} --threads ${threads}
                                 ${CMAKE_CURRENT_BINARY_DIR}/${program}-${SENNIT_PAIRED_${mpi}}-${mpi})
        endforeach()
    endforeach()
endforeach()

# Late completions where ranks that wait sleep on doorbells, and ring for what is still on its way.
set(programs_with_bells point_to_point waits collectives requests one_sided outside)
foreach(program ${programs_with_bells})
    foreach(mpi ${SENNIT_MPIS})
        math(EXPR seed "${seed} + 1")
        list(GET faults_${mpi} 0 faults)
        foreach(shape 2x2 4x1)
            string(REPLACE "x" ";" split ${shape})
            list(GET split 0 ranks)
            list(GET split 1 threads)
            set(name mpi.chaos.bells.${program}.${mpi}.n${ranks}t${threads})
            add_test(NAME ${name}
                     COMMAND $<TARGET_FILE:sennit> run -n ${ranks} --threads ${threads}
                             ${CMAKE_CURRENT_BINARY_DIR}/${program}-${SENNIT_PAIRED_${mpi}}-${mpi})
            set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "mpi;chaos-bells" PROCESSORS 2
                                 ENVIRONMENT "SENNIT_CHAOS=seed:${seed},${faults};SENNIT_DOORBELLS=on")
        endforeach()
    endforeach()
endforeach()

# The same over the injected network (addons/network), which is between Sennit and MPI; sanitized, too. As
# on processors of their own: there blocking calls reach the network, here doorbells would keep them from it.
foreach(program point_to_point waits collectives requests nonblocking errors)
    foreach(mpi ${SENNIT_MPIS})
        if(SENNIT_SANITIZE STREQUAL "tsan" AND mpi STREQUAL mpich)
            continue()
        endif()
        sennit_run(run ${mpi} 2 2)
        list(TRANSFORM run REPLACE "^(LD_PRELOAD=.*)$" "\\1:$<TARGET_FILE:sennit-network-${mpi}>")
        add_test(NAME mpi.network.${program}.${mpi}
                 COMMAND ${run} ${CMAKE_CURRENT_BINARY_DIR}/${program}-${SENNIT_PAIRED_${mpi}}-${mpi})
        set_tests_properties(mpi.network.${program}.${mpi} PROPERTIES TIMEOUT 600
                             LABELS "mpi;mpi-programs" PROCESSORS 2
                             ENVIRONMENT "SENNIT_NETWORK=latency:50,bandwidth:1000;SENNIT_DOORBELLS=off")
    endforeach()
endforeach()

# The same where two ranks with two threads each own a core and lend it; doorbells even where there are
# more.
foreach(program point_to_point waits collectives tampi continued_tasks)
    foreach(mpi ${SENNIT_MPIS})
        sennit_run(run ${mpi} 2 2)
        add_test(NAME mpi.lending.${program}.${mpi}
                 COMMAND ${run} ${CMAKE_CURRENT_BINARY_DIR}/${program}-${SENNIT_PAIRED_${mpi}}-${mpi})
        set_tests_properties(mpi.lending.${program}.${mpi} PROPERTIES TIMEOUT 600
                             LABELS "mpi;mpi-programs" PROCESSORS 2
                             ENVIRONMENT "SENNIT_LENDING=on;SENNIT_DOORBELLS=on")
    endforeach()
endforeach()

foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(lending-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fopenmp -I${CMAKE_SOURCE_DIR}/include
                       SOURCES lending.c LIBS -ldl DEPENDS check.h ${CMAKE_SOURCE_DIR}/include/sennit.h)
    foreach(way together apart)
        if(SENNIT_SANITIZE)
            continue()
        endif()
        set(arguments)
        if(way STREQUAL apart)
            set(arguments apart)
        endif()
        add_test(NAME mpi.lending.constant.${way}.${mpi}
                 COMMAND $<TARGET_FILE:sennit> run -n 2 --threads 2 ${output} ${arguments})
        set_tests_properties(mpi.lending.constant.${way}.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                             ENVIRONMENT "SENNIT_LENDING=on;SENNIT_DOORBELLS=on")
    endforeach()
endforeach()

# The same with more threads than workers: what a thread waits for in MPI parks it, and its worker begins
# the next one. Left out are programs with thread-local data, those that count threads or kernel threads,
# and those without regions.
foreach(program point_to_point persistent waits collectives neighbors requests communicators one_sided files
                file_collectives errors nonblocking tampi detached callbacks continuations continued_tasks
                outside polling operations objects fortran3 tampi_fortran3 fortran_messages3
                fortran_collectives3)
    foreach(mpi ${SENNIT_MPIS})
        foreach(compiler ${SENNIT_COMPILERS})
            set(name mpi.${program}.${compiler}.${mpi}.n2t2)
            if(NOT TEST ${name} OR SENNIT_SANITIZE)
                continue()
            endif()
            set(name mpi.split.${program}.${compiler}.${mpi})
            add_test(NAME ${name}
                     COMMAND $<TARGET_FILE:sennit> run -n 2 --threads 2 --split 4
                             ${CMAKE_CURRENT_BINARY_DIR}/${program}-${compiler}-${mpi})
            set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2)
        endforeach()
    endforeach()
endforeach()

# What each fault does; bad values cost one line.
foreach(mpi ${SENNIT_MPIS})
    string(TOUPPER ${mpi} MPI)
    sennit_mpi_program(chaos-${mpi} COMPILE ${SENNIT_${MPI}_CC} ${c_flags} -fopenmp -I${CMAKE_SOURCE_DIR}/include
                       SOURCES chaos.c LIBS $<TARGET_FILE:sennit-${mpi}>
                       DEPENDS check.h ${CMAKE_SOURCE_DIR}/include/TAMPI.h sennit-${mpi})
    function(sennit_chaos_test name environment)
        add_test(NAME mpi.chaos.${name}.${mpi}
                 COMMAND $<TARGET_FILE:sennit> run -n 2 --threads 2 ${output} ${ARGN})
        set_tests_properties(mpi.chaos.${name}.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                             ENVIRONMENT SENNIT_CHAOS=${environment})
        sennit_virtual_tests(mpi.chaos.${name}.${mpi}
                             COMMAND $<TARGET_FILE:sennit> run -n 2 --threads 2 ${output} ${ARGN})
    endfunction()
    foreach(seed 1 2 3)
        sennit_chaos_test(late.seed${seed} seed:${seed},latency:20000,order late 20000)
        sennit_chaos_test(fail.seed${seed} seed:${seed},fail:5 fail)
        sennit_chaos_test(short.seed${seed} seed:${seed},short:4 short)
    endforeach()
    foreach(bad latency:5 seed:x seed:1,latency:-1 seed:1,fail:0 seed:1,orders seed:1,)
        string(REPLACE ":" "_" name ${bad})
        add_test(NAME mpi.chaos.bad.${name}.${mpi}
                 COMMAND $<TARGET_FILE:sennit> run -n 1 --threads 1
                         ${CMAKE_CURRENT_BINARY_DIR}/outside-${SENNIT_PAIRED_${mpi}}-${mpi})
        set_tests_properties(
            mpi.chaos.bad.${name}.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi
            ENVIRONMENT SENNIT_CHAOS=${bad}
            PASS_REGULAR_EXPRESSION "sennit: SENNIT_CHAOS='${bad}': .* going on without chaos")
    endforeach()
endforeach()

# Some ranks call collectives in tasks and others outside of any: all of them are non-blocking then.
if(NOT SENNIT_SANITIZE)
    foreach(mpi ${SENNIT_MPIS})
        foreach(shape 2x2 4x1)
            string(REPLACE "x" ";" split ${shape})
            list(GET split 0 ranks)
            list(GET split 1 threads)
            set(name mpi.collectives_inside_and_outside.${mpi}.n${ranks}t${threads})
            add_test(NAME ${name}
                     COMMAND $<TARGET_FILE:sennit> run -n ${ranks} --threads ${threads}
                             ${CMAKE_CURRENT_BINARY_DIR}/some_ranks_tasks-${SENNIT_PAIRED_${mpi}}-${mpi} inside)
            set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
                                 ENVIRONMENT SENNIT_COLLECTIVES=nonblocking)
        endforeach()
    endforeach()
endif()

# A policy that needs all ranks, on one of them: a line and an end, no hang in MPI_Init.
if(NOT SENNIT_SANITIZE)
    foreach(mpi ${SENNIT_MPIS})
        set(one "test 0 = \"\${PMI_RANK:-$OMPI_COMM_WORLD_RANK}\" && SENNIT_POLICY=global exec \"$0\" || exec \"$0\"")
        add_test(NAME mpi.some_ranks.${mpi}
                 COMMAND $<TARGET_FILE:sennit> run -n 2 --threads 1 --mpi ${mpi} sh -c ${one}
                         ${CMAKE_CURRENT_BINARY_DIR}/outside-${SENNIT_PAIRED_${mpi}}-${mpi})
        set_tests_properties(
            mpi.some_ranks.${mpi} PROPERTIES TIMEOUT 600 LABELS mpi PROCESSORS 2
            PASS_REGULAR_EXPRESSION "waits in MPI_Init for ranks without SENNIT_POLICY=global")
    endforeach()
endif()

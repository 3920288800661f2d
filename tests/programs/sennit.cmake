# SPDX-License-Identifier: Apache-2.0
# What only Sennit does; and programs that end, fork or fail in ways that stock runtimes do not survive.
foreach(split 2 4 8)
    omp_program(sennit_split.c AS ${split} THREADS 1 2 4 ENV SENNIT_SPLIT=${split} LIBS -lm)
endforeach()
omp_program(sennit_split.c AS auto THREADS 2 4 ENV SENNIT_SPLIT=auto LIBS -lm)
omp_program(sennit_split_loops.c AS auto THREADS 2 4 ENV SENNIT_SPLIT=auto OMP_SCHEDULE=guided,3)
omp_program(sennit_split_taskloop.c AS auto THREADS 2 ENV SENNIT_SPLIT=auto)
omp_program(sennit_yield_beside_others.c THREADS 2 LIBS -rdynamic)
# Threads that spin on each other: no hang, and a line says which.
omp_program(sennit_split_spins.c AS 4 THREADS 2 ENV SENNIT_SPLIT=4)
foreach(compiler ${compilers})
    omp_test(omp.sennit_split_spins.says.${compiler} ${programs_dir}/${compiler}/sennit_split_spins 2
             ENV SENNIT_SPLIT=4)
    set_tests_properties(omp.sennit_split_spins.says.${compiler} PROPERTIES PASS_REGULAR_EXPRESSION
        "^sennit: SENNIT_SPLIT=4: threads of ring[^\n]* wait for each other by spinning, [^\n]*\n$")
endforeach()
# Threads on one worker have no thread-local data of their own: refused, in one line.
foreach(source parallel_threadprivate.c fortran_threadprivate.f90)
    omp_program(${source} AS split THREADS 2 ENV SENNIT_SPLIT=4)
    cmake_path(GET source STEM program)
    foreach(compiler ${compilers})
        if(TEST omp.${program}.split.${compiler}.t2 AND NOT "${compiler}${source}" MATCHES "^clang.*f90$")
            omp_test(omp.${program}.refused.${compiler} ${programs_dir}/${compiler}/${program} 2
                     ENV SENNIT_SPLIT=4)
            set_tests_properties(omp.${program}.refused.${compiler} PROPERTIES PASS_REGULAR_EXPRESSION
                "SENNIT_SPLIT=4: .* has thread-local data, .* going on with 1")
        endif()
    endforeach()
endforeach()
# A program that binds its threads itself: they are bound as it says, and a line says why splitting ends.
omp_program(sennit_split_bound.c THREADS 2 4 LIBS -lpthread)
foreach(split 4 auto)
    omp_program(sennit_split_bound.c AS ${split} THREADS 2 4 ENV SENNIT_SPLIT=${split} LIBS -lpthread)
endforeach()
foreach(compiler ${compilers})
    omp_test(omp.sennit_split_bound.says.${compiler} ${programs_dir}/${compiler}/sennit_split_bound 2
             ENV SENNIT_SPLIT=4)
    set_tests_properties(omp.sennit_split_bound.says.${compiler} PROPERTIES PASS_REGULAR_EXPRESSION
        "^sennit: SENNIT_SPLIT=4: the program binds its threads [^\n]*\n$")
endforeach()
# They are not lost when splitting ends.
omp_program(sennit_split_spins_kept.c ONLY clang AS 4 THREADS 2 ENV SENNIT_SPLIT=4 LIBS -fnoopenmp-use-tls)
# Threadprivate variables that the runtime keeps are the threads' own under a split, too.
set(kept threadprivate_regions threadprivate_objects threadprivate_paused_objects fortran_threadprivate_regions)
set(printing)
foreach(program ${kept})
    if(TEST omp.${program}.clang.t2)
        foreach(split 2 4 8)
            foreach(threads 1 2 4)
                omp_test(omp.split.${program}.${split}.clang.t${threads} ${programs_dir}/clang/${program}
                         ${threads} ENV SENNIT_SPLIT=${split})
            endforeach()
        endforeach()
        if(TARGET sennit-omp-checked)
            checked_test(omp.split.${program}.clang.t2 ${programs_dir}/clang/${program} 2 ENV SENNIT_SPLIT=4)
        endif()
        if(NOT program MATCHES "objects$")
            list(APPEND printing ${programs_dir}/clang/${program})
        endif()
    endif()
endforeach()
if(printing AND NOT SENNIT_SANITIZE)
    add_test(NAME omp.split_oracle
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/split_oracle.py
                     --lib ${CMAKE_BINARY_DIR}/lib/omp ${printing})
    set_tests_properties(omp.split_oracle PROPERTIES TIMEOUT ${test_timeout} LABELS "programs;quick")
endif()
# A balanced loop is cut no more. The trace of the running program says so.
foreach(compiler ${compilers})
    build_program(sennit_split_balanced.c ${compiler})
    if(NOT SENNIT_SANITIZE AND TARGET sennit)
        add_test(NAME omp.split_balanced.${compiler}
                 COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/split_balanced.py
                         --sennit $<TARGET_FILE:sennit> --format ${CMAKE_SOURCE_DIR}/src/tasks/trace/format.h
                         ${programs_dir}/${compiler}/sennit_split_balanced)
        set_tests_properties(omp.split_balanced.${compiler} PROPERTIES TIMEOUT ${test_timeout} LABELS "programs;quick")
    endif()
endforeach()
# Under a split, what is legal with so many threads passes as ever. Left out are programs that count on
# the environment's number itself, on places, or on a number of stacks, those with thread-local data, and
# loop_edges_*, whose threads run ahead of each other by thousands of loops: they pass, but slowly.
foreach(source cancel.c cancel_next.c cancel_objects.cpp doacross.c for_lastprivate.c for_nowait.c for_ordered.c
        for_schedules.c master_masked.c parallel_clauses.c
        parallel_nested.c sections.c single.c barrier.c critical.c locks.c locks_in_tasks.c
        reduction_arrays.c reduction_scan.c reduction_user_defined.cpp task_clauses.c
        task_depend_random_graph.c task_detach.c task_exceptions.cpp task_reduction.c
        task_reduction_modifier.c taskgroup.c taskloop_reduction.c taskwait.c taskyield.c
        sennit_pthread_locks.c sennit_suspend.c sennit_waits.c fortran_worksharing.f90)
    cmake_path(GET source STEM program)
    foreach(compiler ${compilers})
        if(TEST omp.${program}.${compiler}.t2)
            set(environment SENNIT_SPLIT=4)
            if(program MATCHES "^cancel")
                list(APPEND environment OMP_CANCELLATION=true)
            endif()
            omp_test(omp.split.${program}.${compiler} ${programs_dir}/${compiler}/${program} 2
                     ENV ${environment})
        endif()
    endforeach()
endforeach()
omp_program(sennit_alpi.c LIBS -lpthread)
omp_program(sennit_events.c LIBS -lpthread)
omp_program(sennit_exceptions.cpp)
omp_program(sennit_exceptions_static.cpp LIBS -static-libstdc++ -static-libgcc)
omp_program(sennit_fp_control.c LIBS -lm)
omp_program(sennit_is_loaded.c)
omp_program(sennit_locks.c)
omp_program(sennit_mutexinoutset.c)
foreach(policy sa fa)
    omp_program(sennit_mutexinoutset.c AS ${policy} THREADS 1 2
                ENV SENNIT_POLICY=${policy} OMP_MAX_TASK_PRIORITY=10)
endforeach()
omp_program(sennit_first_region.c)
omp_program(sennit_nested_threads.c)
omp_program(sennit_poll.c)
omp_program(sennit_poll_moves.c THREADS 2)
omp_program(sennit_free_agents.c)
omp_program(sennit_pthread_ends.c LIBS -lpthread)
omp_program(sennit_spawn.c)
omp_program(sennit_suspend.c LIBS -lpthread)
omp_program(sennit_suspend_beside_yields.c LIBS -lpthread)
omp_program(sennit_next_is_seen.c ENV SENNIT_POLICY=fa)
omp_program(sennit_taskyield.c)
omp_program(sennit_taskyield_region.c)
omp_program(sennit_throttle.c)
omp_program(sennit_wait_ns.c)
omp_program(sennit_accounts.c)
omp_program(sennit_accounts.c AS sennit_accounts_split ENV SENNIT_SPLIT=4)
omp_program(sennit_work_time.c)
omp_program(sennit_waits.c)
if(NOT SENNIT_SANITIZE STREQUAL "tsan") # its own versions of libc's waits block the thread
    omp_program(sennit_outside_ends.c LIBS -lpthread)
    omp_program(sennit_once.cpp)
    omp_program(sennit_once.cpp AS static LIBS -static-libstdc++ -static-libgcc)
    omp_program(sennit_pthread_locks.c)
    omp_program(sennit_pthread_stress.cpp THREADS 1 2 5)
    omp_program(sennit_pthread_waits.c LIBS -lpthread)
endif()
if(NOT SENNIT_SANITIZE) # sanitizers have a memory, threads and a view of fork() of their own
    omp_program(sennit_stack_peak.c)
    omp_program(sennit_nested_in_suspended.c ONLY gcc THREADS 2) # of the runtime alone, and long
    omp_program(sennit_fork_locks.c LIBS -lpthread)
    omp_program(sennit_spawn_after_fork.c)
    omp_program(sennit_suspend_many.c)
    foreach(compiler ${compilers}) # past the guarded stacks (tasks/fiber/stack.h)
        omp_test(omp.sennit_suspend_60000.${compiler} ${programs_dir}/${compiler}/sennit_suspend_many 2
                 ARGUMENTS 60000)
        # Stacks of a gigabyte, which none of the tasks touches.
        omp_test(omp.sennit_suspend_huge.${compiler} sh 2
                 ARGUMENTS -c "ulimit -s 1000000 && exec \"$0\" 20000 || echo skipped: the limit cannot be raised"
                 ${programs_dir}/${compiler}/sennit_suspend_many)
    endforeach()
    omp_program(exit_in_region.c) # stock libgomp hangs, stock libomp crashes
    omp_program(fork_child_computes.c LIBS -lpthread) # stock libgomp hangs
    omp_program(pthread_destructors.c LIBS -lpthread) # stock libomp crashes
    omp_program(setjmp_in_task.c)
    omp_program(stacks_refused.c ENV OMP_STACKSIZE=8M)
    omp_program(threads_refused.c LIBS -lpthread -ldl) # stock runtimes give up
    list(APPEND common_flags -fPIC) # for what follows
    foreach(compiler ${compilers}) # stock libgomp crashes
        build_program(late_load_main.c ${compiler} -ldl -lpthread)
        build_program(late_load_part.c ${compiler} -shared)
        build_program(linked_library_main.c ${compiler} ${programs_dir}/${compiler}/late_load_part)
        foreach(threads 1 2 8)
            omp_test(omp.linked_library.${compiler}.t${threads} ${programs_dir}/${compiler}/linked_library_main
                     ${threads})
            omp_test(omp.late_load.${compiler}.t${threads} ${programs_dir}/${compiler}/late_load_main
                     ${threads} ARGUMENTS ${programs_dir}/${compiler}/late_load_part)
        endforeach()
    endforeach()
    # Sennit's library under its own name, in front of programs that it is not loaded for.
    set(preload LD_PRELOAD=${CMAKE_BINARY_DIR}/lib/libsennit-omp.so)
    set(sees.gcc "2 threads, 2 in a region, schedule 2")
    set(sees.clang "5 threads, 5 in a region, schedule 1")
    foreach(compiler ${compilers})
        set(part ${programs_dir}/${compiler}/late_environment_part)
        build_program(late_environment_part.c ${compiler} -shared)
        build_program(late_environment_main.c ${compiler} -ldl)
        build_program(preloaded_main.c ${compiler} ${part})
        omp_test(omp.late_environment.${compiler} ${programs_dir}/${compiler}/late_environment_main 2
                 ARGUMENTS ${part})
        omp_test(omp.late_environment.preloaded.${compiler} ${programs_dir}/${compiler}/late_environment_main 2
                 ARGUMENTS ${part} ENV ${preload})
        omp_test(omp.preloaded.${compiler} ${programs_dir}/${compiler}/preloaded_main 2
                 ENV ${preload} "WANTED=${sees.${compiler}}")
        # The stock runtime is loaded, too. The loader starts Sennit's library after those that need it.
        omp_test(omp.preloaded.stock.${compiler} ${programs_dir}/${compiler}/preloaded_main 2
                 ENV LD_LIBRARY_PATH= ${preload} "WANTED=${sees.${compiler}}")
        omp_test(omp.preloaded.constructor.${compiler} ${programs_dir}/${compiler}/linked_library_main 2
                 ENV LD_LIBRARY_PATH= ${preload})
    endforeach()
    # Threads that are split, until a library with thread-local data is opened.
    build_program(thread_local_part.c gcc -shared)
    build_program(plain_part.c gcc -shared)
    foreach(compiler ${compilers})
        build_program(sennit_split_opened.c ${compiler} -ldl)
        foreach(test split_opened split_opened.says)
            omp_test(omp.sennit_${test}.${compiler} ${programs_dir}/${compiler}/sennit_split_opened 2
                     ARGUMENTS ${programs_dir}/gcc/plain_part ${programs_dir}/gcc/thread_local_part
                     ENV SENNIT_SPLIT=4)
        endforeach()
        set_tests_properties(omp.sennit_split_opened.says.${compiler} PROPERTIES PASS_REGULAR_EXPRESSION
            "^sennit: SENNIT_SPLIT=4: [^\n]*/thread_local_part has thread-local data, [^\n]* going on with 1\n$")
    endforeach()
    build_program(nested_function_part.c gcc -shared)
    foreach(compiler ${compilers})
        build_program(sennit_nested_function_opened.c ${compiler})
        foreach(tasks 100 20000) # past the guarded stacks (tasks/fiber/stack.h)
            omp_test(omp.sennit_nested_function_opened.${compiler}.${tasks}
                     ${programs_dir}/${compiler}/sennit_nested_function_opened 2
                     ARGUMENTS ${programs_dir}/gcc/nested_function_part ${tasks})
        endforeach()
    endforeach()
endif()

# Programs that are built with a sanitizer, on a library that is not: it hears of the fibers all the same.
# Else AddressSanitizer warns where an exception leaves a frame. What ThreadSanitizer reports is not judged:
# it does not see how the library hands tasks on.
foreach(compiler ${compilers})
    foreach(sanitizer address thread)
        sennit_has_sanitizer(can ${compiler} ${sanitizer})
        if(NOT can)
            continue()
        endif()
        foreach(source sennit_exceptions.cpp sennit_suspend.c task_rethrow.cpp)
            cmake_path(GET source STEM program)
            cmake_path(GET source EXTENSION LAST_ONLY extension)
            string(SUBSTRING ${extension} 1 -1 language)
            string(REPLACE cpp cxx flags ${language})
            set(output ${programs_dir}/${compiler}/${program}.${sanitizer})
            list(APPEND built ${output})
            add_custom_command(
                OUTPUT ${output}
                COMMAND ${CMAKE_COMMAND} -E make_directory ${programs_dir}/${compiler}
                COMMAND ${${compiler}_${language}} -O1 -g ${${flags}_flags} ${${compiler}_flags} -fsanitize=${sanitizer}
                        ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${output} -lpthread
                DEPENDS ${source} check.h sennit_door.h soon.h ${CMAKE_SOURCE_DIR}/include/sennit.h
                COMMENT "${compiler}: ${source}, ${sanitizer} sanitizer" VERBATIM)
            omp_test(omp.${program}.${sanitizer}_sanitizer.${compiler} ${output} 2
                     ENV ASAN_OPTIONS=detect_stack_use_after_return=1 TSAN_OPTIONS=report_bugs=0)
            set_tests_properties(omp.${program}.${sanitizer}_sanitizer.${compiler} PROPERTIES
                                 FAIL_REGULAR_EXPRESSION "Sanitizer|ASan")
        endforeach()
    endforeach()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# Policies, and the marks that they read.
omp_program(policy_marks.c ONLY gcc # its asm names the function that gcc makes of a task
            THREADS 1 ENV SENNIT_POLICY=fa)
omp_program(policy_marks_elsewhere.c ONLY gcc # clang calls nothing that is weak and undefined
            THREADS 1 ENV SENNIT_POLICY=fa)

# A machine of two processors, each a socket and NUMA domain of its own.
set(two_domains ${CMAKE_CURRENT_BINARY_DIR}/two-domains)
file(WRITE ${two_domains}/cpu/online "0-1\n")
file(WRITE ${two_domains}/node/online "0-1\n")
foreach(number 0 1)
    file(WRITE ${two_domains}/cpu/cpu${number}/topology/thread_siblings_list "${number}\n")
    file(WRITE ${two_domains}/cpu/cpu${number}/topology/core_siblings_list "${number}\n")
    file(WRITE ${two_domains}/node/node${number}/cpulist "${number}\n")
endforeach()
set(near_queues SENNIT_SYSTEM_FILES=${two_domains} OMP_PROC_BIND=true)

# Policies: one thread, so that the order is exact; and programs that do not care about it.
foreach(compiler ${compilers})
    build_program(policy_domains.c ${compiler})
    omp_test(omp.policy_domains.${compiler}.one ${programs_dir}/${compiler}/policy_domains 2
             ENV SENNIT_POLICY=fifo OMP_PROC_BIND=true ARGUMENTS one)
    omp_test(omp.policy_domains.${compiler}.near ${programs_dir}/${compiler}/policy_domains 2
             ENV SENNIT_POLICY=fifo ${near_queues} ARGUMENTS near)
    build_program(policy_order.c ${compiler})
    foreach(policy fifo lifo ma1 ma2 ma3 sa fa)
        omp_test(omp.policy_order.${compiler}.${policy} ${programs_dir}/${compiler}/policy_order 1
                 ENV SENNIT_POLICY=${policy})
    endforeach()
    build_program(sennit_release_order.c ${compiler})
    foreach(policy fifo lifo steal)
        omp_test(omp.sennit_release_order.${compiler}.${policy}
                 ${programs_dir}/${compiler}/sennit_release_order 2 ENV SENNIT_POLICY=${policy})
    endforeach()
    foreach(program task_depend_random_graph task_depend_mutexinoutset task_detach
            task_detach_undeferred task_exceptions task_objects taskgroup taskloop_reduction taskwait
            sennit_suspend sennit_taskyield nqueens)
        foreach(policy lifo sa fa)
            omp_test(omp.policy_${policy}.${program}.${compiler} ${programs_dir}/${compiler}/${program}
                     4 ENV SENNIT_POLICY=${policy})
        endforeach()
        omp_test(omp.policy_domains.${program}.${compiler} ${programs_dir}/${compiler}/${program} 4
                 ENV SENNIT_POLICY=fa ${near_queues})
    endforeach()
endforeach()

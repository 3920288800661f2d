# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` makes. It may be moved anywhere: the command finds its libraries from where
# it lies, pkg-config's files theirs (tools/sennit/common/installation.cpp).
#
#     bin/sennit                        the command
#     lib/sennit/                       libraries; omp/ has links under the stock runtimes' names
#     lib/pkgconfig/                    sennit.pc, sennit-mpich.pc, sennit-balance-mpich.pc, ...
#     include/sennit/  share/sennit/  share/doc/sennit/
#     share/man/man7/sennit-options.7   the environment variables
set(libraries sennit-omp sennit-export sennit-session)
foreach(mpi ${SENNIT_MPIS} mpiabi)
    foreach(target sennit-${mpi} sennit-network-${mpi} sennit-balance-${mpi})
        if(TARGET ${target})
            list(APPEND libraries ${target})
        endif()
    endforeach()
endforeach()
install(TARGETS sennit RUNTIME DESTINATION bin)
install(TARGETS sennit-simulate RUNTIME DESTINATION lib/sennit)
if(TARGET sennit-loader)
    install(TARGETS sennit-loader sennit-stub sennit-python RUNTIME DESTINATION lib/sennit)
    install(TARGETS sennit-rank LIBRARY DESTINATION lib/sennit)
endif()
install(TARGETS ${libraries} LIBRARY DESTINATION lib/sennit)
install(TARGETS sennit-dlb LIBRARY DESTINATION lib/sennit/dlb)
if(TARGET sennit-pass)
    install(TARGETS sennit-pass-plugin LIBRARY DESTINATION lib/sennit)
    install(TARGETS sennit-pass ARCHIVE DESTINATION lib/sennit)
endif()
if(TARGET sennit-simgrid)
    install(TARGETS sennit-simgrid RUNTIME DESTINATION lib/sennit)
endif()
install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/omp DESTINATION lib/sennit)
install(DIRECTORY include/ DESTINATION include/sennit FILES_MATCHING PATTERN *.h PATTERN *.f90)
install(FILES ${CMAKE_BINARY_DIR}/share/sennit/gdb/sennit.py DESTINATION share/sennit/gdb)
install(FILES LICENSE README.md DESTINATION share/doc/sennit)
install(DIRECTORY docs DESTINATION share/doc/sennit)
set(manual ${CMAKE_BINARY_DIR}/sennit-options.7)
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:sennit>\" doctor --options=man OUTPUT_FILE \"${manual}\"
                              COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${manual} DESTINATION share/man/man7)

# sennit.pc has the headers and the runtime; one for each MPI has TAMPI, MPIX and continuations.
function(sennit_install_pc name library requires description)
    set(file ${CMAKE_BINARY_DIR}/pkgconfig/${name}.pc)
    file(WRITE ${file}
"prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib/sennit
includedir=\${prefix}/include/sennit

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -I\${includedir}
Libs: -L\${libdir} -l${library}
${ARGN}")
    install(FILES ${file} DESTINATION lib/pkgconfig)
endfunction()
sennit_install_pc(sennit sennit-omp "" "OpenMP runtime whose tasks may be suspended: sennit.h, alpi.h")
sennit_install_pc(sennit-export sennit-export "" "Memory that virtual ranks show each other: sennit_export.h")
foreach(mpi ${SENNIT_MPIS})
    sennit_install_pc(sennit-${mpi} sennit-${mpi} ""
        "TAMPI, MPIX_Detach and MPIX_Continue for ${mpi}; link it in front of MPI")
    sennit_install_pc(sennit-balance-${mpi} sennit-balance-${mpi} ""
        "Objects that move between the ranks of an MPI program, for ${mpi}: sennit_balance.h"
        "fortran=\${includedir}/sennit_objects.f90\n")
endforeach()

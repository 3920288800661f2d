# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` makes. It may be moved anywhere: the command finds its libraries from where
# it lies, pkg-config's files theirs (tools/sennit/common/installation.cpp).
#
#     bin/sennit                        the command
#     lib/sennit/                       libraries; omp/ has links under the stock runtimes' names, shims/ the command
#                                       under launchers' names (tools/sennit/launch/shims.h)
#     lib/pkgconfig/                    sennit.pc, sennit-mpich.pc, sennit-balance-mpich.pc, ...
#     lib/cmake/Sennit/                 find_package(Sennit)
#     include/sennit/  share/sennit/  share/doc/sennit/
#     share/man/                        sennit(1), a page for each command, and sennit-options(7), the environment
#                                       variables, which sennit(7) is another name for
#     share/bash-completion/  share/zsh/  share/fish/   completions
#     share/sennit/modulefiles/         for Environment Modules and Lmod
#
# `cmake --install --strip` makes it small. What a debugger needs is beside each file then, in a folder .debug, if the
# build has it. The target `uninstall` removes what was installed last.
set(programs sennit) # in bin/
set(libraries sennit-omp sennit-export sennit-session sennit-cuda sennit-hip)
set(helpers sennit-simulate) # programs in lib/sennit/
foreach(mpi ${SENNIT_MPIS} mpiabi)
    foreach(target sennit-${mpi} sennit-network-${mpi} sennit-worlds-${mpi} sennit-balance-${mpi})
        if(TARGET ${target})
            list(APPEND libraries ${target})
        endif()
    endforeach()
endforeach()
if(TARGET sennit-loader)
    list(APPEND helpers sennit-loader sennit-stub sennit-python)
    list(APPEND libraries sennit-rank)
endif()
if(TARGET sennit-pass)
    list(APPEND libraries sennit-pass-plugin)
    install(TARGETS sennit-pass ARCHIVE DESTINATION lib/sennit)
endif()
install(TARGETS ${programs} RUNTIME DESTINATION bin)
install(TARGETS ${helpers} RUNTIME DESTINATION lib/sennit)
install(TARGETS ${libraries} LIBRARY DESTINATION lib/sennit)
install(TARGETS sennit-dlb LIBRARY DESTINATION lib/sennit/dlb)
set(installed ${programs} ${libraries} ${helpers} sennit-dlb)
# They need SimGrid's library, and libotf2, so a package for other machines is made without these components.
foreach(name simgrid otf2)
    if(TARGET sennit-${name})
        install(TARGETS sennit-${name} RUNTIME DESTINATION lib/sennit COMPONENT ${name})
    endif()
endforeach()
install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/omp DESTINATION lib/sennit)
install(DIRECTORY include/ DESTINATION include/sennit FILES_MATCHING PATTERN *.h PATTERN *.f90)
install(FILES ${CMAKE_BINARY_DIR}/share/sennit/gdb/sennit.py DESTINATION share/sennit/gdb)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/sennit)
install(DIRECTORY docs DESTINATION share/doc/sennit)
foreach(shim mpiexec mpirun srun)
    install(CODE "file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/sennit/shims\")
set(shim \"\${CMAKE_INSTALL_PREFIX}/lib/sennit/shims/${shim}\")
file(CREATE_LINK ../../../bin/sennit \"\$ENV{DESTDIR}\${shim}\" SYMBOLIC)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${shim}\")")
endforeach()
foreach(module sennit sennit-launchers)
    install(FILES packaging/modulefiles/${module} DESTINATION share/sennit/modulefiles/${module} RENAME ${PROJECT_VERSION})
endforeach()

# What the command says of itself, from the tables that it reads: words that it is called with, a file and its folder.
set(texts "doctor,--options=man|sennit-options.7|man/man7" "describe,man|sennit.1|man/man1"
          "describe,bash|sennit|bash-completion/completions" "describe,zsh|_sennit|zsh/site-functions"
          "describe,fish|sennit.fish|fish/vendor_completions.d")
foreach(command run python exec pool top doctor simulate report advise bench cc describe)
    list(APPEND texts "describe,man,${command}|sennit-${command}.1|man/man1")
endforeach()
foreach(text ${texts})
    string(REPLACE "|" ";" text ${text})
    list(POP_BACK text folder name)
    string(REPLACE "," "\" \"" words ${text})
    set(file ${CMAKE_BINARY_DIR}/described/${name})
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:sennit>\" \"${words}\" OUTPUT_FILE \"${file}\"
                                  COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES ${file} DESTINATION share/${folder})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/described)
file(WRITE ${CMAKE_BINARY_DIR}/described/sennit.7 ".so man7/sennit-options.7\n")
install(FILES ${CMAKE_BINARY_DIR}/described/sennit.7 DESTINATION share/man/man7)

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

# find_package(Sennit): the same libraries as targets.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/SennitConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/SennitConfig.cmake ${CMAKE_BINARY_DIR}/SennitConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/SennitMpiKind.cmake ${CMAKE_CURRENT_LIST_DIR}/mpi_kind.c
        DESTINATION lib/cmake/Sennit)

# What a debugger needs of a file that was stripped. Installing it again would be in vain: the file in the build has it.
set(places)
foreach(target ${installed})
    list(APPEND places "$<TARGET_FILE:${target}>")
endforeach()
install(CODE "
if(CMAKE_INSTALL_DO_STRIP AND CMAKE_INSTALL_CONFIG_NAME MATCHES \"Deb\")
    set(SENNIT_BUILT \"${places}\")
    set(SENNIT_OBJCOPY \"${CMAKE_OBJCOPY}\")
    include(\"${CMAKE_CURRENT_LIST_DIR}/SennitDebugSymbols.cmake\")
endif()")

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_LIST_DIR}/SennitUninstall.cmake
                  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
# What `cmake --install` needs, for builds that have more.
add_custom_target(installation DEPENDS ${installed})
foreach(target sennit-pass sennit-simgrid sennit-otf2)
    if(TARGET ${target})
        add_dependencies(installation ${target})
    endif()
endforeach()

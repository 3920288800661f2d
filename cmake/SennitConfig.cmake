# SPDX-License-Identifier: Apache-2.0
# find_package(Sennit): an installation's libraries as targets.
#
#     Sennit::sennit                    sennit.h, alpi.h
#     Sennit::export                    sennit_export.h
#     Sennit::mpich  Sennit::openmpi    TAMPI, MPIX_Detach, MPIX_Continue for that MPI
#     Sennit::tampi  Sennit::detach  Sennit::continue    the same for the MPI of the project; link it in front of MPI
#     Sennit::objects                   sennit_balance.h, for the MPI of the project
#
# The MPI of the project is Sennit_MPI (mpich, openmpi or mpiabi), else that of MPI_C_COMPILER (find_package(MPI)
# sets it), of CMAKE_C_COMPILER, or the only one that Sennit is installed for.
include(${CMAKE_CURRENT_LIST_DIR}/SennitMpiKind.cmake)
get_filename_component(Sennit_HOME ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)

function(sennit_import target library)
    set(file ${Sennit_HOME}/lib/sennit/lib${library}.so)
    if(TARGET Sennit::${target} OR NOT EXISTS ${file})
        return()
    endif()
    add_library(Sennit::${target} SHARED IMPORTED GLOBAL)
    set_target_properties(Sennit::${target} PROPERTIES IMPORTED_LOCATION ${file}
                          INTERFACE_INCLUDE_DIRECTORIES ${Sennit_HOME}/include/sennit)
endfunction()
sennit_import(sennit sennit-omp)
sennit_import(export sennit-export)
set(sennit_kinds)
foreach(kind mpich openmpi mpiabi)
    sennit_import(${kind} sennit-${kind})
    if(TARGET Sennit::${kind})
        list(APPEND sennit_kinds ${kind})
    endif()
endforeach()

if(NOT Sennit_MPI)
    foreach(wrapper ${MPI_C_COMPILER} ${CMAKE_C_COMPILER})
        if(NOT Sennit_MPI)
            sennit_mpi_kind(${wrapper} Sennit_MPI unused)
        endif()
    endforeach()
    list(LENGTH sennit_kinds length)
    if(NOT Sennit_MPI AND length EQUAL 1)
        set(Sennit_MPI ${sennit_kinds})
    endif()
endif()
if(Sennit_MPI AND TARGET Sennit::${Sennit_MPI})
    foreach(target tampi detach continue)
        sennit_import(${target} sennit-${Sennit_MPI})
    endforeach()
    sennit_import(objects sennit-balance-${Sennit_MPI})
endif()

foreach(component ${Sennit_FIND_COMPONENTS})
    if(TARGET Sennit::${component})
        set(Sennit_${component}_FOUND TRUE)
    elseif(Sennit_FIND_REQUIRED_${component})
        set(Sennit_FOUND FALSE)
        string(APPEND Sennit_NOT_FOUND_MESSAGE "Sennit has no '${component}' here (its MPIs: ${sennit_kinds}; \
the project's: '${Sennit_MPI}'). ")
    endif()
endforeach()
unset(sennit_kinds)

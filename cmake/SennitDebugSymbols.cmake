# SPDX-License-Identifier: Apache-2.0
# Run by `cmake --install --strip`: the debug symbols of each file that was stripped, from the same file in the build
# (SENNIT_BUILT), into a folder .debug beside it, where gdb looks.
foreach(built ${SENNIT_BUILT})
    cmake_path(GET built FILENAME name)
    foreach(stripped ${CMAKE_INSTALL_MANIFEST_FILES})
        cmake_path(GET stripped FILENAME other)
        cmake_path(RELATIVE_PATH stripped BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE inner)
        if(NOT name STREQUAL other OR inner MATCHES "/omp/[^/]+$|^share/")
            continue()
        endif()
        cmake_path(GET stripped PARENT_PATH folder)
        set(stripped $ENV{DESTDIR}${stripped})
        set(symbols $ENV{DESTDIR}${folder}/.debug/${name}.debug)
        file(MAKE_DIRECTORY $ENV{DESTDIR}${folder}/.debug)
        execute_process(COMMAND ${SENNIT_OBJCOPY} --only-keep-debug --compress-debug-sections ${built} ${symbols}
                        COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${SENNIT_OBJCOPY} --remove-section=.gnu_debuglink --add-gnu-debuglink=${symbols} ${stripped}
                        COMMAND_ERROR_IS_FATAL ANY)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${folder}/.debug/${name}.debug)
    endforeach()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# OUTPUT: a header with the text of the page in FOLDER as kPageTemplate: page.html, with the file NAME
# in the place of each line INCLUDE(NAME).
file(READ ${FOLDER}/page.html page)
while(page MATCHES "INCLUDE\\(([a-z.]+)\\)\n")
    set(line "${CMAKE_MATCH_0}")
    file(READ ${FOLDER}/${CMAKE_MATCH_1} part)
    string(REPLACE "${line}" "${part}" page "${page}")
endwhile()
file(WRITE ${OUTPUT} "// Made from ${FOLDER} by embed.cmake: do not edit.\n#pragma once\n\n"
     "constexpr char kPageTemplate[] = R\"SENNIT(${page})SENNIT\";\n")

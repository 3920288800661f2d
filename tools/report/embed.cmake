# SPDX-License-Identifier: Apache-2.0
# OUTPUT: a header with the text of INPUT as kPageTemplate.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "// Made from ${INPUT} by embed.cmake: do not edit.\n#pragma once\n\n"
     "inline constexpr char kPageTemplate[] = R\"SENNIT(${text})SENNIT\";\n")

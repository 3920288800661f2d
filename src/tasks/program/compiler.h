// SPDX-License-Identifier: Apache-2.0
// Which compiler has made some code of the program: where its front door cannot tell.
#pragma once

namespace sennit::program {

// GCC hands over omp_all_memory (OpenMP 5.1) as a null address, since version 13. Older code that
// hands over one means a pointer that is null. Is `code`, or the program itself (null), in an
// object of GCC 13 or later? Each compiler that has made a part of an object leaves its name in its
// .comment. True also where there is none: then a null is what GCC's newest runtime takes it for.
// Reads an object's file once. Any thread.
bool may_name_all_memory(const void *code);

} // namespace sennit::program

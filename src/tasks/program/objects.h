// SPDX-License-Identifier: Apache-2.0
// What the loaded objects of a program are: which compiler has made them, whether they keep data
// for each thread, and by which addresses they call each other.
#pragma once

#include "base/loaded_object.h"

#include <cstddef>

namespace sennit::program {

// Which compiler has made some code of the program: where its front door cannot tell.

// GCC hands over omp_all_memory (OpenMP 5.1) as a null address, since version 13. Older code that
// hands over one means a pointer that is null. Is `code`, or the program itself (null), in an
// object of GCC 13 or later? Each compiler that has made a part of an object leaves its name in its
// .comment. True also where there is none: then a null is what GCC's newest runtime takes it for.
// Reads an object's file once. Any thread.
bool may_name_all_memory(const void *code);

// Has the program data of its own for each kernel thread?

// Then true, and `whose` is the file. Looks at the program and its libraries, but not at those of
// the system and of MPI: what they keep for a thread does not outlast a call to them. Threadprivate
// variables are none where the compiler asks OpenMP's runtime for each thread's copy.
bool has_thread_local_data(char *whose, std::size_t size);

// By which address a loaded object calls functions of others: its slots in the global offset table;
// and by which others call its own: its table of symbols.

// From now on `object` calls target_of(symbol) where that is not null. Any thread may call through
// the slots meanwhile. Those that the loader has made read-only are written all the same.
void rebind(const LoadedObject &object, const void *(*target_of)(const char *symbol));

// From now on who looks for a function of `object` by its name, with dlsym or when another object
// is loaded, gets target_of(name) where that is not null: its table of symbols is written anew, in
// memory. Any thread may look meanwhile.
void stand_in_for(const LoadedObject &object, const void *(*target_of)(const char *function));

} // namespace sennit::program

// SPDX-License-Identifier: Apache-2.0
// By which address a loaded object calls functions of others: its slots in the global offset table;
// and by which others call its own: its table of symbols.
#pragma once

#include "base/loaded_object.h"

namespace sennit::program {

// From now on `object` calls target_of(symbol) where that is not null. Any thread may call through
// the slots meanwhile. Those that the loader has made read-only are written all the same.
void rebind(const LoadedObject &object, const void *(*target_of)(const char *symbol));

// From now on who looks for a function of `object` by its name, with dlsym or when another object
// is loaded, gets target_of(name) where that is not null: its table of symbols is written anew, in
// memory. Any thread may look meanwhile.
void stand_in_for(const LoadedObject &object, const void *(*target_of)(const char *function));

} // namespace sennit::program

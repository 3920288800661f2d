// SPDX-License-Identifier: Apache-2.0
// By which address a loaded object calls functions of others: its slots in the global offset table.
#pragma once

#include "base/loaded_object.h"

namespace sennit::program {

// From now on `object` calls target_of(symbol) where that is not null. Any thread may call through
// the slots meanwhile. Those that the loader has made read-only are written all the same.
void rebind(const LoadedObject &object, const void *(*target_of)(const char *symbol));

} // namespace sennit::program

// SPDX-License-Identifier: Apache-2.0
#include "tasks/program/thread_local.h"

#include "base/loaded_object.h"
#include "tasks/program/senders.h"

#include <cstdio>

namespace sennit::program {

bool has_thread_local_data(char *whose, std::size_t size) {
    return each_object([&](const LoadedObject &object) {
               if (!names().is_the_programs(object.path()) || !object.find(PT_TLS))
                   return 0;
               std::snprintf(whose, size, "%s", *object.path() ? object.path() : "the program");
               return 1;
           }) != 0;
}

} // namespace sennit::program

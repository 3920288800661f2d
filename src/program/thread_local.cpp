// SPDX-License-Identifier: Apache-2.0
#include "program/thread_local.h"

#include "base/loaded_object.h"
#include "program/names.h"

#include <cstdio>

namespace sennit::program {

const char *thread_local_data(char *whose, std::size_t size) {
    const char *what = nullptr;
    each_object([&](const LoadedObject &object) {
        if (!names().is_the_programs(object.path()))
            return 0;
        if (object.find(PT_TLS))
            what = "thread-local data";
        else if (DynamicSection(object).imports(names().makes_thread_data))
            what = "threadprivate variables";
        else
            return 0;
        std::snprintf(whose, size, "%s", *object.path() ? object.path() : "the program");
        return 1;
    });
    return what;
}

} // namespace sennit::program

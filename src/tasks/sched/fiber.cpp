// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/fiber.h"

#include "base/loaded_object.h"
#include "base/rank.h"

#include <cstring>
#include <dlfcn.h>

namespace sennit::sched {

bool may_bury(const Fiber &current) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto low = reinterpret_cast<std::uintptr_t>(current.context.stack_low);
    return here - low > current.context.stack_size / 4;
}

namespace {

constexpr const char *kName = "__cxa_get_globals";

// Does the program get its C++ runtime from a shared library?
bool needs_shared_runtime(const link_map &program) {
    return DynamicSection(program).needs([](const char *name) {
        return std::strncmp(name, "libstdc++.", 10) == 0 || std::strncmp(name, "libc++", 6) == 0;
    });
}

} // namespace

ExceptionGlobals find_exception_globals() {
    link_map *program = nullptr;
    if (void *self = dlopen(nullptr, RTLD_LAZY)) {
        dlinfo(self, RTLD_DI_LINKMAP, &program);
        dlclose(self);
    }
    // If the runtime was linked statically, the dynamic symbols do not name it.
    if (program && program->l_ld && !needs_shared_runtime(*program)) {
        ElfFile file(program_file());
        ElfW(Sym) symbol;
        const bool found = file.find_function(
            [](const char *name, const ElfW(Sym) &) { return std::strcmp(name, kName) == 0; },
            &symbol);
        file.close_file();
        if (found)
            return reinterpret_cast<ExceptionGlobals>(program->l_addr + symbol.st_value);
    }
    return reinterpret_cast<ExceptionGlobals>(dlsym(RTLD_DEFAULT, kName));
}

} // namespace sennit::sched

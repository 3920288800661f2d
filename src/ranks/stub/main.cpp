// SPDX-License-Identifier: Apache-2.0
// sennit-stub: `sennit exec --virtual` becomes it; people have no need to start it.
//
//   sennit-stub FOLDER MAPPINGS PROGRAM ARGV0 [ARGUMENT...]
//   sennit-stub --fiber FOLDER ..., the same: the rank is to be a fiber (src/ranks/fibers)
//
// It is linked without any library: what LD_PRELOAD and LD_LIBRARY_PATH say is for the rank.
#include "ranks/stub/line.h"
#include "ranks/stub/stub.h"

#include <elf.h>

namespace {

using namespace sennit::loader;
using namespace sennit::loader::stub;

// The path by which the kernel was asked for this program: it stands behind the environment.
const char *path_of_start(char **environment) {
    while (*environment)
        ++environment;
    const auto *entry = reinterpret_cast<const Elf64_auxv_t *>(environment + 1);
    while (entry->a_type != AT_EXECFN && entry->a_type != AT_NULL)
        ++entry;
    return entry->a_type == AT_EXECFN ? reinterpret_cast<const char *>(entry->a_un.a_val) : "";
}

int run_with(int count, char **words) {
    StubOptions options;
    options.environment = words + count + 1;
    options.fiber = count > 1 && equal(words[1], "--fiber");
    const int first = options.fiber ? 2 : 1;
    if (count < first + 4 || words[first + 2][0] != '/') {
        Line<128>("sennit: sennit-stub is started by `sennit run --virtual` and `sennit exec "
                  "--virtual`\n")
            .say();
        return 2;
    }
    options.folder = words[first];
    options.mappings = static_cast<unsigned>(number_of(words[first + 1]));
    options.own_path = path_of_start(options.environment);
    options.words = words + first + 2;
    return run(options);
}

} // namespace

extern "C" {

// `stack`: as the kernel lays it out.
[[noreturn, gnu::used]] void sennit_stub_begins(long *stack) {
    const int code = run_with(static_cast<int>(stack[0]), reinterpret_cast<char **>(stack + 1));
    for (;;)
        sennit::system_call(SYS_exit_group, code);
}

// Compilers may call these for what the code says in other words. The empty statements keep them
// from calling these here.
[[gnu::used]] void *memset(void *at, int value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        static_cast<char *>(at)[i] = static_cast<char>(value);
        asm volatile("" : : : "memory");
    }
    return at;
}
[[gnu::used]] void *memcpy(void *to, const void *from, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
        asm volatile("" : : : "memory");
    }
    return to;
}
}

#if defined(__x86_64__)
asm(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall "
    "sennit_stub_begins\n");
#elif defined(__aarch64__)
asm(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl "
    "sennit_stub_begins\n");
#endif

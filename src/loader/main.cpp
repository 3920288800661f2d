// SPDX-License-Identifier: Apache-2.0
// sennit-loader: many ranks in one address space, each with its own dynamic linker, libc, libraries
// and MPI. `sennit exec --virtual` becomes it; people have no need to start it.
//
//   sennit-loader --stub FOLDER MAPPINGS PROGRAM ARGV0 [ARGUMENT...]
//   sennit-loader --fiber-stub ..., the same: the rank is to be a fiber (src/virt)
//   sennit-loader --host FOLDER SPACE, with a listening socket as descriptor 3
//
// It is linked statically: what LD_PRELOAD and LD_LIBRARY_PATH say is for the ranks.
#include "loader/host.h"
#include "loader/stub.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace {

using namespace sennit::loader;

constexpr int kListener = 3;

int misused() {
    std::fprintf(stderr, "sennit: sennit-loader is started by `sennit run --virtual` and `sennit "
                         "exec --virtual`\n");
    return 2;
}

} // namespace

int main(int count, char **words) {
    if (count == 4 && std::strcmp(words[1], "--host") == 0) {
        fcntl(kListener, F_SETFD, FD_CLOEXEC);
        return run_host(words[2], std::atoi(words[3]), Descriptor(kListener));
    }
    const bool fiber = count > 1 && std::strcmp(words[1], "--fiber-stub") == 0;
    if (count < 6 || (std::strcmp(words[1], "--stub") != 0 && !fiber) || words[4][0] != '/')
        return misused();
    StubOptions options;
    options.fiber = fiber;
    options.folder = words[2];
    options.mappings = static_cast<std::uint32_t>(std::strtoul(words[3], nullptr, 10));
    options.program = words[4];
    options.arguments.assign(words + 5, words + count);
    return run_stub(options);
}

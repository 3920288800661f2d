// SPDX-License-Identifier: Apache-2.0
// sennit-loader: many ranks in one address space, each with its own dynamic linker, libc, libraries
// and MPI. sennit-stub starts it (stub/main.cpp); people have no need to.
//
//   sennit-loader --host FOLDER SPACE
//
// It is linked statically: what LD_PRELOAD and LD_LIBRARY_PATH say is for the ranks.
#include "ranks/loader/meeting.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int count, char **words) {
    if (count == 4 && std::strcmp(words[1], "--host") == 0)
        return sennit::loader::start_host(words[2], std::atoi(words[3]));
    std::fprintf(stderr, "sennit: sennit-loader is started by `sennit run --virtual` and `sennit "
                         "exec --virtual`\n");
    return 2;
}

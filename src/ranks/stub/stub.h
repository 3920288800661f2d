// SPDX-License-Identifier: Apache-2.0
// The process that a launcher starts in place of a rank. It hands all that it has got to the job's
// host on this node, and has sennit-loader start the host if there is none. It passes signals on,
// and ends as the rank does.
//
// There is one for each rank, so it is a small program without libc: a static libc asks the
// processor for its features first, which takes longer than all of the rest on a virtual machine,
// and writes to twenty pages.
#pragma once

#include "ranks/loader/rank_request.h"

namespace sennit::loader::stub {

struct StubOptions {
    const char *folder = nullptr; // where the job meets
    unsigned mappings = 0;
    bool fiber = false;             // the rank is to be a rank fiber (src/ranks/fibers)
    const char *own_path = nullptr; // as it was started: sennit-loader lies beside it
    char **words = nullptr;         // the program, its arguments, and null
    char **environment = nullptr;   // and null; its texts are behind those of the words in memory
};

// Returns the exit code, or ends by the signal that ended the rank.
int run(const StubOptions &options);

// A stub's request on its way to the host.

// `head` has their sizes; text: `head.text_size` bytes.
struct Outgoing {
    RequestHead head;
    const std::int32_t *numbers = nullptr; // of the descriptors, in the rank
    const int *descriptors = nullptr;      // here
    const char *affinity = nullptr;
    const char *text = nullptr;
};

// 0, or what the kernel says: mostly that the host is gone. ETOOMANYREFS: there are too many of
// this user's descriptors on their way between processes, and it has not become better in a minute.
int send(int socket, const Outgoing &request);

} // namespace sennit::loader::stub

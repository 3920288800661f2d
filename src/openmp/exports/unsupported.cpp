// SPDX-License-Identifier: Apache-2.0
// What the stubs of generate_stubs.py call.
#include "base/message.h"

extern "C" [[noreturn]] void sennit_unsupported(const char *symbol) {
    sennit::fatal(
        "%s is not supported by this version: the program uses an OpenMP feature that Sennit "
        "does not have yet (docs/status.md); run it on its own OpenMP runtime instead",
        symbol);
}

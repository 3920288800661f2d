// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/table.h"

#include <cstddef>
#include <string_view>
#include <strings.h>

namespace sennit::mpi {
namespace {

constexpr std::string_view kBlocking[] = {
#include "blocking-calls.inc" // generated
};

} // namespace

int is_blocking(const char *symbol) {
    symbol += *symbol == 'P' || *symbol == 'p';
    if (strncasecmp(symbol, "mpi_", 4) != 0)
        return 0;
    symbol += 4;
    // What follows the name is Fortran's: _, _f08_; or stands for large counts: _c.
    for (const std::string_view call : kBlocking)
        if (strncasecmp(symbol, call.data(), call.size()) == 0 &&
            (symbol[call.size()] == 0 || symbol[call.size()] == '_'))
            return 1;
    return 0;
}

} // namespace sennit::mpi

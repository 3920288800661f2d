// SPDX-License-Identifier: Apache-2.0
// Messages of accounts, for the library of objects that move (sennit.h).
#include "base/compiler.h"
#include "mpi/record/record.h"

using namespace sennit::mpi;

extern "C" {

SENNIT_EXPORT int sennit_traffic_watch(std::uint32_t account, int on) {
    return g_record.timeline.watch(account, on != 0);
}

SENNIT_EXPORT int sennit_traffic_take(std::uint32_t account,
                                      void (*visit)(void *arg, const sennit_traffic *row),
                                      void *arg) {
    return g_record.timeline.take(account, visit, arg);
}

SENNIT_EXPORT int sennit_traffic_except(const void *comm) {
    return comm ? g_record.timeline.leave_out(*static_cast<const MPI_Comm *>(comm))
                : SENNIT_ERR_PARAMETER;
}

} // extern "C"

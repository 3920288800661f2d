// SPDX-License-Identifier: Apache-2.0
// The non-blocking collective operations on a file: MPICH's need the queue (file_queue.h).
#include "mpi/wrap/wrap.h"

#ifdef MPICH_NUMVERSION

#include "mpi/call/bare.h"
#include "mpi/record/record.h"

using namespace sennit::mpi;

namespace {

int begin(const sennit_call &said, const FileCall &call, MPI_Request *request) {
    const int error = g_wrap.files.begin(call, request);
    g_record.requests.note(error, request, {&said, -1, -1, 0});
    return error;
}

} // namespace

// Two calls with two types of counts, to read and to write.
#define SENNIT_FILE_CALLS(verb, suffix, Buffer, Count)                                             \
    namespace {                                                                                    \
    int start_##verb##suffix(const FileCall &call, MPI_Request *request) {                         \
        static constexpr auto individual = SENNIT_BARE(File_i##verb##_all##suffix);                \
        static constexpr auto at = SENNIT_BARE(File_i##verb##_at_all##suffix);                     \
        const auto count = static_cast<Count>(call.count);                                         \
        return call.individual                                                                     \
                   ? individual(call.file, call.buffer, count, call.type, request)                 \
                   : at(call.file, call.offset, call.buffer, count, call.type, request);           \
    }                                                                                              \
    }                                                                                              \
    SENNIT_DEFINE(File_i##verb##_all##suffix, MPI_File file, Buffer *buffer, Count count,          \
                  MPI_Datatype type, MPI_Request *request) {                                       \
        static constexpr sennit_call call{"MPI_File_i" #verb "_all" #suffix, 0, 0};                \
        return begin(call,                                                                         \
                     {file, true, 0, const_cast<void *>(static_cast<const void *>(buffer)), count, \
                      type, start_##verb##suffix},                                                 \
                     request);                                                                     \
    }                                                                                              \
    SENNIT_DEFINE(File_i##verb##_at_all##suffix, MPI_File file, MPI_Offset offset, Buffer *buffer, \
                  Count count, MPI_Datatype type, MPI_Request *request) {                          \
        static constexpr sennit_call call{"MPI_File_i" #verb "_at_all" #suffix, 0, 0};             \
        return begin(call,                                                                         \
                     {file, false, offset, const_cast<void *>(static_cast<const void *>(buffer)),  \
                      count, type, start_##verb##suffix},                                          \
                     request);                                                                     \
    }

SENNIT_FILE_CALLS(read, , void, int)
SENNIT_FILE_CALLS(write, , const void, int)
#if MPI_VERSION >= 4
SENNIT_FILE_CALLS(read, _c, void, MPI_Count)
SENNIT_FILE_CALLS(write, _c, const void, MPI_Count)
#endif

#endif

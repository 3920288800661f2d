// SPDX-License-Identifier: Apache-2.0
// As much of MPI as the engine asks for, so that its tests need none: handles are numbers, and a
// test says which requests are complete (fake.h).
#pragma once

#include <cstddef>
#include <cstdint>

#define MPI_VERSION 3
#define MPI_SUBVERSION 1

using MPI_Comm = int;
using MPI_Group = int;
using MPI_Datatype = int;
using MPI_Op = int;
using MPI_Info = int;
using MPI_Request = int;
using MPI_Aint = std::intptr_t;
using MPI_Count = std::int64_t;
using MPI_Offset = std::int64_t;
using MPI_Win = struct Win *;
using MPI_File = struct File *;

struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int bytes;
};

constexpr MPI_Comm MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1, MPI_COMM_SELF = 2;
constexpr MPI_Request MPI_REQUEST_NULL = 0;
constexpr MPI_Group MPI_GROUP_NULL = 0;
constexpr MPI_Datatype MPI_DATATYPE_NULL = 0, MPI_BYTE = 1, MPI_INT = 2, MPI_CHAR = 3,
                       MPI_DOUBLE = 4, MPI_FLOAT = 5, MPI_LONG = 6, MPI_PACKED = 7;
constexpr MPI_Op MPI_SUM = 1;
constexpr int MPI_SUCCESS = 0, MPI_ERR_OTHER = 15, MPI_ERR_TRUNCATE = 14, MPI_ERR_IN_STATUS = 17;
constexpr int MPI_UNDEFINED = -32766, MPI_ANY_SOURCE = -1, MPI_PROC_NULL = -2, MPI_ROOT = -3;
constexpr int MPI_THREAD_SINGLE = 0, MPI_THREAD_MULTIPLE = 3;
#define MPI_STATUS_IGNORE (static_cast<MPI_Status *>(nullptr))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status *>(nullptr))
#define MPI_IN_PLACE (reinterpret_cast<void *>(-1))

using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void *, void *, void *, int *);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void *, void *);
#define MPI_COMM_NULL_COPY_FN (static_cast<MPI_Comm_copy_attr_function *>(nullptr))

int MPI_Abort(MPI_Comm comm, int code);
int MPI_Cancel(MPI_Request *request);
int MPI_Comm_call_errhandler(MPI_Comm comm, int error);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *free,
                           int *key, void *extra);
int MPI_Comm_disconnect(MPI_Comm *comm);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag);
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group);
int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_test_inter(MPI_Comm comm, int *flag);
int MPI_Dist_graph_create(MPI_Comm comm, int count, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm *graph);
int MPI_File_call_errhandler(MPI_File file, int error);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);
int MPI_Group_free(MPI_Group *group);
int MPI_Group_rank(MPI_Group group, int *rank);
int MPI_Group_size(MPI_Group group, int *size);
int MPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to,
                              int found[]);
int MPI_Initialized(int *flag);
int MPI_Finalized(int *flag);
int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Irecv(void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Isend(const void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Pack(const void *in, int count, MPI_Datatype type, void *out, int size, int *position,
             MPI_Comm comm);
int MPI_Query_thread(int *level);
int MPI_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm);
int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype type, int count);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                 MPI_Status statuses[]);
int MPI_Type_commit(MPI_Datatype *type);
int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint displacements[],
                             MPI_Datatype type, MPI_Datatype *made);
int MPI_Type_free(MPI_Datatype *type);
int MPI_Type_size_x(MPI_Datatype type, MPI_Count *size);
int MPI_Unpack(const void *in, int size, int *position, void *out, int count, MPI_Datatype type,
               MPI_Comm comm);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Win_call_errhandler(MPI_Win win, int error);
int MPI_Win_complete(MPI_Win win);
int MPI_Win_get_group(MPI_Win win, MPI_Group *group);
int MPI_Win_post(MPI_Group group, int assert, MPI_Win win);

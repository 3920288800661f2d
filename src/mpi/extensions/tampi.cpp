// SPDX-License-Identifier: Apache-2.0
// TAMPI's interface, without the request-free calls, which generate.py makes.
#include "mpi/call/bare.h"
#include "mpi/call/thread_state.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/continuations.h"

#include "TAMPI.h"

using namespace sennit::mpi;

namespace {

bool initialized() {
    static constexpr auto bare = SENNIT_BARE(Initialized);
    int is = 0;
    return bare(&is) == MPI_SUCCESS && is;
}

bool modes_enabled() {
    return runtime_present() && multiple();
}

} // namespace

extern "C" {

SENNIT_EXPORT int TAMPI_Iwait(MPI_Request *request, MPI_Status *status) {
    if (is_over_untested(request, status)) {
        InCallback::note_call();
        return MPI_SUCCESS;
    }
    if (!in_task())
        return MPI_Wait(request, status);
    return bind({.name = "TAMPI_Iwait"}, 1, request, status);
}

SENNIT_EXPORT int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (!in_task())
        return MPI_Waitall(count, requests, statuses);
    return bind({.name = "TAMPI_Iwaitall"}, count, requests, statuses);
}

// A buffered send is complete when it returns. So there is nothing to bind.
SENNIT_EXPORT int TAMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                               MPI_Comm comm) {
    return MPI_Bsend(buf, count, datatype, dest, tag, comm);
}

// If the program does not ask for it by this call, Sennit is ready when MPI is.
SENNIT_EXPORT int TAMPI_Init(int required, int *provided) {
    if (!initialized())
        return MPI_ERR_OTHER;
    if (!g_extensions.automatic)
        set_aware(required >= MPI_THREAD_MULTIPLE);
    if (required == MPI_TASK_MULTIPLE && modes_enabled()) {
        *provided = MPI_TASK_MULTIPLE;
        return MPI_SUCCESS;
    }
    return MPI_Query_thread(provided);
}

SENNIT_EXPORT int TAMPI_Finalize(void) {
    if (!g_extensions.automatic)
        set_aware(false);
    return MPI_SUCCESS;
}

SENNIT_EXPORT int TAMPI_Blocking_enabled(int *flag) {
    return TAMPI_Property_get(TAMPI_PROPERTY_BLOCKING_MODE, flag);
}

SENNIT_EXPORT int TAMPI_Nonblocking_enabled(int *flag) {
    return TAMPI_Property_get(TAMPI_PROPERTY_NONBLOCKING_MODE, flag);
}

SENNIT_EXPORT int TAMPI_Property_get(int property, int *value) {
    switch (property) {
    case TAMPI_PROPERTY_BLOCKING_MODE:
    case TAMPI_PROPERTY_NONBLOCKING_MODE:
        *value = modes_enabled();
        return MPI_SUCCESS;
    case TAMPI_PROPERTY_AUTO_INIT:
        *value = g_extensions.automatic;
        return MPI_SUCCESS;
    case TAMPI_PROPERTY_THREAD_TASKAWARE:
        *value = t_taskaware;
        return MPI_SUCCESS;
    default:
        return MPI_ERR_ARG;
    }
}

SENNIT_EXPORT int TAMPI_Property_set(int property, int value) {
    switch (property) {
    case TAMPI_PROPERTY_THREAD_TASKAWARE:
        t_taskaware = value != 0;
        return MPI_SUCCESS;
    case TAMPI_PROPERTY_AUTO_INIT:
        if (initialized())
            return MPI_ERR_ARG;
        g_extensions.automatic = value != 0;
        set_aware(g_extensions.automatic);
        return MPI_SUCCESS;
    default:
        return MPI_ERR_ARG;
    }
}

} // extern "C"

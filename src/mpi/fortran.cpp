// SPDX-License-Identifier: Apache-2.0
// Fortran bindings of what TAMPI adds, but for the request-free calls. The standard's calls need
// none: the MPI library's own bindings end in the C functions that we override.
#include "mpi/engine.h"

#include "TAMPI.h"
#include "mpix_detach.h"

#include <cstdlib>
#include <new>

using namespace sennit::mpi;

namespace {

// Statuses in Fortran's layout, to be filled when the requests are complete.
struct Pending {
    MPI_Fint *statuses; // null: ignored
    sennit_task *task;
};

constexpr int kStatusWords = sizeof(MPI_Status) / sizeof(MPI_Fint);

void deliver(void *data, int count, MPI_Status *statuses) {
    static const auto to_fortran = SENNIT_BARE(Status_c2f);
    const Pending pending = *static_cast<Pending *>(data);
    std::free(data);
    for (int i = 0; pending.statuses && i < count; ++i)
        to_fortran(statuses + i, pending.statuses + i * kStatusWords);
    fulfil_event(pending.task);
}

void wait_all(int count, MPI_Fint *requests, MPI_Fint *statuses, bool ignored, MPI_Fint *error) {
    static const auto status_to_fortran = SENNIT_BARE(Status_c2f);
    const auto n = static_cast<std::size_t>(count > 0 ? count : 1);
    auto *native = static_cast<MPI_Request *>(std::malloc(n * sizeof(MPI_Request)));
    auto *pending = static_cast<Pending *>(std::malloc(sizeof(Pending)));
    auto *native_statuses = static_cast<MPI_Status *>(std::malloc(n * sizeof(MPI_Status)));
    *error = MPI_ERR_NO_MEM;
    if (native && pending && native_statuses) {
        for (int i = 0; i < count; ++i)
            native[i] = MPI_Request_f2c(requests[i]);
        if (in_task()) {
            *pending = {ignored ? nullptr : statuses, current_task()};
            bind_event(pending->task);
            *error = MPIX_Detach_all_status(count, native, deliver, pending);
            pending = nullptr; // deliver frees it
        } else {
            *error = MPI_Waitall(count, native, native_statuses);
            for (int i = 0; !ignored && i < count; ++i)
                status_to_fortran(native_statuses + i, statuses + i * kStatusWords);
        }
        for (int i = 0; i < count; ++i)
            requests[i] = MPI_Request_c2f(native[i]);
    }
    std::free(native);
    std::free(pending);
    std::free(native_statuses);
}

} // namespace

extern "C" {

SENNIT_MPI_EXPORT void tampi_iwait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error) {
    wait_all(1, request, status, status == MPI_F_STATUS_IGNORE, error);
}

SENNIT_MPI_EXPORT void tampi_iwaitall_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses,
                                       MPI_Fint *error) {
    wait_all(*count, requests, statuses, statuses == MPI_F_STATUSES_IGNORE, error);
}

SENNIT_MPI_EXPORT void tampi_property_get_(MPI_Fint *property, MPI_Fint *value, MPI_Fint *error) {
    *error = TAMPI_Property_get(*property, value);
}

SENNIT_MPI_EXPORT void tampi_property_set_(MPI_Fint *property, MPI_Fint *value, MPI_Fint *error) {
    *error = TAMPI_Property_set(*property, *value);
}

SENNIT_MPI_EXPORT void tampi_blocking_enabled_(MPI_Fint *flag, MPI_Fint *error) {
    *error = TAMPI_Blocking_enabled(flag);
}

SENNIT_MPI_EXPORT void tampi_nonblocking_enabled_(MPI_Fint *flag, MPI_Fint *error) {
    *error = TAMPI_Nonblocking_enabled(flag);
}

SENNIT_MPI_EXPORT void tampi_init_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error) {
    *error = TAMPI_Init(*required, provided);
}

SENNIT_MPI_EXPORT void tampi_finalize_(MPI_Fint *error) {
    *error = TAMPI_Finalize();
}

} // extern "C"

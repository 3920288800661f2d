// SPDX-License-Identifier: Apache-2.0
// Fortran bindings of what TAMPI adds; generate.py makes those of the request-free calls. The
// standard's calls need none: the MPI library's own bindings end in the C functions that we
// override.
#include "mpi/extensions/fortran.h"

#include "base/guard.h"
#include "mpi/call/call_path.h"
#include "mpi/call/runtime.h"
#include "mpi/extensions/continuations.h"

#include "TAMPI.h"
#include "mpix_detach.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>

using namespace sennit::mpi;

namespace {

// Statuses in Fortran's layout, to be filled when the requests are complete.
struct Pending {
    MPI_Fint *statuses; // null: ignored
    sennit_task *task;
};

constexpr int kStatusWords = sizeof(MPI_Status) / sizeof(MPI_Fint);

void deliver(void *data, int count, MPI_Status *statuses) {
    static constexpr auto to_fortran = SENNIT_BARE(Status_c2f);
    const Pending pending = *static_cast<Pending *>(data);
    std::free(data);
    for (int i = 0; pending.statuses && i < count; ++i)
        to_fortran(statuses + i, pending.statuses + i * kStatusWords);
    fulfil_event(pending.task);
}

void wait_all(int count, MPI_Fint *requests, MPI_Fint *statuses, bool ignored, MPI_Fint *error) {
    static constexpr auto status_to_fortran = SENNIT_BARE(Status_c2f);
    const auto n = static_cast<std::size_t>(count > 0 ? count : 1);
    auto *native = static_cast<MPI_Request *>(std::malloc(n * sizeof(MPI_Request)));
    auto *pending = static_cast<Pending *>(std::malloc(sizeof(Pending)));
    auto *native_statuses = static_cast<MPI_Status *>(std::malloc(n * sizeof(MPI_Status)));
    *error = MPI_ERR_NO_MEM;
    if (native && pending && native_statuses) {
        for (int i = 0; i < count; ++i)
            native[i] = MPI_Request_f2c(requests[i]);
        if (in_task()) {
            g_extensions.callbacks.never_blocks(reinterpret_cast<Callbacks::Function>(deliver));
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

// Are operations bound to tasks? As TAMPI_Wrappers.h asks in C.
bool binds() {
    int enabled = 0;
    TAMPI_Nonblocking_enabled(&enabled);
    return enabled != 0;
}

// The addresses that stand for a value, in mpif.h and use mpi, and in use mpi_f08.
struct Marks {
    const void *addresses[2] = {};

    Marks(const char *older, const char *newer) {
#ifdef MPICH_NUMVERSION
        if (void *const *found = static_cast<void **>(dlsym(RTLD_DEFAULT, older)))
            addresses[0] = *found; // a variable with the address
#else
        addresses[0] = dlsym(RTLD_DEFAULT, older);
#endif
        addresses[1] = newer ? dlsym(RTLD_DEFAULT, newer) : nullptr;
    }
    bool has(const void *buffer) const {
        return buffer && (buffer == addresses[0] || buffer == addresses[1]);
    }
};

} // namespace

namespace sennit::mpi {

void *buffer_from_fortran(void *buffer) {
#ifdef MPICH_NUMVERSION
    static const Marks in_place("MPIR_F_MPI_IN_PLACE", "MPIR_F08_MPI_IN_PLACE");
    static const Marks bottom("MPIR_F_MPI_BOTTOM", "MPIR_F08_MPI_BOTTOM");
#else
    static const Marks in_place("mpi_fortran_in_place_", nullptr);
    static const Marks bottom("mpi_fortran_bottom_", nullptr);
#endif
    if (in_place.has(buffer))
        return MPI_IN_PLACE;
    return bottom.has(buffer) ? MPI_BOTTOM : buffer;
}

MPI_Status *status_from_fortran(MPI_Fint *status) {
    // MPICH has another one for use mpi_f08.
    static const auto *const newer =
        static_cast<void *const *>(dlsym(RTLD_DEFAULT, "MPI_F08_STATUS_IGNORE"));
    if (status == MPI_F_STATUS_IGNORE || (newer && status == *newer))
        return MPI_STATUS_IGNORE;
    return reinterpret_cast<MPI_Status *>(status);
}

const MPI_Datatype *datatypes_from_fortran(const MPI_Fint *types, [[maybe_unused]] MPI_Comm comm) {
#ifdef MPICH_NUMVERSION
    return types;
#else
    struct Known {
        Known *next;
        std::size_t count;
        MPI_Datatype types[1];
    };
    static constinit Mutex mutex;
    static Known *known SENNIT_GUARDED_BY(mutex) = nullptr;
    static constexpr auto is_inter = SENNIT_BARE(Comm_test_inter);
    static constexpr auto size_of = SENNIT_BARE(Comm_size);
    static constexpr auto remote_size_of = SENNIT_BARE(Comm_remote_size);
    int inter = 0;
    int size = 0;
    outside_task([&] {
        is_inter(comm, &inter);
        return inter ? remote_size_of(comm, &size) : size_of(comm, &size);
    });
    const auto count = static_cast<std::size_t>(size);
    const std::size_t bytes = count * sizeof(MPI_Datatype);
    auto *fresh = static_cast<Known *>(std::malloc(sizeof(Known) + bytes));
    if (!fresh)
        return nullptr;
    fresh->count = count;
    for (std::size_t i = 0; i < count; ++i)
        fresh->types[i] = MPI_Type_f2c(types[i]);
    const Guard guard(mutex);
    Known *equal = known;
    while (equal && (equal->count != count || std::memcmp(equal->types, fresh->types, bytes) != 0))
        equal = equal->next;
    if (equal) {
        std::free(fresh);
    } else {
        fresh->next = known;
        known = equal = fresh;
    }
    return equal->types;
#endif
}

int bind_for_fortran(MPI_Request &request, MPI_Status *status) {
    return binds() ? TAMPI_Iwait(&request, status) : MPI_SUCCESS;
}

} // namespace sennit::mpi

extern "C" {

SENNIT_EXPORT void tampi_iwait_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error) {
    wait_all(1, request, status, status == MPI_F_STATUS_IGNORE, error);
}

SENNIT_EXPORT void tampi_iwaitall_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses,
                                   MPI_Fint *error) {
    wait_all(*count, requests, statuses, statuses == MPI_F_STATUSES_IGNORE, error);
}

SENNIT_EXPORT void tampi_ibsend_(void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *dest,
                                 MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *error) {
    *error = TAMPI_Ibsend(buffer_from_fortran(buffer), *count, MPI_Type_f2c(*type), *dest, *tag,
                          MPI_Comm_f2c(*comm));
}

// What include/tampi3/TAMPIf.h calls, by the names that TAMPI 1 to 3 give them: generate.py makes
// the others. MPI_Ibsend is over only when its request is.

SENNIT_EXPORT void tampi_ibsend_internal_(void *buffer, MPI_Fint *count, MPI_Fint *type,
                                          MPI_Fint *dest, MPI_Fint *tag, MPI_Fint *comm,
                                          MPI_Fint *request, MPI_Fint *error) {
    *error = start_from_fortran(request, MPI_STATUS_IGNORE, [&](MPI_Request &made) {
        return MPI_Ibsend(buffer_from_fortran(buffer), *count, MPI_Type_f2c(*type), *dest, *tag,
                          MPI_Comm_f2c(*comm), &made);
    });
}

SENNIT_EXPORT void tampi_wait_internal_(MPI_Fint *request, MPI_Fint *status, MPI_Fint *error) {
    *error = MPI_SUCCESS;
    if (binds())
        return;
    MPI_Request made = MPI_Request_f2c(*request);
    *error = MPI_Wait(&made, status_from_fortran(status));
    *request = MPI_Request_c2f(made);
}

SENNIT_EXPORT void tampi_waitall_internal_(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses,
                                           MPI_Fint *error) {
    *error = MPI_SUCCESS;
    if (!binds())
        wait_all(*count, requests, statuses, statuses == MPI_F_STATUSES_IGNORE, error);
}

SENNIT_EXPORT void tampi_property_get_(MPI_Fint *property, MPI_Fint *value, MPI_Fint *error) {
    *error = TAMPI_Property_get(*property, value);
}

SENNIT_EXPORT void tampi_property_set_(MPI_Fint *property, MPI_Fint *value, MPI_Fint *error) {
    *error = TAMPI_Property_set(*property, *value);
}

SENNIT_EXPORT void tampi_blocking_enabled_(MPI_Fint *flag, MPI_Fint *error) {
    *error = TAMPI_Blocking_enabled(flag);
}

SENNIT_EXPORT void tampi_nonblocking_enabled_(MPI_Fint *flag, MPI_Fint *error) {
    *error = TAMPI_Nonblocking_enabled(flag);
}

SENNIT_EXPORT void tampi_init_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error) {
    *error = TAMPI_Init(*required, provided);
}

SENNIT_EXPORT void tampi_finalize_(MPI_Fint *error) {
    *error = TAMPI_Finalize();
}

} // extern "C"

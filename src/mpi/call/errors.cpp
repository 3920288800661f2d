// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/errors.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/thread_state.h"

#include <dlfcn.h>

namespace sennit::mpi {

SENNIT_TLS bool QuietTests::t_quiet;
SENNIT_TLS bool QuietTests::t_kept;
SENNIT_TLS HeldError *HeldError::t_holds;

void raise(Object object, int error) {
    static constexpr auto on_communicator = SENNIT_BARE(Comm_call_errhandler);
    static constexpr auto on_window = SENNIT_BARE(Win_call_errhandler);
    static constexpr auto on_file = SENNIT_BARE(File_call_errhandler);
    outside_task([&] {
        switch (object.kind) {
        case Object::Kind::communicator:
            return on_communicator(handle_from<MPI_Comm>(object.handle), error);
        case Object::Kind::window:
            return on_window(handle_from<MPI_Win>(object.handle), error);
        case Object::Kind::file:
            return on_file(handle_from<MPI_File>(object.handle), error);
        default:
            return on_communicator(MPI_COMM_WORLD, error);
        }
    });
}

} // namespace sennit::mpi

#if defined MPICH_NUMVERSION || defined MPI_ABI

// Each function of MPICH that ends with an error calls this one. It calls the handler of `comm`,
// and gives the code that the function returns. Setting handlers instead would show: communicators
// inherit them, and a handler may not call MPI (it runs under MPICH's lock). An MPICH that does not
// export this function keeps its behaviour. Another MPI with the standard ABI has no such function.
extern "C" SENNIT_EXPORT int MPIR_Err_return_comm(void *comm, const char *function, int error) {
    using namespace sennit::mpi;
    if (QuietTests::t_quiet) {
        QuietTests::t_kept = true;
        return error;
    }
    static const auto bare = reinterpret_cast<decltype(&MPIR_Err_return_comm)>(
        sennit::interpose::find_next("MPIR_Err_return_comm"));
    const Unmarked unmarked;
    return bare(comm, function, error);
}

void sennit::mpi::HeldError::tell() {}

#elif defined OPEN_MPI

#pragma weak ompi_mpi_errors_are_fatal

// The function that calls the handlers in Open MPI.
extern "C" SENNIT_EXPORT int ompi_errhandler_invoke(void *handler, void *object, int kind,
                                                    int error, const char *function) {
    using namespace sennit::mpi;
    if (HeldError::holds(handler, object, kind, error, function))
        return error;
    static const auto bare = reinterpret_cast<decltype(&ompi_errhandler_invoke)>(
        sennit::interpose::find_next("ompi_errhandler_invoke"));
    const Unmarked unmarked(true); // Open MPI bears handlers that do not return
    return HeldError::let([&] { return bare(handler, object, kind, error, function); });
}

namespace sennit::mpi {

bool HeldError::holds(void *handler, void *object, int kind, int error, const char *function) {
    if (!t_holds || !handler || *static_cast<MPI_Errhandler *>(handler) == MPI_ERRORS_ARE_FATAL)
        return false;
    t_holds->handler_ = handler;
    t_holds->object_ = object;
    t_holds->kind_ = kind;
    t_holds->error_ = error;
    t_holds->function_ = function;
    return true;
}

void HeldError::tell() {
    if (void *const handler = std::exchange(handler_, nullptr))
        ompi_errhandler_invoke(handler, object_, kind_, error_, function_);
}

} // namespace sennit::mpi

#endif

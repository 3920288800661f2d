// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/lazy_parts.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

namespace sennit::mpi {

void load_lazy_parts() {
#ifdef OPEN_MPI
    static constexpr auto cart_create = SENNIT_BARE(Cart_create);
    static constexpr auto comm_free = SENNIT_BARE(Comm_free);
    static constexpr auto file_open = SENNIT_BARE(File_open);
    static constexpr auto file_close = SENNIT_BARE(File_close);
    outside_task([] {
        MPI_Comm grid = MPI_COMM_NULL;
        const int one = 1;
        const int periodic = 0;
        if (cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &grid) == MPI_SUCCESS)
            comm_free(&grid);
        MPI_File file = MPI_FILE_NULL;
        if (file_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
            MPI_SUCCESS)
            file_close(&file);
        return MPI_SUCCESS;
    });
#endif
}

} // namespace sennit::mpi

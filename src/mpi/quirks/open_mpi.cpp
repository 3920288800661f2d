// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/open_mpi.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

#include <dlfcn.h>
#include <mpi.h>

#ifdef OPEN_MPI
#include <pthread.h>
#endif

namespace sennit::mpi {

#ifdef OPEN_MPI

namespace {

// Open MPI 4.1 begins at -27, and others nearby. Each call spends one tag.
constexpr int kEnough = 40;

// Says of a communicator that its tags are past those of the edges. A copy begins with its own.
class Spent {
  public:
    static bool on(MPI_Comm comm) {
        static constexpr auto get = SENNIT_BARE(Comm_get_attr);
        int spent = 0;
        void *value = nullptr;
        return key() != MPI_KEYVAL_INVALID && get(comm, key(), &value, &spent) == MPI_SUCCESS &&
               spent != 0;
    }
    static void note(MPI_Comm comm) {
        static constexpr auto set = SENNIT_BARE(Comm_set_attr);
        if (key() != MPI_KEYVAL_INVALID)
            set(comm, key(), nullptr);
    }

  private:
    static int key() {
        static pthread_once_t made = PTHREAD_ONCE_INIT;
        pthread_once(&made, [] {
            static constexpr auto make = SENNIT_BARE(Comm_create_keyval);
            if (make(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &s_key, nullptr) !=
                MPI_SUCCESS)
                s_key = MPI_KEYVAL_INVALID;
        });
        return s_key;
    }
    static int s_key;
};
int Spent::s_key = MPI_KEYVAL_INVALID;

// One rank may have failed to note that they are spent. So the ranks ask each other: all must make
// the same calls.
bool all_have_spent(MPI_Comm comm) {
    static constexpr auto reduce = SENNIT_BARE(Iallreduce);
    static constexpr auto wait = SENNIT_BARE(Wait);
    const int mine = Spent::on(comm) ? 1 : 0;
    int all = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    return reduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm, &request) == MPI_SUCCESS &&
           wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && all != 0;
}

void spend_tags(MPI_Comm comm) {
    static constexpr auto is_inter = SENNIT_BARE(Comm_test_inter);
    static constexpr auto barrier = SENNIT_BARE(Ibarrier);
    static constexpr auto wait_all = SENNIT_BARE(Waitall);
    int inter = 0;
    if (comm == MPI_COMM_NULL || is_inter(comm, &inter) != MPI_SUCCESS || inter)
        return; // MPI says what is wrong
    if (all_have_spent(comm))
        return;
    MPI_Request requests[kEnough];
    for (MPI_Request &request : requests)
        if (barrier(comm, &request) != MPI_SUCCESS)
            request = MPI_REQUEST_NULL;
    wait_all(kEnough, requests, MPI_STATUSES_IGNORE);
    Spent::note(comm);
}

} // namespace

#endif

int make_dist_graph(MPI_Comm comm, int count, const int sources[], const int degrees[],
                    const int destinations[], const int weights[], MPI_Info info, int reorder,
                    MPI_Comm *graph) {
    static constexpr auto bare = SENNIT_BARE(Dist_graph_create);
#ifdef OPEN_MPI
    {
        const Inside inside;
        spend_tags(comm);
    }
#endif
    return bare(comm, count, sources, degrees, destinations, weights, info, reorder, graph);
}

SENNIT_HOT bool make_tests_yield([[maybe_unused]] bool yields) {
#ifdef OPEN_MPI
    // Open MPI 4.1, 5.0: opal/runtime/opal_progress.h.
    static const auto set =
        reinterpret_cast<void (*)(bool)>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
    if (set)
        set(yields);
    return set && yields;
#else
    return false;
#endif
}

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

// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/crowd.h"

#include "base/environment.h"
#include "base/rank.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"
#include "mpi/call/members.h"
#include "mpi/call/runtime.h"
#include "mpi/crowd/spins.h"
#include "mpi/crowd/vigil.h"
#include "mpi/options.h"
#include "node/board.h"
#include "node/identity.h"
#include "node/pool.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

namespace sennit::mpi {

constinit Crowd g_crowd;

namespace {

MPI_Comm g_asking{}; // written in MPI_Init

// `ours`: our communicator. From now on errors on it come back.
void ask_on(MPI_Comm ours) {
    static constexpr auto set = SENNIT_BARE(Comm_set_errhandler);
    const Inside inside;
    set(ours, MPI_ERRORS_RETURN);
    g_asking = ours;
}

} // namespace

// MPICH calls the handler of MPI_COMM_WORLD here, whatever the communicator, if it is not kept.
bool is_accepted(MPI_Datatype type) {
    static constexpr auto pack = SENNIT_BARE(Pack);
    const QuietTests quiet;
    char nothing[1] = {};
    int end = 0;
    return outside_task([&] {
               return pack(nothing, 0, type, nothing, sizeof nothing, &end, g_asking);
           }) == MPI_SUCCESS;
}

namespace {

std::uint64_t greatest_of_all(std::uint64_t mine) {
    static constexpr auto reduce = SENNIT_BARE(Iallreduce);
    std::uint64_t all = mine;
    meet(
        [&](MPI_Request *request) {
            return reduce(&mine, &all, 1, MPI_UINT64_T, MPI_MAX, g_crowd.comm, request);
        },
        LateRanks());
    return all;
}

int threads_of_program() {
    if (!runtime_present())
        return 1;
    const auto most = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return most ? most() : 1;
}

// Those that its threads may run on. Where they are bound, the caller's own are those of one place.
node::Cores cores_of_program() {
    node::Cores cores = node::allowed_cores();
    if (!runtime_present())
        return cores;
    const auto places = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_num_places"));
    const auto count =
        reinterpret_cast<int (*)(int)>(dlsym(RTLD_DEFAULT, "omp_get_place_num_procs"));
    const auto list =
        reinterpret_cast<void (*)(int, int *)>(dlsym(RTLD_DEFAULT, "omp_get_place_proc_ids"));
    if (!places || !count || !list)
        return cores;
    for (int place = 0, end = places(); place < end; ++place) {
        int processors[node::kMostCores];
        const int found = count(place);
        if (found > node::kMostCores)
            continue;
        list(place, processors);
        for (int i = 0; i < found; ++i)
            if (processors[i] < node::kMostCores)
                cores.add(processors[i]);
    }
    return cores;
}

bool is_first_of_node() {
    for (const char *variable : kLocalRankVariables)
        if (const char *text = trusted_environment(variable))
            return std::atoi(text) == 0;
    return rank_of_environment() <= 0;
}

// `reason`: why it has none.
void join_board(const node::Membership &membership, std::uint64_t job, int rank,
                node::Reason &reason) {
    if (!g_crowd.board.open(membership.path, reason))
        return;
    node::ProcessInfo member = node::own_member(membership);
    member.rank = rank;
    member.cores = cores_of_program();
    member.threads = threads_of_program();
    g_crowd.own = g_crowd.board.join(job, member);
    if (!g_crowd.own)
        reason.say("%s has no room for another process", membership.path);
}

// Do the job's ranks on this node, with their threads, outnumber the cores that they may use?
bool outnumber(std::uint64_t job) {
    node::Cores cores = cores_of_program();
    int threads = 0;
    if (g_crowd.own)
        g_crowd.board.each([&](int, const node::BoardSlot &slot) {
            if (slot.job.load(std::memory_order_relaxed) != job)
                return;
            threads += slot.member.threads;
            cores.add(slot.member.cores);
        });
    else if (const char *ranks = trusted_environment("SENNIT_LOCAL_RANKS"))
        threads = std::atoi(ranks) * threads_of_program();
    return threads > node::within_quota(cores.count());
}

// Does a rank of the job on this node have several threads? With one each, there is nobody to lend
// a core to who would not have one of the system's in any case.
bool has_teams(std::uint64_t job) {
    bool found = false;
    g_crowd.board.each([&](int, const node::BoardSlot &slot) {
        found =
            found || (slot.job.load(std::memory_order_relaxed) == job && slot.member.threads > 1);
    });
    return found;
}

// Small collectives without messages, if all ranks can have them so; all take part. If they are on
// several nodes, those of communicators within a node.
void begin_assembly(std::uint64_t job, int rank, int size) {
    constexpr std::uint64_t cannot = ~std::uint64_t{0};
    constexpr std::uint64_t several_nodes = cannot - 1;
    const bool can = options::read_choice<NodeCollectiveChoice>(options::node_collectives) ==
                         NodeCollectiveChoice::on &&
                     g_crowd.own;
    const bool together = can && g_crowd.neighbours.all_have_bells();
    const bool prepared =
        together && g_crowd.assembled.prepare(g_crowd.board, MPI_COMM_WORLD,
                                              *g_crowd.neighbours.ranks_of(MPI_COMM_WORLD));
    node::Assembly *claimed = nullptr;
    if (prepared && rank == 0 && (claimed = g_crowd.board.claim_assembly(job)))
        claimed->begin(size);
    // Its number from 1: all learn it, or that one rank cannot. The messages order what begin() has
    // written before what others do there.
    const std::uint64_t found = greatest_of_all(
        can && !together ? several_nodes
        : !prepared      ? cannot
        : claimed        ? static_cast<std::uint64_t>(g_crowd.board.number_of(*claimed)) + 1
                         : 0);
    const bool begins = found != 0 && found < several_nodes;
    if (claimed && !begins)
        claimed->release();
    if (!begins && found != several_nodes)
        return;
    Reduction::learn_types();
    if (begins)
        g_crowd.assembled.begin(g_crowd.board.assembly(static_cast<int>(found - 1)), g_crowd.comm);
    g_crowd.children.begin(g_crowd.board, g_crowd.board.number_of(*g_crowd.own), job, g_crowd.comm,
                           !begins);
}

} // namespace

void begin_crowd() {
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto get_rank = SENNIT_BARE(Comm_rank);
    const auto choice = options::read_choice<DoorbellChoice>(options::doorbells);
    const bool lends = options::read_choice<LendingChoice>(options::lending) == LendingChoice::on;
    node::Reason bad;
    const node::Membership membership = node::read_membership(bad);
    if (bad && is_first_of_node())
        std::fprintf(stderr, "sennit: %s\n", bad.text);
    if (choice == DoorbellChoice::off || !knows_constants())
        return;
    int size = 1;
    int rank = 0;
    {
        const Inside inside;
        get_size(MPI_COMM_WORLD, &size);
        get_rank(MPI_COMM_WORLD, &rank);
    }
    if (size == 1 && !membership.in_pool)
        return;
    constexpr int patience_s = 120;
    if (!make_private_comm(&g_crowd.comm, "SENNIT_DOORBELLS", patience_s))
        return;
    const std::uint64_t job = greatest_of_all(node::new_job());
    node::Reason reason;
    join_board(membership, job, rank, reason);
    greatest_of_all(0); // all have joined
    const bool wanted =
        choice == DoorbellChoice::on || membership.in_pool || Hops::wanted() || outnumber(job);
    if (greatest_of_all(wanted) == 0) {
        static constexpr auto free_comm = SENNIT_BARE(Comm_free);
        const Inside inside;
        free_comm(&g_crowd.comm);
        leave_board();
        return;
    }
    if (reason && is_first_of_node())
        std::fprintf(stderr,
                     "sennit: no doorbells: %s; ranks that wait look for messages by a timer\n",
                     reason.text);
    g_crowd.neighbours.begin(g_crowd.board, g_crowd.own, job);
    if (g_crowd.own) {
        g_crowd.yields.begin(g_crowd.board.core_work());
        g_crowd.hops.begin(g_crowd.board, job);
        sleep_on(g_crowd.own->bell.words());
        pthread_atfork(nullptr, nullptr, [] {
            g_crowd.neighbours.after_fork_in_child();
            g_crowd.assembled.after_fork_in_child();
            g_crowd.children.end();
            g_crowd.board.abandon();
        });
    }
    const bool by_workers = membership.in_pool && g_crowd.hops.workers_take_cores();
    if (g_crowd.own && !by_workers && (membership.in_pool || (lends && has_teams(job)))) {
        g_crowd.neighbours.share_cores(true);
        share_cores(g_crowd.board.memory(), g_crowd.board.number_of(*g_crowd.own));
    }
    begin_assembly(job, rank, size); // all have come as far
    ask_on(g_crowd.comm);
    if (by_workers)
        g_crowd.hops.leave_cores_to_workers(job);
    g_calls.test_rest.store(rest_between_tests, std::memory_order_relaxed);
    g_calls.tell_senders.store(
        [](const Operation *over) {
            // Or looks of many calls would count as a spin, and the caller would sleep although one
            // of them has found its message.
            t_spins.rests();
            g_crowd.neighbours.answer();
            if (!t_spins.take_found())
                return;
            if (over)
                g_crowd.neighbours.ring_for(*over, true);
            else
                g_crowd.neighbours.ring_recent();
        },
        std::memory_order_relaxed);
    attend_to(kCrowd);
}

void end_crowd() {
    static constexpr auto barrier = SENNIT_BARE(Ibarrier);
    if (!crowded())
        return;
    const Operation operation = {.name = "MPI_Finalize",
                                 .object = communicator(MPI_COMM_WORLD),
                                 .turn = communicator(MPI_COMM_WORLD)};
    Vigil vigil(operation);
    meet(
        [](MPI_Request *request) {
            const int error = barrier(g_crowd.comm, request);
            g_crowd.neighbours.ring_partners(MPI_COMM_WORLD, -1);
            return error;
        },
        [&] { vigil.rest(); });
    attend_no_more_to(kCrowd);
    g_calls.test_rest.store(nullptr, std::memory_order_relaxed);
    g_calls.tell_senders.store(nullptr, std::memory_order_relaxed);
}

// A rank that is not as far may still ring: the next holder of the slot looks once in vain.
void leave_board() {
    if (g_crowd.own) {
        g_crowd.assembled.end();
        g_crowd.children.end();
        sleep_on(nullptr);
        share_cores(nullptr, 0);
        g_crowd.neighbours.share_cores(false);
        g_crowd.board.leave(*g_crowd.own);
    }
    g_crowd.own = nullptr;
    g_crowd.board.close();
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/own_share.h"

#include "base/environment.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "node/identity.h"
#include "openmp/env/environment.h"
#include "openmp/env/share.h"
#include "openmp/env/topology.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>

namespace sennit::omp {
namespace {

// ---- does the environment bind threads? -------------------------------------------------------

const char *variable(const char *name) {
    const char *text = trusted_environment(name);
    return text && *text ? text : nullptr;
}

// A list of processors that a person wrote is taken as it is: a script may give each rank another
// one. But one of all that there are says nothing of this rank.
bool leaves_choice(const char *wrong, const PlaceList &list, const CpuSet &own) {
    if (wrong)
        return true; // it is ignored
    CpuSet named;
    for (int i = 0; i < list.count(); ++i)
        named.add(list[i]);
    named.keep(own);
    return named.empty() || named == own;
}

bool leaves_choice(const KmpAffinity &asked, const CpuSet &own) {
    PlaceList list;
    return !*asked.processors || leaves_choice(parse_cpu_list(asked.processors, list), list, own);
}

// As read_places() of affinity.cpp understands the variables, which says what is wrong with them.
bool binds_by_choice(const CpuSet &own) {
    if (const char *text = variable("KMP_AFFINITY"); text && stands_for_libomp()) {
        const KmpAffinity asked = parse_kmp_affinity(text);
        if (asked.typed)
            return asked.bind && leaves_choice(asked, own);
    }
    const bool takes_part = stands_for_libomp() && variable("KMP_HW_SUBSET"); // of the machine
    BindList bind;
    const char *const bind_text = variable("OMP_PROC_BIND");
    const bool decided = bind_text && parse_proc_bind(bind_text, bind);
    if (decided && !bind.on())
        return takes_part;
    if (const char *text = variable("OMP_PLACES")) {
        AbstractPlaces abstract;
        PlaceList list;
        const char *const wrong = parse_places(text, abstract, list);
        return abstract.asked || leaves_choice(wrong, list, own);
    }
    if (const char *text = variable("GOMP_CPU_AFFINITY")) {
        PlaceList list;
        return leaves_choice(parse_cpu_list(text, list), list, own);
    }
    return decided || takes_part;
}

bool has_several_domains() {
    char path[512];
    char nodes[4096]; // the system's lists are a page at most
    std::snprintf(path, sizeof path, "%s/node/online", system_files());
    return read_small_file(path, nodes, sizeof nodes) != 0 && std::strpbrk(nodes, ",-");
}

// Has nobody said where threads run, and is there a processor for each thread of each rank?
bool has_room(const CpuSet &own, Sharers node) {
    if (is_rank_fiber()) // it goes to whichever of the job's cores is free
        return false;
    for (const char *const name :
         {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_HW_SUBSET"})
        if (variable(name))
            return false;
    const int threads = first_number({"OMP_NUM_THREADS"}); // a list is of levels
    return first_number({"SENNIT_LOCAL_RANKS"}) == node.ranks && threads > 0 &&
           has_several_domains() &&
           std::int64_t{node.ranks} * threads <= node::within_quota(own.count());
}

// ---- the launcher -------------------------------------------------------------------------------

// Which rank of its node this is; of one rank, that it has none beside it.
Sharers rank_of_node() {
    Sharers node;
    node.ranks = first_number(
        {"SENNIT_LOCAL_RANKS", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_LOCAL_SIZE"});
    const char *const variable = local_rank_variable();
    node.rank = variable ? first_number({variable}) : -1;
    return node.rank >= 0 && node.rank < node.ranks ? node : Sharers{};
}

// `own` where nobody is known to have bound the rank.
CpuSet processors_of_launcher(const CpuSet &own) {
    const CpuSet set = is_virtual_rank() ? CpuSet() : processors_of(node::launcher());
    return set.empty() ? own : set;
}

// False: it has not got fewer.
bool stay_on(const CpuSet &part, const CpuSet &before = {}) {
    return part != before &&
           sched_setaffinity(0, CpuSet::kBytes, reinterpret_cast<const cpu_set_t *>(part.data())) ==
               0;
}

int &ranks_on_share() {
    static int ranks = 0;
    return ranks;
}

} // namespace

CpuSet processors_of(pid_t process) {
    CpuSet set;
    // The system call, for its set may be longer than cpu_set_t.
    if (sched_getaffinity(process, CpuSet::kBytes, reinterpret_cast<cpu_set_t *>(set.data())) != 0)
        return {};
    return set;
}

int ranks_on_own_share() {
    return ranks_on_share();
}

bool cores_move() {
    const char *const lending = variable("SENNIT_LENDING");
    return variable("SENNIT_POOL") || (lending && std::strcmp(lending, "on") == 0);
}

bool keep_to_own_share() {
    const Sharers node = rank_of_node();
    // A second share would be one of the first.
    if (ranks_on_share() > 0 || node.ranks <= 1 || cores_move())
        return false;
    const CpuSet own = processors_of(0);
    if (own.count() <= 1)
        return false;
    const bool binds = binds_by_choice(own);
    if (!binds && !has_room(own, node))
        return false;
    const Sharers sharers = sharers_of(own, processors_of_launcher(own), node);
    if (!binds)
        return sharers == node && stay_on(domains_of_share(own, sharers), own);
    if (sharers.ranks <= 1 || !stay_on(share_of(own, sharers)))
        return false;
    ranks_on_share() = ranks_on_part(own.count(), sharers.ranks);
    return true;
}

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/record.h"

#include "mpi/call/bare.h"
#include "mpi/engine/engine.h"

namespace sennit::mpi {

constinit Record g_record;

void Record::starts(int count, const MPI_Request *starting) {
    if (inside_mpi())
        return;
    PersistentFacts facts;
    for (int i = 0; i < count; ++i)
        if (persistent.find(starting[i], facts) && facts.notice == Notice::send)
            g_engine.begin_send(facts.peer);
}

void Record::started(int count, const MPI_Request *starting) {
    if (!(timeline.on() || crowded()) || inside_mpi())
        return;
    PersistentFacts facts;
    for (int i = 0; i < count; ++i) {
        if (!persistent.find(starting[i], facts))
            continue;
        if (timeline.on() && facts.described.call.call)
            timeline.post(facts.described, &starting[i]);
        if (crowded())
            ring(facts);
    }
}

void Record::ring(const PersistentFacts &facts) {
    if (facts.notice == Notice::none) { // a collective or partitioned one: of whoever
        g_crowd.neighbours.ring_all();
        return;
    }
    if (facts.notice == Notice::send)
        g_crowd.neighbours.ring_slot(facts.slot);
    if (g_crowd.lengths.may_be_long(facts.bytes))
        g_crowd.neighbours.note_slot(facts.slot, facts.bytes);
}

int free_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_free);
    g_record.forget(comm);
    return bare(comm);
}

int disconnect_comm(MPI_Comm *comm) {
    static constexpr auto bare = SENNIT_BARE(Comm_disconnect);
    g_record.forget(comm);
    return bare(comm);
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/assemble.h"

#include "mpi/call/errors.h"
#include "mpi/engine/engine.h"

#include <cstddef>
#include <cstring>

namespace sennit::mpi {
namespace {

template <class Call>
int wait(Operation operation, Call &call) {
    operation.assembled = true;
    return poll_and_wait(operation, [&](int *flag) {
        *flag = call.test() ? 1 : 0;
        return call.error();
    });
}

} // namespace

int assemble(Assembled &assembled, const Operation &operation, const Reduction &reduction) {
    if (reduction.has_root()) {
        ReduceCall call(assembled, operation.name, reduction);
        return wait(operation, call);
    }
    AssembledCall call(assembled, operation.name, reduction);
    return wait(operation, call);
}

int assemble(Assembled &assembled, const Operation &operation, const Broadcast &broadcast) {
    BroadcastCall call(assembled, operation.name, broadcast);
    if (call.error() != MPI_SUCCESS)
        return call.error();
    const int error = wait(operation, call);
    if (call.untold() != MPI_SUCCESS)
        raise(operation.object, call.untold());
    return error;
}

void take_in_vain(Assembled &assembled, const Operation &operation, const Reduction &reduction) {
    alignas(std::max_align_t) const std::byte nothing[node::Assembly::kMostBytes] = {};
    alignas(std::max_align_t) std::byte result[node::Assembly::kMostBytes];
    Reduction own = reduction;
    own.in = nothing;
    own.out = result;
    assemble(assembled, operation, own);
}

void gather(Assembled &assembled, const Operation &operation, std::uint32_t number) {
    Reduction nothing;
    nothing.combines = false;
    AssembledCall call(assembled, operation.name, nothing, number);
    wait(operation, call);
}

Adoption::Adoption(const char *name, MPI_Comm parent, bool gathers) : name_(name), parent_(parent) {
    if (!crowded() || inside_mpi())
        return;
    crowded_ = true;
    assembled_ = g_crowd.assembled_of(parent);
    if (!assembled_)
        return;
    const auto members = static_cast<std::size_t>(assembled_->assembly()->members());
    few_ = members * sizeof(Offer) <= node::Assembly::kMostBytes;
    number_ = assembled_->take_numbers((gathers ? 1U : 0U) + (few_ ? 1U : 2U));
    if (gathers)
        gathering_ = number_++;
}

Operation Adoption::operation(MPI_Comm on) const {
    return {.name = name_, .object = communicator(on), .turn = communicator(on)};
}

void Adoption::make(const Reduction &reduction, std::uint32_t number) {
    AssembledCall call(*assembled_, name_, reduction, number);
    wait(operation(parent_), call);
}

void Adoption::agree_on(MPI_Comm made) {
    if (assembled_)
        agree(made);
    else if (crowded_ && g_crowd.children.agree_by_messages(made))
        agree_by_messages(made);
}

void Adoption::agree(MPI_Comm made) {
    if (gathering_ != 0) // this rank has not come to MPI's call
        gather(*assembled_, operation(parent_), gathering_);
    Offer own;
    Child *const child = made == MPI_COMM_NULL ? nullptr : g_crowd.children.prepare(made, own);
    Offer all[node::kMostSlots];
    Reduction exchange;
    exchange.in = &own;
    exchange.out = all;
    exchange.bytes = sizeof own;
    exchange.combines = false;
    exchange.concatenates = few_;
    make(exchange, number_);
    if (child) {
        for (int rank = 0; !few_ && rank < assembled_->assembly()->members(); ++rank)
            std::memcpy(&all[rank], assembled_->part(rank).bytes, sizeof own);
        Offer offers[node::kMostSlots];
        g_crowd.children.choose_offers(*child, parent_, all, offers);
        g_crowd.children.agree(*child, own, offers);
    }
    if (!few_)
        make({}, number_ + 1);
}

void Adoption::agree_by_messages(MPI_Comm made) {
    static constexpr auto gather_offers = SENNIT_BARE(Iallgather);
    constexpr int bytes = sizeof(Offer);
    Offer offers[node::kMostSlots];
    Offer own;
    Child *const child = g_crowd.children.prepare(made, own);
    start_and_wait(operation(made), MPI_STATUS_IGNORE, [&](MPI_Request *request) {
        const int error =
            gather_offers(&own, bytes, MPI_BYTE, offers, bytes, MPI_BYTE, made, request);
        rings_partners(made, -1);
        return error;
    });
    if (child)
        g_crowd.children.agree(*child, own, offers);
}

} // namespace sennit::mpi

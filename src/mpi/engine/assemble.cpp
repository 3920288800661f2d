// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/assemble.h"

#include "mpi/engine/engine.h"

namespace sennit::mpi {
namespace {

int wait(Operation operation, AssembledCall &call) {
    operation.assembled = true;
    return poll_and_wait(operation, [&](int *flag) {
        *flag = call.test() ? 1 : 0;
        return MPI_SUCCESS;
    });
}

} // namespace

int assemble(Assembled &assembled, Operation operation, const Reduction &reduction) {
    AssembledCall call(assembled, operation.name, reduction);
    return wait(operation, call);
}

Adoption::Adoption(const char *name, MPI_Comm parent) : name_(name), parent_(parent) {
    if (!crowded() || inside_mpi())
        return;
    assembled_ = g_crowd.assembled_of(parent);
    if (assembled_)
        number_ = assembled_->take_numbers(2);
}

void Adoption::make(const Reduction &reduction, std::uint32_t number) {
    AssembledCall call(*assembled_, name_, reduction, number);
    wait({.name = name_, .object = communicator(parent_), .turn = communicator(parent_)}, call);
}

void Adoption::end(MPI_Comm made) {
    if (!assembled_)
        return;
    Offer offer;
    Child *const child = made == MPI_COMM_NULL ? nullptr : g_crowd.children.prepare(made, offer);
    Reduction exchange;
    exchange.in = &offer;
    exchange.bytes = sizeof offer;
    exchange.combines = false;
    make(exchange, number_);
    if (child)
        g_crowd.children.agree(*child, made, offer, parent_, *assembled_);
    make({}, number_ + 1);
}

} // namespace sennit::mpi

// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/delegate.h"

#include "base/clock.h"
#include "mpi/call/errors.h"
#include "mpi/call/thread_state.h"
#include "mpi/engine/engine.h"
#include "mpi/quirks/open_mpi.h"

#include <cstddef>
#include <cstring>
#include <pthread.h>
#include <sched.h>

namespace sennit::mpi {
namespace {

// A rank that comes early to a collective call leaves the core to the others. Then all make the
// call, which spins, at about the same time.
class Gathering {
  public:
    // Begins before the call waits for its turn: a number is taken in the order of the program.
    explicit Gathering(const Operation &operation) : number_(operation.gathering) {
        const auto comm = handle_from<MPI_Comm>(operation.turn.handle);
        if (!crowded() || operation.turn.kind != Object::Kind::communicator || !crowds(comm))
            return;
        comm_ = comm;
        assembled_ = g_crowd.assembled_of(comm);
        if (assembled_ && number_ == 0)
            number_ = assembled_->take_numbers(1);
    }
    void wait(const Operation &operation) const {
        if (assembled_)
            gather(*assembled_, operation, number_);
        else if (comm_ != MPI_COMM_NULL)
            by_messages(operation);
    }

  private:
    void by_messages(const Operation &operation) const {
        static constexpr auto barrier = SENNIT_BARE(Ibarrier);
        Ticket ticket;
        if (outside_task([&] { return barrier(comm_, &ticket.request); }) != MPI_SUCCESS)
            return; // the call will say what is wrong
        rings_partners(comm_, -1);
        g_engine.wait_for(operation, ticket);
    }

    MPI_Comm comm_ = MPI_COMM_NULL;  // null: nobody waits
    Assembled *assembled_ = nullptr; // null: by messages
    std::uint32_t number_;
};

// Nothing touches a job after this. It lives in the frame of the task that waits.
void finish(BlockingJob &job, int error) {
    job.error = error;
    if (job.task)
        resume(job.task);
    else
        job.over.store(true, std::memory_order_release);
}

void finish_all(Job *jobs, int error) {
    while (jobs) {
        auto &job = static_cast<BlockingJob &>(*jobs);
        jobs = job.joined;
        finish(job, error);
    }
}

// How long a flush takes is noted.
int make(BlockingJob &job) {
    if (!job.same.whole)
        return job.make(job);
    const std::uint32_t locks = g_engine.flushes.locks();
    const std::int64_t begin = monotonic_ns();
    const int error = job.make(job);
    if (error == MPI_SUCCESS)
        g_engine.flushes.add(job.same, locks, monotonic_ns() - begin);
    return error;
}

// On a helper thread.
void call_for_all(Job &base) {
    auto &job = static_cast<BlockingJob &>(base);
    int error = MPI_SUCCESS;
    {
        static constexpr sennit_call call{"", 0, 0}; // the task says what it waits for
        const Blocking mark(call, -1, -1, 0);
        error = make(job);
    }
    finish_all(&job, error);
}

// No helper takes the job. Others may have joined it meanwhile.
int call_here(BlockingJob &job) {
    const int error = job.make(job);
    finish_all(job.joined, error);
    return error;
}

// A flush that a task makes itself. In a crowd it would spin for a target that may need this core.
bool may_stay(const BlockingJob &job) {
    return job.same.whole && !crowded() && g_engine.flushes.may_make(job.same);
}

} // namespace

int run_elsewhere(const Operation &operation, BlockingJob &job) {
    static pthread_once_t loaded = PTHREAD_ONCE_INIT;
    pthread_once(&loaded, load_lazy_parts);
    const bool outside = operation.path == Path::polls;
    const bool polls = outside && InCallback::polls(); // else all ranks make the call at once
    const Gathering gathering(operation);
    const Turn turn(g_engine.turns, outside ? Object{} : operation.turn);
    gathering.wait(operation); // on all ranks, in a task or not
    if (!polls && (outside || may_stay(job))) {
        const Blocking mark(operation);
        return make(job);
    }
    job.task = polls ? nullptr : current_task();
    job.over.store(false, std::memory_order_relaxed);
    // One-sided calls that are not collective: locks and flushes of windows.
    job.brief =
        operation.object.kind == Object::Kind::window && operation.turn.kind == Object::Kind::none;
    job.call = call_for_all;
    if ((polls && !runtime_present() && !may_use_threads()) || !g_engine.helpers.hand_out(job))
        return call_here(job);
    if (polls)
        g_engine.poll_until(operation, [&] { return job.over.load(std::memory_order_acquire); });
    else {
        add_helpers(1);
        // The helper may want this very core. What it sees of a flush saves the next ones a helper.
        if (job.same.whole && !g_engine.flushes.knows(job.same))
            sched_yield();
        suspend(job.task, operation);
        add_helpers(-1);
    }
    return job.error;
}

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
    path_ = path_of_wait();
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
    return {.name = name_, .object = communicator(on), .turn = communicator(on), .path = path_};
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

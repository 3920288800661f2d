// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/delegate.h"

#include "mpi/call/blocked_mark.h"
#include "mpi/call/callback_state.h"
#include "mpi/engine/assemble.h"
#include "mpi/quirks/lazy_parts.h"

#include <pthread.h>

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

} // namespace

int run_elsewhere(const Operation &operation, BlockingJob &job) {
    static pthread_once_t loaded = PTHREAD_ONCE_INIT;
    pthread_once(&loaded, load_lazy_parts);
    const bool outside = !in_task();
    const bool polls = outside && InCallback::polls();
    const Gathering gathering(operation);
    const Turn turn(g_engine.turns, outside ? Object{} : operation.turn);
    gathering.wait(operation); // on all ranks, in a task or not
    if (outside && !polls) {
        const Blocking mark(operation);
        return job.make(job);
    }
    job.task = polls ? nullptr : current_task();
    job.over.store(false, std::memory_order_relaxed);
    // One-sided calls that are not collective: locks and flushes of windows.
    job.brief =
        operation.object.kind == Object::Kind::window && operation.turn.kind == Object::Kind::none;
    job.call = [](Job &base) {
        auto &self = static_cast<BlockingJob &>(base);
        {
            static constexpr sennit_call call{"", 0, 0}; // the task says what it waits for
            const Blocking mark(call, -1, -1, 0);
            self.error = self.make(self);
        }
        // Nothing touches the job after this. It lives in the frame of the task that waits.
        if (self.task)
            resume(self.task);
        else
            self.over.store(true, std::memory_order_release);
    };
    if ((polls && !runtime_present() && !may_use_threads()) || !g_engine.helpers.hand_out(job))
        job.error = job.make(job);
    else if (polls)
        g_engine.poll_until(operation, [&] { return job.over.load(std::memory_order_acquire); });
    else {
        add_helpers(1);
        suspend(job.task, operation);
        add_helpers(-1);
    }
    return job.error;
}

} // namespace sennit::mpi

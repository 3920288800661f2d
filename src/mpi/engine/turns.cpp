// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/turns.h"

#include "base/assert.h"
#include "mpi/call/guard.h"
#include "mpi/call/runtime.h"

namespace sennit::mpi {

// Null: nobody has had it.
Turn *Turn::take_or_find_holder() {
    for (Turn *holder = turns_.holders_; holder; holder = holder->next_)
        if (holder->object_ == object_)
            return holder;
    turns_.count_.fetch_add(1, std::memory_order_relaxed);
    next_ = turns_.holders_;
    turns_.holders_ = this;
    return nullptr;
}

Turn::Turn(Turns &turns, Object object, IfFree) : turns_(turns), object_(object) {
    const Guard guard(turns_.mutex_);
    if (take_or_find_holder())
        object_ = {};
}

Turn::Turn(Turns &turns, Object object) : turns_(turns), object_(object) {
    if (object_.kind == Object::Kind::none)
        return;
    {
        const Guard guard(turns_.mutex_);
        Turn *const holder = take_or_find_holder();
        if (!holder)
            return;
        turns_.count_.fetch_add(1, std::memory_order_relaxed);
        waiter_ = current_task();
        (holder->first_waiter_ ? holder->last_waiter_->next_ : holder->first_waiter_) = this;
        holder->last_waiter_ = this;
    }
    suspend(waiter_, {.name = "MPI, the turn of a collective call"});
}

Turn::~Turn() {
    if (object_.kind == Object::Kind::none)
        return;
    sennit_task *successor = nullptr;
    {
        const Guard guard(turns_.mutex_);
        SENNIT_ASSERT(turns_.taken());
        turns_.count_.fetch_sub(1, std::memory_order_relaxed);
        Turn **at = &turns_.holders_;
        while (*at != this) {
            SENNIT_ASSERT(*at); // it has had its turn
            at = &(*at)->next_;
        }
        if (Turn *heir = first_waiter_) {
            heir->first_waiter_ = heir->next_;
            heir->last_waiter_ = heir->first_waiter_ ? last_waiter_ : nullptr;
            heir->next_ = next_;
            *at = heir;
            successor = heir->waiter_;
        } else {
            *at = next_;
        }
    }
    if (successor)
        resume(successor);
}

} // namespace sennit::mpi

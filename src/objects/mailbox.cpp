// SPDX-License-Identifier: Apache-2.0
#include "objects/mailbox.h"

#include "sennit_balance.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <utility>

namespace sennit::objects {
namespace {

constexpr int kTag = 1;

} // namespace

Message::Message(const Envelope &envelope, const void *data, std::size_t bytes)
    : whole_(sizeof(Envelope) + bytes) {
    std::memcpy(whole_.data(), &envelope, sizeof envelope);
    if (bytes > 0)
        std::memcpy(whole_.data() + sizeof envelope, data, bytes);
}

Envelope Message::envelope() const {
    Envelope envelope;
    std::memcpy(&envelope, whole_.data(), sizeof envelope);
    return envelope;
}

bool Wanted::matches(const Envelope &envelope) const {
    return envelope.to == to && (from == SENNIT_ANY || envelope.from == from) &&
           (tag == SENNIT_ANY || envelope.tag == tag);
}

Mailbox::Mailbox(MPI_Comm comm, int ranks)
    : comm_(comm), sent_to_(static_cast<std::size_t>(ranks)) {}

Mailbox::~Mailbox() {
    forget_sent(true);
}

int Mailbox::send(int rank, Message &&message) {
    if (message.whole().size() > INT_MAX)
        return MPI_ERR_COUNT;
    const std::lock_guard guard(lock_);
    forget_sent(false);
    // The elements of a deque stay where they are. So MPI may read one until the request is
    // complete.
    Sent &sent = sent_.emplace_back(Sent{MPI_REQUEST_NULL, std::move(message)});
    std::vector<char> &whole = sent.message.whole();
    const int code = MPI_Isend(whole.data(), static_cast<int>(whole.size()), MPI_BYTE, rank, kTag,
                               comm_, &sent.request);
    if (code == MPI_SUCCESS)
        ++sent_to_[static_cast<std::size_t>(rank)];
    else
        sent_.pop_back();
    return code;
}

// Begins at the front. Sends to one rank are complete in about this order, and nobody needs the
// memory sooner.
void Mailbox::forget_sent(bool wait) {
    while (!sent_.empty()) {
        int done = 1;
        if (wait)
            MPI_Wait(&sent_.front().request, MPI_STATUS_IGNORE);
        else
            MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE);
        if (!done)
            return;
        sent_.pop_front();
    }
}

bool Mailbox::take_filed(const Wanted &wanted, Message &message) {
    const auto mine = filed_.find(wanted.to);
    if (mine == filed_.end())
        return false;
    std::deque<Message> &all = mine->second;
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Message &one) { return wanted.matches(one.envelope()); });
    if (found == all.end())
        return false;
    message = std::move(*found);
    all.erase(found);
    return true;
}

void Mailbox::file(Message &&message) {
    filed_[message.envelope().to].push_back(std::move(message));
}

void Mailbox::wake(std::list<Waiter *>::iterator waiter, Waiter::State state) {
    Waiter &one = **waiter;
    waiters_.erase(waiter);
    one.state = state;
    one.woken.notify_one(); // under the lock: afterwards it may be gone
}

void Mailbox::let_next_receive() {
    somebody_receives_ = !waiters_.empty();
    if (somebody_receives_)
        wake(waiters_.begin(), Waiter::State::is_to_receive);
}

void Mailbox::hand_over(Message &&message) {
    const Envelope envelope = message.envelope();
    const auto found = std::find_if(waiters_.begin(), waiters_.end(), [&](const Waiter *one) {
        return one->wanted.matches(envelope);
    });
    if (found == waiters_.end())
        return file(std::move(message));
    (*found)->message = std::move(message);
    wake(found, Waiter::State::has_message);
}

// While another thread receives. Woken by that one. True: it has its message. False: it is the one
// that receives now.
bool Mailbox::wait_among(const Wanted &wanted, Message &message,
                         std::unique_lock<std::mutex> &guard) {
    Waiter me{wanted, message};
    waiters_.push_back(&me);
    me.woken.wait(guard, [&me] { return me.state != Waiter::State::waits; });
    return me.state == Waiter::State::has_message;
}

// This is done without the lock, for the task may be suspended here.
int Mailbox::receive_one(Message &message) {
    MPI_Message handle;
    MPI_Status status;
    int code = MPI_Mprobe(MPI_ANY_SOURCE, kTag, comm_, &handle, &status);
    if (code != MPI_SUCCESS)
        return code;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    message = Message(static_cast<std::size_t>(bytes));
    return MPI_Mrecv(message.whole().data(), bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
}

// Who receives has waited longest. So a message that it and others want is its own.
int Mailbox::receive(const Wanted &wanted, Message &message) {
    std::unique_lock guard(lock_);
    if (take_filed(wanted, message))
        return MPI_SUCCESS;
    if (somebody_receives_ && wait_among(wanted, message, guard))
        return MPI_SUCCESS;
    somebody_receives_ = true;
    for (;;) {
        guard.unlock();
        Message next(sizeof(Envelope));
        const int code = receive_one(next);
        guard.lock();
        if (code == MPI_SUCCESS)
            ++received_;
        const bool mine = code == MPI_SUCCESS && wanted.matches(next.envelope());
        if (mine)
            message = std::move(next);
        if (mine || code != MPI_SUCCESS) {
            let_next_receive();
            return code;
        }
        hand_over(std::move(next));
    }
}

int Mailbox::flush() {
    std::vector<std::uint64_t> from(sent_to_.size());
    int code = MPI_Alltoall(sent_to_.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
    const std::uint64_t all = std::accumulate(from.begin(), from.end(), std::uint64_t{0});
    while (code == MPI_SUCCESS && received_ < all) {
        Message next(sizeof(Envelope));
        code = receive_one(next);
        if (code == MPI_SUCCESS) {
            ++received_;
            file(std::move(next));
        }
    }
    forget_sent(true);
    return code;
}

std::vector<Message> Mailbox::copies(int object) const {
    const auto mine = filed_.find(object);
    return mine == filed_.end() ? std::vector<Message>{}
                                : std::vector<Message>(mine->second.begin(), mine->second.end());
}

void Mailbox::drop(int object) {
    filed_.erase(object);
}

} // namespace sennit::objects

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
constexpr int kNudge = 5; // from a rank to itself: nudge(); balance.cpp has those in between

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
    : comm_(comm), sent_to_(static_cast<std::size_t>(ranks)) {
    MPI_Comm_rank(comm, &self_);
}

Mailbox::~Mailbox() {
    forget_sent(true);
}

int Mailbox::send(int rank, Message &&message) {
    if (message.whole().size() > INT_MAX)
        return MPI_ERR_COUNT;
    const Guard guard(mutex_);
    forget_sent(false);
    // The elements of a deque stay where they are. So MPI may read one until the request is
    // complete. forget_sent() sees to that, which the analyzer's MPI checker does not find.
    Sent &sent = sent_.emplace_back(Sent{MPI_REQUEST_NULL, std::move(message)});
    std::vector<char> &whole = sent.message.whole();
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
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
            // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
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

void Mailbox::let_next_receive() {
    receiver_ = waiters_.empty() ? nullptr : waiters_.front();
    if (!receiver_)
        return;
    waiters_.pop_front();
    pthread_cond_signal(&receiver_->woken);
}

int Mailbox::hand_over(Message &&message) {
    const Envelope envelope = message.envelope();
    const auto wants = [&envelope](const Waiter *one) { return one->wanted.matches(envelope); };
    if (receiver_ && !receiver_->has_message && wants(receiver_)) {
        receiver_->message = std::move(message);
        receiver_->has_message = true;
        return is_probing_ ? nudge() : MPI_SUCCESS;
    }
    const auto found = std::find_if(waiters_.begin(), waiters_.end(), wants);
    if (found == waiters_.end()) {
        file(std::move(message));
        return MPI_SUCCESS;
    }
    Waiter &one = **found;
    waiters_.erase(found);
    one.message = std::move(message);
    one.has_message = true;
    pthread_cond_signal(&one.woken); // with the mutex: afterwards it may be gone
    return MPI_SUCCESS;
}

// The receiver waits in MPI_Probe, and another thread has taken its message. Only a message wakes
// it.
int Mailbox::nudge() {
    Sent &sent = sent_.emplace_back(Sent{MPI_REQUEST_NULL, Message(sizeof(Envelope))});
    is_nudged_ = true;
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): as in send()
    return MPI_Isend(nullptr, 0, MPI_BYTE, self_, kNudge, comm_, &sent.request);
}

// Takes what has arrived, and hands it over, in the order of arrival, until the caller's own
// message is among it.
int Mailbox::take_arrived(Waiter &mine) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !mine.has_message) {
        int is_there = 0;
        MPI_Message handle;
        MPI_Status status;
        code = MPI_Improbe(MPI_ANY_SOURCE, kTag, comm_, &is_there, &handle, &status);
        if (code != MPI_SUCCESS || !is_there)
            break;
        Message next(sizeof(Envelope));
        code = receive_matched(handle, status, next);
        if (code != MPI_SUCCESS)
            break;
        if (mine.wanted.matches(next.envelope())) {
            mine.message = std::move(next);
            mine.has_message = true;
        } else {
            code = hand_over(std::move(next));
        }
    }
    return code;
}

int Mailbox::receive_matched(MPI_Message &handle, const MPI_Status &status, Message &message) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    message = Message(static_cast<std::size_t>(bytes));
    const int code = MPI_Mrecv(message.whole().data(), bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        ++received_;
    return code;
}

// The receiver's. Waits, without the mutex, for the task may be suspended here. It takes nothing:
// the mutex is held from the moment that a message is taken until it is handed over, else a later
// one could overtake it.
int Mailbox::wait_for_arrival() {
    is_probing_ = true;
    mutex_.unlock();
    int code = MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, MPI_STATUS_IGNORE);
    mutex_.lock();
    is_probing_ = false;
    if (is_nudged_)
        code = MPI_Recv(nullptr, 0, MPI_BYTE, self_, kNudge, comm_, MPI_STATUS_IGNORE);
    is_nudged_ = false;
    return code;
}

int Mailbox::receive(const Wanted &wanted, Message &message) {
    const Guard guard(mutex_);
    if (take_filed(wanted, message))
        return MPI_SUCCESS;
    Waiter me{wanted, message};
    int code = take_arrived(me);
    if (code == MPI_SUCCESS && !me.has_message && receiver_) {
        waiters_.push_back(&me);
        while (!me.has_message && receiver_ != &me)
            mutex_.wait(me.woken);
    }
    while (code == MPI_SUCCESS && !me.has_message) {
        receiver_ = &me;
        code = wait_for_arrival();
        if (code == MPI_SUCCESS)
            code = take_arrived(me);
    }
    if (receiver_ == &me)
        let_next_receive();
    return me.has_message ? MPI_SUCCESS : code;
}

int Mailbox::flush() SENNIT_NOT_CHECKED {
    std::vector<std::uint64_t> from(sent_to_.size());
    int code = MPI_Alltoall(sent_to_.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
    const std::uint64_t all = std::accumulate(from.begin(), from.end(), std::uint64_t{0});
    while (code == MPI_SUCCESS && received_ < all) {
        MPI_Message handle;
        MPI_Status status;
        code = MPI_Mprobe(MPI_ANY_SOURCE, kTag, comm_, &handle, &status);
        Message next(sizeof(Envelope));
        if (code == MPI_SUCCESS)
            code = receive_matched(handle, status, next);
        if (code == MPI_SUCCESS)
            file(std::move(next));
    }
    forget_sent(true);
    return code;
}

std::vector<Message> Mailbox::copies(int object) const SENNIT_NOT_CHECKED {
    const auto mine = filed_.find(object);
    return mine == filed_.end() ? std::vector<Message>{}
                                : std::vector<Message>(mine->second.begin(), mine->second.end());
}

void Mailbox::drop(int object) SENNIT_NOT_CHECKED {
    filed_.erase(object);
}

} // namespace sennit::objects

// SPDX-License-Identifier: Apache-2.0
#include "objects/mailbox.h"

#include "sennit_balance.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>
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
    const auto found = std::find_if(filed_.begin(), filed_.end(), [&](const Message &one) {
        return wanted.matches(one.envelope());
    });
    if (found == filed_.end())
        return false;
    message = std::move(*found);
    filed_.erase(found);
    return true;
}

// This is done without the lock, for the task may be suspended here.
int Mailbox::receive_one() {
    MPI_Message handle;
    MPI_Status status;
    int code = MPI_Mprobe(MPI_ANY_SOURCE, kTag, comm_, &handle, &status);
    if (code != MPI_SUCCESS)
        return code;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message message(static_cast<std::size_t>(bytes));
    code = MPI_Mrecv(message.whole().data(), bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    const std::lock_guard guard(lock_);
    if (code == MPI_SUCCESS) {
        ++received_;
        filed_.push_back(std::move(message));
    }
    return code;
}

int Mailbox::receive(const Wanted &wanted, Message &message) {
    std::unique_lock guard(lock_);
    for (;;) {
        if (take_filed(wanted, message))
            return MPI_SUCCESS;
        if (somebody_receives_) {
            // Woken by the thread that receives, after each message.
            changed_.wait(guard);
            continue;
        }
        somebody_receives_ = true;
        guard.unlock();
        const int code = receive_one();
        guard.lock();
        somebody_receives_ = false;
        changed_.notify_all();
        if (code != MPI_SUCCESS)
            return code;
    }
}

int Mailbox::flush() {
    std::vector<std::uint64_t> from(sent_to_.size());
    int code = MPI_Alltoall(sent_to_.data(), 1, MPI_UINT64_T, from.data(), 1, MPI_UINT64_T, comm_);
    const std::uint64_t all = std::accumulate(from.begin(), from.end(), std::uint64_t{0});
    while (code == MPI_SUCCESS && received_ < all)
        code = receive_one();
    forget_sent(true);
    return code;
}

std::vector<Message> Mailbox::copies(int object) const {
    std::vector<Message> found;
    std::copy_if(filed_.begin(), filed_.end(), std::back_inserter(found),
                 [object](const Message &one) { return one.envelope().to == object; });
    return found;
}

void Mailbox::drop(int object) {
    std::erase_if(filed_, [object](const Message &one) { return one.envelope().to == object; });
}

} // namespace sennit::objects

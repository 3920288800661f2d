// SPDX-License-Identifier: Apache-2.0
// Messages between objects. Each is one message of MPI, on a communicator of the set's own, with
// the envelope in front. So is a message to an object of the same rank, to keep one order.
//
// A task that wants a message takes whatever has arrived, for all, since MPI's matching knows
// ranks, not objects. It hands each message to the task that waits for it, and wakes nobody else:
// there may be hundreds of tasks that wait. What nobody waits for yet is filed. So nobody waits for
// a message that is there. If it is not, one thread (or task), the receiver, waits in MPI. When it
// has its message, the one that has waited longest does.
#pragma once

#include "base/guard.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <pthread.h>
#include <unordered_map>
#include <vector>

namespace sennit::objects {

struct Envelope {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t tag = 0;
    std::int32_t unused = 0;
};

// An envelope, and its contents.
class Message {
  public:
    Message(const Envelope &envelope, const void *data, std::size_t bytes);
    explicit Message(std::size_t whole_bytes) : whole_(whole_bytes) {}

    Envelope envelope() const;
    const char *data() const { return whole_.data() + sizeof(Envelope); }
    std::size_t bytes() const { return whole_.size() - sizeof(Envelope); }
    std::vector<char> &whole() { return whole_; }
    const std::vector<char> &whole() const { return whole_; }

  private:
    std::vector<char> whole_;
};

struct Wanted {
    int to;
    int from; // SENNIT_ANY: any
    int tag;  // the same
    bool matches(const Envelope &envelope) const;
};

class Mailbox {
  public:
    // Only flush() is collective. Nothing else is under way in `comm` while threads send or
    // receive.
    Mailbox(MPI_Comm comm, int ranks);
    ~Mailbox();
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    // Returns a code of MPI.
    int send(int rank, Message &&message);
    // Waits for the first message that is wanted, in the order of arrival.
    int receive(const Wanted &wanted, Message &message);

    // ---- only while no thread sends or receives

    // Collective. When it returns, each message that was sent has been filed by the rank that it
    // was sent to.
    int flush();
    // What has arrived for one object, in the order of arrival. It moves with the object.
    std::vector<Message> copies(int object) const;
    void drop(int object);
    void put(Message &&message) SENNIT_NOT_CHECKED { file(std::move(message)); }

  private:
    // A thread that receives. It lives on the thread's stack.
    struct Waiter {
        const Wanted &wanted;
        Message &message;
        bool has_message = false;
        // It has its message, or is the receiver now.
        pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
    };

    bool take_filed(const Wanted &wanted, Message &message) SENNIT_REQUIRES(mutex_);
    void file(Message &&message) SENNIT_REQUIRES(mutex_);
    void let_next_receive() SENNIT_REQUIRES(mutex_);
    int hand_over(Message &&message) SENNIT_REQUIRES(mutex_);
    int nudge() SENNIT_REQUIRES(mutex_);
    int take_arrived(Waiter &mine) SENNIT_REQUIRES(mutex_);
    int receive_matched(MPI_Message &handle, const MPI_Status &status, Message &message)
        SENNIT_REQUIRES(mutex_);
    int wait_for_arrival() SENNIT_REQUIRES(mutex_);
    void forget_sent(bool wait) SENNIT_REQUIRES(mutex_);

    struct Sent {
        MPI_Request request;
        Message message;
    };

    MPI_Comm comm_;
    int self_ = 0;
    Mutex mutex_;
    Waiter *receiver_ SENNIT_GUARDED_BY(mutex_) = nullptr; // it alone waits in MPI
    bool is_probing_ SENNIT_GUARDED_BY(mutex_) = false;    // the receiver
    bool is_nudged_ SENNIT_GUARDED_BY(mutex_) = false;     // the same
    // Without the receiver; the one that has waited longest first.
    std::list<Waiter *> waiters_ SENNIT_GUARDED_BY(mutex_);
    // By the object that they are for, each in the order of arrival.
    std::unordered_map<int, std::deque<Message>> filed_ SENNIT_GUARDED_BY(mutex_);
    std::deque<Sent> sent_ SENNIT_GUARDED_BY(mutex_);              // until MPI has done with them
    std::vector<std::uint64_t> sent_to_ SENNIT_GUARDED_BY(mutex_); // messages to each rank, ever
    std::uint64_t received_ SENNIT_GUARDED_BY(mutex_) = 0;         // ever, from all
};

} // namespace sennit::objects

// SPDX-License-Identifier: Apache-2.0
// Messages between objects. Each is one message of MPI, on a communicator of the set's own, with
// the envelope in front. So is a message to an object of the same rank, to keep one order.
//
// Several threads (or tasks) may wait for a message. One of them receives, whatever comes, for all
// of them, since MPI's matching knows ranks, not objects. It hands each message to who waits for
// it, and wakes nobody else: there may be hundreds of tasks that wait. What nobody waits for yet is
// filed. When it has its own message, the one that has waited longest receives.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
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
    // `comm` must be the mailbox's own. Only flush() is collective.
    Mailbox(MPI_Comm comm, int ranks);
    ~Mailbox();
    Mailbox(const Mailbox &) = delete;
    Mailbox &operator=(const Mailbox &) = delete;

    // Returns a code of MPI.
    int send(int rank, Message &&message);
    // Waits for the first message that is wanted, in the order of arrival.
    int receive(const Wanted &wanted, Message &message);
    // Collective. When it returns, each message that was sent has been filed by the rank that it
    // was sent to.
    int flush();

    // What has arrived for one object, in the order of arrival. It moves with the object. Called
    // only while no thread sends or receives.
    std::vector<Message> copies(int object) const;
    void drop(int object);
    void put(Message &&message) { file(std::move(message)); }

  private:
    // A thread that waits while another one receives. It lives on the thread's stack.
    struct Waiter {
        const Wanted &wanted;
        Message &message;
        enum class State { waits, has_message, is_to_receive } state = State::waits;
        std::condition_variable woken = {};
    };

    bool take_filed(const Wanted &wanted, Message &message);
    void file(Message &&message);
    bool wait_among(const Wanted &wanted, Message &message, std::unique_lock<std::mutex> &guard);
    void wake(std::list<Waiter *>::iterator waiter, Waiter::State state);
    void let_next_receive();
    void hand_over(Message &&message);
    int receive_one(Message &message);
    void forget_sent(bool wait);

    struct Sent {
        MPI_Request request;
        Message message;
    };

    MPI_Comm comm_;
    std::mutex lock_; // guards all below
    bool somebody_receives_ = false;
    std::list<Waiter *> waiters_; // who has waited longest first
    // By the object that they are for, each in the order of arrival.
    std::unordered_map<int, std::deque<Message>> filed_;
    std::deque<Sent> sent_;              // until MPI has done with them
    std::vector<std::uint64_t> sent_to_; // messages to each rank, ever
    std::uint64_t received_ = 0;         // ever, from all
};

} // namespace sennit::objects

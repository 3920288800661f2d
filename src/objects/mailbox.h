// SPDX-License-Identifier: Apache-2.0
// Messages between objects. Each is one message of MPI, on a communicator of the set's own, with
// the envelope in front. So is a message to an object of the same rank, to keep one order.
//
// Several threads (or tasks) may wait for a message. One of them receives, whatever comes, for all
// of them, since MPI's matching knows ranks, not objects. It files what it gets, wakes the others,
// and goes on until it has its own message. Then another one receives.
#pragma once

#include <mpi.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
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
    void put(Message &&message) { filed_.push_back(std::move(message)); }

  private:
    bool take_filed(const Wanted &wanted, Message &message);
    int receive_one();
    void forget_sent(bool wait);

    struct Sent {
        MPI_Request request;
        Message message;
    };

    MPI_Comm comm_;
    std::mutex lock_; // guards all below
    std::condition_variable changed_;
    bool somebody_receives_ = false;
    std::deque<Message> filed_;
    std::deque<Sent> sent_;              // until MPI has done with them
    std::vector<std::uint64_t> sent_to_; // messages to each rank, ever
    std::uint64_t received_ = 0;         // ever, from all
};

} // namespace sennit::objects

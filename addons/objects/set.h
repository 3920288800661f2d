// SPDX-License-Identifier: Apache-2.0
// A set of objects over the ranks of a communicator (include/sennit_balance.h).
//
// Objects move only in sennit_balance(), which is collective. So each rank hears of each move, and
// has a table of all objects' ranks that is right at all times. No rank has to be asked, and no
// message has to be forwarded. The tables of ranks and data cost twelve bytes an object on each
// rank.
#pragma once

#include "decide/objects/gate.h"
#include "decide/objects/outlook.h"
#include "decide/objects/strategies.h"
#include "objects/mailbox.h"
#include "objects/meter.h"
#include "sennit_balance.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sennit::objects {

// The data of an object that is here.
struct Held {
    void *data = nullptr;
    std::size_t bytes = 0; // of one that is a range of memory
    Load load;
};

class Set {
  public:
    // Collective. `type` null: ranges of memory.
    Set(MPI_Comm comm, int count, const sennit_object_type *type);
    ~Set(); // collective
    Set(const Set &) = delete;
    Set &operator=(const Set &) = delete;

    int count() const { return static_cast<int>(rank_of_.size()); }
    bool exists(int object) const { return object >= 0 && object < count(); }
    bool is_memory() const { return is_memory_; }
    bool committed() const { return committed_; }
    bool is_here(int object) const { return exists(object) && held_[balance::index(object)]; }
    int rank_of(int object) const { return rank_of_[balance::index(object)]; }
    Held &held(int object) { return *held_[balance::index(object)]; }
    const Held &held(int object) const { return *held_[balance::index(object)]; }
    std::span<const int> local() const { return local_; }

    void add(int object, void *data, std::size_t bytes);
    void set_position(int object, const balance::Position &position);
    void set_speed(double speed) { speed_ = speed; }
    void set_strategy(const balance::Strategy &strategy);
    // An error if an object was added nowhere, or twice.
    int commit();

    Meter &meter() { return meter_; }
    Mailbox &mailbox() { return mailbox_; }
    ObjectTraffic &traffic() { return traffic_; }

    int balance(sennit_balance_info &info);

  private:
    struct Answer;
    // What an object of this rank is in this period.
    struct Row {
        std::int64_t object;
        std::uint64_t bytes;
        double load_s;
    };

    void find_nodes();
    std::uint64_t agree_on_number() const;
    void list_local();
    void destroy(int object);
    Answer decide(sennit_balance_info &info);
    std::size_t object_bytes(int object) const;
    std::vector<Row> rows();
    // How much each object has sent to each other in this period; on rank 0, of all.
    std::vector<balance::Link> links();
    // Returns the objects of this rank that could not leave.
    std::vector<int> move(const Answer &answer);
    // For traces (timeline.cpp): the period is over, and the object of each row is where rank_of()
    // says.
    void record(std::span<const Row> rows) const;
    void record(const sennit_balance_info &info) const;
    std::vector<char> pack(int object);
    bool unpack(int object, const char *packed, std::size_t bytes);

    MPI_Comm comm_ = MPI_COMM_NULL;
    std::uint64_t number_ = 0; // no other set of the job has it
    int calls_ = 0;            // of balance()
    int rank_ = 0;
    int ranks_ = 1;
    int ranks_of_node_ = 1;
    sennit_object_type type_;
    bool is_memory_;
    bool committed_ = false;
    std::vector<int> rank_of_;
    std::vector<std::unique_ptr<Held>> held_; // null: on another rank
    std::vector<int> local_;
    Mutex positions_mutex_; // of writers, until commit(); then nobody writes any more
    std::vector<balance::Position> positions_; // empty: nobody gave one
    double speed_ = 1;
    const balance::Strategy *strategy_;
    balance::History history_;                // on rank 0, of a strategy that looks ahead
    balance::MoveGate gate_{{20e-6, 0.5e-9}}; // used on rank 0
    Meter meter_;
    ObjectTraffic traffic_;
    Mailbox mailbox_;
};

} // namespace sennit::objects

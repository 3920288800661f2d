// SPDX-License-Identifier: Apache-2.0
// sennit_balance(). Messages under way arrive. Rank 0 hears of all loads, decides, and tells the
// others. Then objects move. An object leaves its old rank only when the new rank has said that it
// has it.
#include "base/message.h"
#include "decide/objects/outlook.h"
#include "objects/set.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

namespace sennit::objects {
namespace {

using balance::index;

// What a call gains is taken to last for this many calls. Loads change, but not at once.
constexpr double kHorizon = 4;
// Within a node a message is copied once or twice, and no network is in the way.
constexpr double kInNode = 0.25;
constexpr std::size_t kPart = std::size_t{1} << 30; // of MPI's counts
constexpr int kHeaderTag = 2;
constexpr int kDataTag = 3;
constexpr int kReplyTag = 4;

struct Move {
    int object;
    int to;
};

// In front of an object's data.
struct Header {
    std::int64_t object;
    std::uint64_t bytes; // 0: it could not be packed, and stays
};

struct Reply {
    int object;
    int arrived;
};

// One value of T. So counts of MPI, which are ints, count values and not bytes.
template <class T>
class Datatype {
  public:
    Datatype() {
        static_assert(std::is_trivially_copyable_v<T>);
        MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type_);
        MPI_Type_commit(&type_);
    }
    ~Datatype() { MPI_Type_free(&type_); }
    Datatype(const Datatype &) = delete;
    Datatype &operator=(const Datatype &) = delete;
    MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Plain data from all ranks to rank 0.
template <class T>
std::vector<T> gather(std::span<const T> mine, MPI_Comm comm, int ranks, bool root) {
    const Datatype<T> type;
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(root ? index(ranks) : 0);
    MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm);
    std::vector<int> starts(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
    std::vector<T> found(root ? index(starts.back() + counts.back()) : 0);
    MPI_Gatherv(mine.data(), count, type.get(), found.data(), counts.data(), starts.data(),
                type.get(), 0, comm);
    return found;
}

template <class T>
void broadcast(std::vector<T> &values, MPI_Comm comm) {
    const Datatype<T> type;
    int count = static_cast<int>(values.size());
    MPI_Bcast(&count, 1, MPI_INT, 0, comm);
    values.resize(index(count));
    MPI_Bcast(values.data(), count, type.get(), 0, comm);
}

template <class T>
void append(std::vector<char> &to, const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = to.size();
    to.resize(at + sizeof value);
    std::memcpy(to.data() + at, &value, sizeof value);
}

// Reads what append() wrote.
class Reader {
  public:
    Reader(const char *data, std::size_t bytes) : data_(data), left_(bytes) {}
    template <class T>
    T value() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    const char *take(std::size_t bytes) {
        const char *const at = data_;
        data_ += bytes;
        left_ -= bytes;
        return at;
    }
    std::size_t left() const { return left_; }

  private:
    const char *data_;
    std::size_t left_;
};

// What a rank sends while objects move. It is kept until all of it is sent.
class Outbox {
  public:
    explicit Outbox(MPI_Comm comm) : comm_(comm) {}
    void send(int rank, int tag, std::vector<char> &&data) {
        const std::vector<char> &kept = kept_.emplace_back(std::move(data));
        for (std::size_t at = 0; at < kept.size(); at += kPart)
            MPI_Isend(kept.data() + at, static_cast<int>(std::min(kPart, kept.size() - at)),
                      MPI_BYTE, rank, tag, comm_, &requests_.emplace_back());
    }
    void wait() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        kept_.clear();
    }

  private:
    MPI_Comm comm_;
    std::deque<std::vector<char>> kept_;
    std::vector<MPI_Request> requests_;
};

template <class T>
std::vector<char> bytes_of(const T &value) {
    std::vector<char> bytes;
    append(bytes, value);
    return bytes;
}

} // namespace

struct Set::Answer {
    std::vector<Row> rows; // of this rank
    std::vector<Move> moves;
    double predicted_move_s = 0;
};

std::size_t Set::object_bytes(int object) const {
    const Held &one = held(object);
    return is_memory_ ? one.bytes : type_.size(object, one.data, type_.argument);
}

// A row for each of this rank's objects. Their loads begin anew.
std::vector<Set::Row> Set::rows() {
    std::vector<Row> rows;
    rows.reserve(local_.size());
    for (const int object : local_) {
        const std::int64_t ns = held(object).load.take();
        rows.push_back({object, object_bytes(object), static_cast<double>(ns) * 1e-9});
    }
    return rows;
}

// What moves of an object: its messages, then what the program packs. Nothing: that failed.
std::vector<char> Set::pack(int object) {
    const Held &one = held(object);
    const std::size_t bytes = object_bytes(object);
    std::vector<char> packed;
    const std::vector<Message> messages = mailbox_.copies(object);
    append(packed, std::uint64_t{messages.size()});
    for (const Message &message : messages) {
        append(packed, std::uint64_t{message.whole().size()});
        packed.insert(packed.end(), message.whole().begin(), message.whole().end());
    }
    const std::size_t at = packed.size();
    packed.resize(at + bytes);
    if (is_memory_) {
        if (bytes > 0)
            std::memcpy(packed.data() + at, one.data, bytes);
    } else if (type_.pack(object, one.data, packed.data() + at, type_.argument) != 0) {
        warn("sennit_balance: object %d cannot be packed; it stays on rank %d", object, rank_);
        return {};
    }
    return packed;
}

bool Set::unpack(int object, const char *packed, std::size_t bytes) {
    Reader reader(packed, bytes);
    std::vector<Message> messages(reader.value<std::uint64_t>(), Message(0));
    for (Message &message : messages) {
        const auto size = reader.value<std::uint64_t>();
        const char *const whole = reader.take(size);
        message.whole().assign(whole, whole + size);
    }
    const std::size_t left = reader.left();
    void *data = nullptr;
    if (is_memory_) {
        data = std::malloc(std::max<std::size_t>(left, 1));
        if (data)
            std::memcpy(data, reader.take(left), left);
    } else {
        data = type_.unpack(object, reader.take(left), left, type_.argument);
    }
    if (!data) {
        warn("sennit_balance: object %d cannot be unpacked on rank %d; it stays on rank %d", object,
             rank_, rank_of(object));
        return false;
    }
    add(object, data, left);
    for (Message &message : messages)
        mailbox_.put(std::move(message));
    return true;
}

std::vector<balance::Link> Set::links() {
    std::vector<Told> told = traffic_.take(); // begins anew, whether somebody looks or not
    if (!strategy_->looks_at_links())
        return {};
    const bool root = rank_ == 0;
    told = gather<Told>(told, comm_, ranks_, root);
    std::vector<balance::Mail> mail;
    for (const int object : local_)
        held(object).load.take_messages(object, mail);
    mail = gather<balance::Mail>(mail, comm_, ranks_, root);
    // If the program says what two objects tell each other, this is what counts.
    std::set<std::pair<int, int>> said;
    std::vector<balance::Link> links;
    for (const Told &one : told) {
        links.push_back({one.a, one.b, static_cast<double>(one.bytes)});
        if (one.is_said)
            said.insert({one.a, one.b});
    }
    for (const balance::Link &link : balance::partners(mail))
        if (!said.contains({link.a, link.b}))
            links.push_back(link);
    return links;
}

Set::Answer Set::decide(sennit_balance_info &info) {
    Answer answer;
    answer.rows = rows();
    const bool root = rank_ == 0;
    const std::vector<Row> all = gather<Row>(answer.rows, comm_, ranks_, root);
    const std::vector<double> speeds = gather<double>({&speed_, 1}, comm_, ranks_, root);
    const std::vector<balance::Link> links = this->links();
    if (root) {
        std::vector<balance::MovableObject> objects(rank_of_.size());
        for (const Row &row : all) {
            balance::MovableObject &object = objects[static_cast<std::size_t>(row.object)];
            object.load = row.load_s;
            object.bytes = row.bytes;
            object.pe = rank_of(static_cast<int>(row.object));
        }
        balance::Problem problem;
        problem.objects = objects;
        problem.positions = positions_;
        problem.pes = ranks_;
        problem.pes_of_node = ranks_of_node_;
        problem.speeds = speeds;
        problem.moves_in_node = true; // a rank has memory of its own
        problem.links = links;
        const balance::Costs costs = gate_.costs();
        problem.seconds_per_byte = costs.seconds_per_byte;
        problem.seconds_per_byte_in_node = kInNode * costs.seconds_per_byte;
        const balance::Assignment now = balance::where_they_are(problem);
        info.imbalance = balance::imbalance(balance::loads_of(problem, now));
        info.node_imbalance = balance::imbalance(balance::node_loads_of(problem, now));
        std::optional<balance::LoadOutlook> outlook;
        if (strategy_->looks_ahead()) {
            history_.note(objects);
            outlook.emplace(problem, history_);
            for (std::size_t i = 0; i < objects.size(); ++i)
                objects[i].load = outlook->loads()[i];
            problem.passages = outlook->passages();
        }
        const balance::Assignment pe_of = strategy_->assign(problem);
        info.promised = balance::imbalance(balance::loads_of(problem, pe_of));
        const balance::Forecast found = balance::forecast(problem, pe_of, costs, false);
        answer.predicted_move_s = found.move_s;
        // A front is elsewhere in the period after the next.
        const double horizon = problem.passages.empty() ? kHorizon : 1;
        info.declined =
            strategy_->is_for_balance() && !gate_.pays(found, horizon) && found.moves > 0;
        if (!info.declined) {
            for (int object = 0; object < count(); ++object)
                if (pe_of[index(object)] != rank_of(object))
                    answer.moves.push_back({object, pe_of[index(object)]});
            info.bytes = static_cast<std::int64_t>(found.bytes);
        }
    }
    broadcast(answer.moves, comm_);
    return answer;
}

std::vector<int> Set::move(const Answer &answer) {
    Outbox outbox(comm_);
    std::vector<int> stay;
    int replies = 0;
    int arrivals = 0;
    for (const Move &move : answer.moves) {
        arrivals += move.to == rank_ ? 1 : 0;
        if (rank_of(move.object) != rank_)
            continue;
        std::vector<char> packed = pack(move.object);
        outbox.send(move.to, kHeaderTag, bytes_of(Header{move.object, packed.size()}));
        if (packed.empty()) {
            stay.push_back(move.object);
            continue;
        }
        outbox.send(move.to, kDataTag, std::move(packed));
        ++replies;
    }
    for (; arrivals > 0; --arrivals) {
        Header header;
        MPI_Status status;
        MPI_Recv(&header, sizeof header, MPI_BYTE, MPI_ANY_SOURCE, kHeaderTag, comm_, &status);
        if (header.bytes == 0)
            continue;
        std::vector<char> packed(header.bytes);
        for (std::size_t at = 0; at < packed.size(); at += kPart)
            MPI_Recv(packed.data() + at, static_cast<int>(std::min(kPart, packed.size() - at)),
                     MPI_BYTE, status.MPI_SOURCE, kDataTag, comm_, MPI_STATUS_IGNORE);
        const int object = static_cast<int>(header.object);
        const Reply reply{object, unpack(object, packed.data(), packed.size()) ? 1 : 0};
        outbox.send(status.MPI_SOURCE, kReplyTag, bytes_of(reply));
    }
    for (; replies > 0; --replies) {
        Reply reply;
        MPI_Recv(&reply, sizeof reply, MPI_BYTE, MPI_ANY_SOURCE, kReplyTag, comm_,
                 MPI_STATUS_IGNORE);
        if (reply.arrived) {
            mailbox_.drop(reply.object);
            destroy(reply.object);
        } else {
            stay.push_back(reply.object);
        }
    }
    outbox.wait();
    return stay;
}

int Set::balance(sennit_balance_info &info) {
    const double start_s = MPI_Wtime();
    if (const int code = mailbox_.flush(); code != MPI_SUCCESS)
        return code;
    const Answer answer = decide(info);
    const double decided_s = MPI_Wtime();
    std::vector<int> stay = gather<int>(move(answer), comm_, ranks_, rank_ == 0);
    broadcast(stay, comm_);
    std::sort(stay.begin(), stay.end());
    for (const Move &move : answer.moves)
        if (!std::binary_search(stay.begin(), stay.end(), move.object))
            rank_of_[index(move.object)] = move.to;
    list_local();
    if (rank_ == 0) {
        info.failed = static_cast<std::int64_t>(stay.size());
        info.moved = static_cast<std::int64_t>(answer.moves.size()) - info.failed;
        const double end_s = MPI_Wtime();
        info.seconds = end_s - start_s;
        if (!answer.moves.empty())
            gate_.measured(answer.predicted_move_s, end_s - decided_s);
    }
    MPI_Bcast(&info, sizeof info, MPI_BYTE, 0, comm_);
    record(answer.rows);
    if (rank_ == 0)
        record(info);
    ++calls_;
    return info.failed > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

} // namespace sennit::objects

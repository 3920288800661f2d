// SPDX-License-Identifier: Apache-2.0
// Objects that move between ranks (include/sennit_balance.h): what each of them worked, what each
// call that balances them found, did, cost, and what came of it.
#include "analysis.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sennit::report {

using namespace trace;

namespace {

// Of a set's ranks in a period, by work / speed, as sennit_balance() counts it.
struct Period {
    std::map<int, double> loads; // by rank of the set
    double most() const {
        double most = 0;
        for (const auto &[rank, load] : loads)
            most = std::max(most, load);
        return most;
    }
    double mean(int ranks) const {
        double sum = 0;
        for (const auto &[rank, load] : loads)
            sum += load;
        return sum / std::max(ranks, 1);
    }
};

class Sum {
  public:
    explicit Sum(const Job &job) : job_(job) {}

    Objects run() {
        find_calls();
        for (const Process &process : job_.processes)
            for (const ObjectStay &stay : process.objects)
                add(stay);
        judge_calls();
        add_objects();
        return std::move(found_);
    }

  private:
    std::size_t number_of(std::uint64_t set) {
        return numbers_.try_emplace(set, numbers_.size()).first->second;
    }

    void find_calls() {
        std::vector<std::pair<const Process *, const BalanceCall *>> calls;
        for (const Process &process : job_.processes)
            for (const BalanceCall &call : process.balance_calls)
                calls.emplace_back(&process, &call);
        std::stable_sort(calls.begin(), calls.end(), [](const auto &a, const auto &b) {
            return a.second->begin < b.second->begin;
        });
        std::map<std::uint64_t, int> next;
        for (const auto &[process, call] : calls) {
            BalanceCallRow row{};
            row.set = number_of(call->set);
            row.call = next[call->set]++;
            row.at = call->begin;
            row.strategy = process->file.name_of(call->strategy);
            row.imbalance = 100 * call->imbalance;
            row.node_imbalance = 100 * call->node_imbalance;
            row.promised = 100 * call->promised;
            row.then = -1;
            row.moved = call->moved;
            row.failed = call->failed;
            row.declined = call->declined;
            row.bytes = call->bytes;
            row.took = call->end - call->begin;
            found_.took += row.took;
            found_.moved += static_cast<std::uint64_t>(row.moved);
            found_.bytes += row.bytes;
            found_.calls.push_back(std::move(row));
            ranks_[call->set] = call->ranks;
        }
    }

    void add(const ObjectStay &stay) {
        number_of(stay.set);
        Period &period = periods_[{stay.set, stay.call}];
        const double speed = stay.speed > 0 ? stay.speed : 1;
        period.loads[stay.from] += static_cast<double>(stay.work) / speed;
    }

    void judge_calls() {
        std::map<std::size_t, std::uint64_t> sets;
        for (const auto &[set, number] : numbers_)
            sets[number] = set;
        for (BalanceCallRow &row : found_.calls) {
            const std::uint64_t set = sets[row.set];
            const int ranks = ranks_[set];
            if (const auto before = periods_.find({set, row.call}); before != periods_.end())
                row.lost = lost(before->second, ranks);
            const auto behind = periods_.find({set, row.call + 1});
            if (behind == periods_.end())
                continue;
            const double mean = behind->second.mean(ranks);
            row.then = mean > 0 ? 100 * (behind->second.most() / mean - 1) : 0;
            row.lost_then = lost(behind->second, ranks);
        }
        found_.sets = numbers_.size();
    }
    static Ns lost(const Period &period, int ranks) {
        return static_cast<Ns>(period.most() - period.mean(ranks));
    }

    void add_objects() {
        // Where an object goes is known by its rank in the set; who that is, by what it tells.
        std::map<std::pair<std::uint64_t, int>, std::size_t> members;
        for (std::size_t p = 0; p < job_.processes.size(); ++p)
            for (const ObjectStay &stay : job_.processes[p].objects)
                members[{stay.set, stay.from}] = p;
        struct Last {
            int call = -1;
            std::uint64_t set = 0;
            int to = 0;
            ObjectSum sum{};
        };
        std::map<std::pair<std::uint64_t, int>, Last> objects;
        std::map<std::size_t, ObjectsOfRank> ranks;
        for (const auto &[member, process] : members)
            ranks[process].rank = job_.processes[process].rank;
        for (std::size_t p = 0; p < job_.processes.size(); ++p)
            for (const ObjectStay &stay : job_.processes[p].objects) {
                Last &last = objects[{stay.set, stay.object}];
                ObjectSum &sum = last.sum;
                sum.work += stay.work;
                ranks[p].work += stay.work;
                if (stay.to != stay.from) {
                    ++sum.moves;
                    ++ranks[p].left;
                    ranks[p].bytes_left += stay.bytes;
                    if (const auto to = members.find({stay.set, stay.to}); to != members.end())
                        ++ranks[to->second].came;
                }
                if (stay.call <= last.call)
                    continue;
                last.call = stay.call;
                last.set = stay.set;
                last.to = stay.to;
                sum.bytes = stay.bytes;
                sum.rank = job_.processes[p].rank;
                sum.object = stay.object;
                sum.set = numbers_[stay.set];
            }
        for (auto &[key, last] : objects) {
            if (const auto to = members.find({last.set, last.to}); to != members.end()) {
                last.sum.rank = job_.processes[to->second].rank;
                ++ranks[to->second].held;
            }
            found_.objects.push_back(last.sum);
        }
        for (const auto &[process, rank] : ranks)
            found_.ranks.push_back(rank);
        std::stable_sort(found_.objects.begin(), found_.objects.end(),
                         [](const ObjectSum &a, const ObjectSum &b) { return a.work > b.work; });
    }

    const Job &job_;
    Objects found_;
    std::map<std::uint64_t, std::size_t> numbers_;
    std::map<std::uint64_t, int> ranks_; // of a set
    std::map<std::pair<std::uint64_t, int>, Period> periods_;
};

} // namespace

Objects objects_of(const Job &job) {
    return Sum(job).run();
}

} // namespace sennit::report

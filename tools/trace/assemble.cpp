// SPDX-License-Identifier: Apache-2.0
#include "trace/replay.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sennit::trace {
namespace {

class Assembly {
  public:
    Assembly(Process &process, Remains remains) : process_(process), remains_(std::move(remains)) {}

    void run() {
        bind_requests();
        find_ends_of_bound();
        sort_calls();
        number_by_creation();
        count_ready();
        sort_edges();
        take_last_priorities();
        count_suspended();
    }

  private:
    void sort_edges() {
        std::sort(process_.edges.begin(), process_.edges.end(), [](const Edge &a, const Edge &b) {
            return std::tie(a.successor, a.predecessor) < std::tie(b.successor, b.predecessor);
        });
        process_.edges.erase(std::unique(process_.edges.begin(), process_.edges.end(),
                                         [](const Edge &a, const Edge &b) {
                                             return a.successor == b.successor &&
                                                    a.predecessor == b.predecessor;
                                         }),
                             process_.edges.end());
    }

    void take_last_priorities() {
        std::sort(process_.priorities.begin(), process_.priorities.end(),
                  [](const auto &a, const auto &b) { return a.at < b.at; });
        for (const PriorityChange &change : process_.priorities)
            process_.tasks[change.task].priority = change.priority;
    }

    void count_suspended() {
        std::sort(remains_.suspensions.begin(), remains_.suspensions.end(),
                  [](const auto &a, const auto &b) {
                      return a.at != b.at ? a.at < b.at : a.change < b.change;
                  });
        std::int32_t suspended = 0;
        for (const ReadyChange &change : remains_.suspensions) {
            suspended += change.change;
            process_.suspended_peak = std::max(process_.suspended_peak,
                                               static_cast<std::uint32_t>(std::max(0, suspended)));
        }
    }

    // A wait is for the latest post with its request, and for its bytes: it says none itself. What
    // MPI_Waitany or MPI_Waitsome leaves, a later wait names again.
    void bind_requests() {
        std::stable_sort(
            remains_.requests.begin(), remains_.requests.end(),
            [](const Remains::Request &a, const Remains::Request &b) { return a.at < b.at; });
        std::unordered_map<std::uint64_t, Posts> posts;
        for (const Remains::Request &request : remains_.requests) {
            if (request.post) {
                Posts &latest = posts[request.request];
                const bool exchange = are_exchange(latest.last, request.call);
                latest = {request.call, exchange ? latest.last : kNone};
                continue;
            }
            const auto found = posts.find(request.request);
            if (found == posts.end())
                continue;
            for (const std::uint32_t post : {found->second.last, found->second.send})
                if (post != kNone)
                    bind(process_.calls[post], request);
            if (request.task || !may_leave_some(process_.calls[request.call]))
                posts.erase(found);
        }
    }

    // A call that was bound: nobody waits for it, and it is over when its task is. Where it was
    // complete at once, or had to block, the task's completion waits for nothing of it.
    void find_ends_of_bound() {
        for (MovedCall &call : process_.moved) {
            if (call.how != MovedHow::bound || call.task == 0)
                continue;
            const auto first = std::lower_bound(
                remains_.requests.begin(), remains_.requests.end(), call.started,
                [](const Remains::Request &request, Ns at) { return request.at < at; });
            const bool waits = std::any_of(first, remains_.requests.end(), [&](const auto &other) {
                return other.at <= call.over && !other.post && other.call == kNone &&
                       other.task == call.task;
            });
            if (waits)
                call.waits = call.over = std::max(
                    call.over, std::min(process_.tasks[call.task].completed, process_.end));
        }
    }

    // Of a request. MPI_Isendrecv posts two, what it sends and then what it receives.
    struct Posts {
        std::uint32_t last = kNone;
        std::uint32_t send = kNone;
    };
    bool are_exchange(std::uint32_t first, std::uint32_t second) const {
        if (first == kNone)
            return false;
        const Call &send = process_.calls[first];
        const Call &receive = process_.calls[second];
        return send.name == receive.name && send.direction == kSend &&
               receive.direction == kReceive && send.task == receive.task &&
               send.thread == receive.thread &&
               process_.file.name_of(send.name).starts_with("MPI_Isendrecv");
    }

    void bind(Call &post, const Remains::Request &request) {
        post.wait = request.call;
        post.bound = request.task;
        if (!request.task)
            process_.calls[request.call].bytes += post.bytes;
    }

    bool may_leave_some(const Call &call) const {
        const std::string name = process_.file.name_of(call.name);
        return name == "MPI_Waitany" || name == "MPI_Waitsome";
    }

    void sort_calls() {
        std::vector<std::uint32_t> order(process_.calls.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return process_.calls[a].begin < process_.calls[b].begin;
        });
        std::vector<std::uint32_t> place(order.size());
        std::vector<Call> sorted;
        sorted.reserve(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            sorted.push_back(process_.calls[order[i]]);
        }
        for (Call &call : sorted)
            if (call.wait != kNone)
                call.wait = place[call.wait];
        process_.calls = std::move(sorted);
    }

    void number_by_creation() {
        std::vector<std::uint32_t> order;
        for (std::uint32_t id = 1; id < process_.tasks.size(); ++id)
            if (process_.tasks[id].created != kNever)
                order.push_back(id);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return process_.tasks[a].created < process_.tasks[b].created;
        });
        std::uint32_t next = 0;
        for (const std::uint32_t id : order)
            process_.tasks[id].order = next++;
    }

    void count_ready() {
        for (Task &task : process_.tasks) {
            // A task without missing dependences is ready when it is made.
            if (task.ready == kNever && task.ran())
                task.ready = task.created != kNever ? task.created : task.started;
            task.ready = std::min(task.ready, task.started);
            if (task.ready == kNever)
                continue;
            process_.ready.push_back({task.ready, 1});
            if (task.ran())
                process_.ready.push_back({task.started, -1});
        }
        // What was suspended is ready from the moment it was unblocked, which may be before it
        // suspends itself; each resumption has taken one away.
        std::sort(
            remains_.unblocked.begin(), remains_.unblocked.end(),
            [](const Remains::Unblocked &a, const Remains::Unblocked &b) { return a.at < b.at; });
        for (const Remains::Unblocked &unblocked : remains_.unblocked)
            if (unblocked.task != 0 && unblocked.task < process_.tasks.size())
                process_.ready.push_back({unblocked.at, 1});
        std::sort(process_.ready.begin(), process_.ready.end(),
                  [](const ReadyChange &a, const ReadyChange &b) {
                      return a.at != b.at ? a.at < b.at : a.change < b.change;
                  });
    }

    Process &process_;
    Remains remains_;
};

} // namespace

void assemble(Process &process, Remains remains) {
    Assembly(process, std::move(remains)).run();
}

} // namespace sennit::trace

// SPDX-License-Identifier: Apache-2.0
#include "trace/read/messages.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sennit::trace {
namespace {

// The calls of all processes that send and receive messages which may be each other's, in order.
class Matching {
  public:
    explicit Matching(Job &job) : job_(job) {}

    void run() {
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p)
            collect(p);
        for (const auto &[key, ends] : all_)
            pair(ends);
    }

  private:
    using Key = std::tuple<int, int, int, std::vector<int>>; // from, to, tag, members
    struct End {
        std::uint32_t process, call; // call kNone: a message that was probed, and not received
    };
    struct Ends {
        std::vector<End> sends, receives;
    };
    // An MPI_Mprobe whose message is still to be received.
    struct Probed {
        std::uint32_t call;
        Ends *ends;
        std::size_t place; // in ends->receives
    };

    void collect(std::uint32_t p) {
        Process &process = job_.processes[p];
        std::vector<Probed> probed; // in order
        for (std::uint32_t c = 0; c < process.calls.size(); ++c) {
            const Call &call = process.calls[c];
            const std::string name = process.file.name_of(call.name);
            const bool takes = name == "MPI_Mprobe" || name == "MPI_Improbe";
            if (call.probe && !takes)
                continue;
            const bool has_probed = name.starts_with("MPI_Mrecv") || name.starts_with("MPI_Imrecv");
            if (has_probed && receive_probed(process, c, probed))
                continue;
            if (call.direction == kNeither || call.peer < 0 || call.tag < 0)
                continue;
            Ends &ends = all_[key_of(process, call)];
            if (call.probe) {
                probed.push_back({c, &ends, ends.receives.size()});
                ends.receives.push_back({p, kNone});
            } else {
                (call.direction == kSend ? ends.sends : ends.receives).push_back({p, c});
            }
        }
    }

    static Key key_of(const Process &process, const Call &call) {
        const auto group = process.file.groups.find(call.group);
        std::vector<int> members;
        if (group != process.file.groups.end())
            members = group->second.ranks;
        const bool sends = call.direction == kSend;
        return {sends ? process.rank : call.peer, sends ? call.peer : process.rank, call.tag,
                std::move(members)};
    }

    // MPI_Mprobe and MPI_Improbe take a message from those that others may receive; MPI_Mrecv,
    // which names neither sender nor communicator, receives it. Most likely it is the task's
    // oldest.
    static bool receive_probed(Process &process, std::uint32_t c, std::vector<Probed> &probed) {
        Call &call = process.calls[c];
        const auto fits = [&](const Probed &one) {
            const Call &probe = process.calls[one.call];
            return probe.end <= call.begin && (call.tag < 0 || call.tag == probe.tag);
        };
        auto found = std::find_if(probed.begin(), probed.end(), [&](const Probed &one) {
            return fits(one) && process.calls[one.call].task == call.task;
        });
        if (found == probed.end())
            found = std::find_if(probed.begin(), probed.end(), fits);
        if (found == probed.end())
            return false;
        const Call &probe = process.calls[found->call];
        call.direction = kReceive;
        call.peer = probe.peer;
        call.tag = probe.tag;
        call.group = probe.group;
        process.tasks[call.task].receives |= call.task != 0;
        found->ends->receives[found->place].call = c;
        probed.erase(found);
        return true;
    }

    void pair(const Ends &ends) {
        const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
        job_.unmatched += std::max(ends.sends.size(), ends.receives.size()) - both;
        for (std::size_t i = 0; i < both; ++i) {
            const auto [from, send] = ends.sends[i];
            const auto [to, receive] = ends.receives[i];
            if (receive == kNone) {
                ++job_.unmatched;
                continue;
            }
            const auto number = static_cast<std::uint32_t>(job_.messages.size());
            job_.messages.push_back({from, send, to, receive});
            job_.processes[from].calls[send].message = number;
            job_.processes[to].calls[receive].message = number;
        }
    }

    Job &job_;
    std::map<Key, Ends> all_;
};

} // namespace

void match_messages(Job &job) {
    Matching(job).run();
}

} // namespace sennit::trace

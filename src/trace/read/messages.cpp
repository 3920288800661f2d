// SPDX-License-Identifier: Apache-2.0
// Which send's message a receive got.
#include "trace/read/messages.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sennit::trace {

void match_messages(Job &job) {
    using Key = std::tuple<int, int, int, std::vector<int>>; // from, to, tag, members
    struct Ends {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> sends, receives; // process, call
    };
    std::map<Key, Ends> all;
    for (std::uint32_t p = 0; p < job.processes.size(); ++p) {
        const Process &process = job.processes[p];
        for (std::uint32_t c = 0; c < process.calls.size(); ++c) {
            const Call &call = process.calls[c];
            if (call.direction == kNeither || call.peer < 0 || call.tag < 0)
                continue;
            const auto group = process.file.groups.find(call.group);
            std::vector<int> members;
            if (group != process.file.groups.end())
                members = group->second.ranks;
            const bool sends = call.direction == kSend;
            const Key key{sends ? process.rank : call.peer, sends ? call.peer : process.rank,
                          call.tag, std::move(members)};
            Ends &ends = all[key];
            (sends ? ends.sends : ends.receives).emplace_back(p, c);
        }
    }
    for (const auto &[key, ends] : all) {
        const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
        job.unmatched += std::max(ends.sends.size(), ends.receives.size()) - both;
        for (std::size_t i = 0; i < both; ++i) {
            const auto [from, send] = ends.sends[i];
            const auto [to, receive] = ends.receives[i];
            const auto number = static_cast<std::uint32_t>(job.messages.size());
            job.messages.push_back({from, send, to, receive});
            job.processes[from].calls[send].message = number;
            job.processes[to].calls[receive].message = number;
        }
    }
}

} // namespace sennit::trace

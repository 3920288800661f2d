// SPDX-License-Identifier: Apache-2.0
#include "hang/core_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sennit::tool {
namespace {

class Cores {
  public:
    Cores(const Snapshot &now, const RankProcesses &job, const DoingOf &doing)
        : now_(now), job_(job), doing_(doing) {}

    CoreWaits judge(std::uint64_t least_ns) const {
        CoreWaits found;
        if (std::none_of(now_.members.begin(), now_.members.end(),
                         [&](const MemberNow &one) { return one.shares_cores && rank_of(one); }))
            return found;
        std::string remedies;
        for (const CoreNow &core : now_.cores) {
            const MemberNow *const owner = now_.find(core.owner);
            const MemberNow *const user = now_.find(core.user);
            if (!user || user == owner || !(rank_of(*user) || (owner && rank_of(*owner))))
                continue;
            found.text += line(core, owner, *user);
            const auto rank = owner ? rank_of(*owner) : std::nullopt;
            if (!rank || !keeps(core, *owner, least_ns))
                continue;
            found.ranks.insert(*rank);
            remedies += remedy(core, *owner, *user);
        }
        found.text += found.ranks.empty() ? "sennit: no rank waits for a core\n" : remedies;
        return found;
    }

  private:
    std::optional<int> rank_of(const MemberNow &one) const {
        for (const auto &[rank, processes] : job_)
            if (processes.contains(one.pid))
                return rank;
        return std::nullopt;
    }

    std::string who(const MemberNow &one) const {
        if (const auto rank = rank_of(one))
            return fmt::format("rank {} (process {})", *rank, one.pid);
        return fmt::format("process {} ({}{})", one.pid, one.program,
                           one.rank < 0 ? std::string()
                                        : fmt::format(", rank {} of another job", one.rank));
    }

    // Is the core wanted back for so long, by an owner that has too few?
    bool keeps(const CoreNow &core, const MemberNow &owner, std::uint64_t least_ns) const {
        return core.recalled && core.recalled_ns >= static_cast<std::int64_t>(least_ns) &&
               owner.wants + owner.without > 0;
    }

    std::string line(const CoreNow &core, const MemberNow *owner, const MemberNow &user) const {
        static constexpr const char *does[] = {"computes", "sleeps in a system call", "is stopped",
                                               "waits there awake"};
        std::string text =
            fmt::format("sennit: core {}, {}, is used by {}, which {}", core.core,
                        owner ? fmt::format("owned by {}", who(*owner)) : "owned by nobody",
                        who(user), does[static_cast<int>(doing_(user, core))]);
        if (core.recalled)
            text += fmt::format("; wanted back for {} s", core.recalled_ns / 1'000'000'000);
        return text + "\n";
    }

    std::string remedy(const CoreNow &core, const MemberNow &owner, const MemberNow &user) const {
        const std::string waits =
            fmt::format("sennit: {} waits for core {}, for no message: ", who(owner), core.core);
        const std::string keeper = who(user);
        if (doing_(user, core) == Doing::stopped)
            return fmt::format("{}{} is stopped: let it go on (kill -CONT {}), or end it\n", waits,
                               keeper, user.pid);
        return fmt::format(
            "{}{} comes to no scheduling point (the end of a task, a chunk or a region, a barrier, "
            "an MPI call), so the system divides the core between the two: give it one, end it, or "
            "lend no cores (sennit pool start --policy static; SENNIT_LENDING=off)\n",
            waits, keeper);
    }

    const Snapshot &now_;
    const RankProcesses &job_;
    const DoingOf &doing_;
};

} // namespace

Doing doing_of(const MemberNow &user, const CoreNow &core) {
    if (core.rests)
        return Doing::rests;
    if (node::is_stopped(user.identity))
        return Doing::stopped;
    return core.thread != 0 && node::is_asleep(user.pid, core.thread) ? Doing::sleeps
                                                                      : Doing::computes;
}

CoreWaits core_waits(const Snapshot &now, const RankProcesses &job, std::uint64_t least_ns,
                     const DoingOf &doing) {
    return Cores(now, job, doing).judge(least_ns);
}

} // namespace sennit::tool

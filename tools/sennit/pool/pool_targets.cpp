// SPDX-License-Identifier: Apache-2.0
#include "pool/pool_targets.h"

#include "common/failure.h"
#include "pool/pool_board.h"

#include "node/look.h"

#include <algorithm>
#include <charconv>

namespace sennit::tool {
namespace {

const MemberNow &first_of(const Snapshot &snapshot, int job) {
    return *snapshot.find(job);
}

bool seeks_targets(node::Board &board) {
    const std::string policy = board.pool().policy;
    return policy != "static" && policy != "lend";
}

} // namespace

int find_job(const Snapshot &snapshot, const std::string &program) {
    const std::size_t colon = program.rfind(':');
    const std::string name = program.substr(0, colon);
    const std::string number = colon == std::string::npos ? "" : program.substr(colon + 1);
    std::vector<int> found;
    std::string known;
    for (const int job : snapshot.jobs()) {
        const MemberNow &first = first_of(snapshot, job);
        known += fmt::format("{}{}:{}", known.empty() ? "" : ", ", first.program, job);
        if ((name.empty() || first.program == name) &&
            (number.empty() || number == std::to_string(job)))
            found.push_back(job);
    }
    if (known.empty())
        fail("no program shares the cores of this pool");
    if (found.empty())
        fail("no program '{}' in this pool; there are: {}", program, known);
    if (found.size() > 1)
        fail("'{}' is not one program; there are: {}", program, known);
    return found[0];
}

int parse_move(const std::string &text, int now) {
    const bool more = text.starts_with('+'), fewer = text.starts_with('-');
    const char *const begin = text.data() + (more || fewer ? 1 : 0);
    const char *const end = text.data() + text.size();
    unsigned value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || value > node::kMostCores)
        fail("'{}' is no number of cores: write 3, +1 or -1", text);
    const int cores = static_cast<int>(value);
    const int wanted = more ? now + cores : fewer ? now - cores : cores;
    if (wanted < 1)
        fail("each program keeps one core: it has {}", now);
    return wanted;
}

std::vector<int> plan_move(const Snapshot &snapshot, int job, int wanted) {
    const std::vector<int> jobs = snapshot.jobs();
    std::vector<int> targets;
    std::vector<bool> takes_part;
    int sum = 0;
    int others = 0;
    for (const int one : jobs) {
        const bool leftover = first_of(snapshot, one).leftover;
        if (leftover && one == job)
            fail("this program gets only what others leave: it owns no core");
        takes_part.push_back(!leftover);
        targets.push_back(leftover ? 0 : std::max(1, snapshot.owned_by(one)));
        sum += targets.back();
        others += !leftover && one != job ? 1 : 0;
    }
    const int cores = std::max(static_cast<int>(snapshot.cores.size()), sum);
    if (wanted > cores - others)
        fail("it can have {} cores at most, for each program keeps one of the {}", cores - others,
             cores);
    if (others == 0 && wanted < cores)
        fail("it is alone: there is nobody to give cores to");
    const auto share = [&](std::size_t i) { return first_of(snapshot, jobs[i]).share; };
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (jobs[i] == job) {
            sum += wanted - targets[i];
            targets[i] = wanted;
        }
    while (sum != cores) {
        const int step = sum < cores ? 1 : -1;
        std::size_t best = jobs.size();
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (!takes_part[i] || jobs[i] == job || (step < 0 && targets[i] <= 1))
                continue;
            const auto load = [&](std::size_t of) { return targets[of] / share(of); };
            if (best == jobs.size() || (step < 0 ? load(i) > load(best) : load(i) < load(best)))
                best = i;
        }
        if (best == jobs.size())
            break;
        targets[best] += step;
        sum += step;
    }
    return targets;
}

void set_targets(node::Board &board, const std::string &path, const std::vector<int> &jobs,
                 const std::vector<int> &targets) {
    if (jobs.size() > node::kMostPrograms)
        fail("cores are moved among {} programs at most", node::kMostPrograms);
    const DutyLock lock = DutyLock::wait_for(path, Duty::targets);
    node::Memory &memory = board.policy_memory();
    memory = {};
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (targets[i] > 0) {
            memory.programs[i].program = jobs[i];
            memory.programs[i].target = targets[i];
            memory.programs[i].taken = 1;
        }
    board.core_table().note_change();
    node::divide_cores(board);
}

void forget_moves_of_others(node::Board &board, const std::string &path) {
    if (seeks_targets(board))
        return;
    const DutyLock lock = DutyLock::wait_for(path, Duty::targets);
    node::Memory &memory = board.policy_memory();
    const std::vector<int> jobs = look_at(board).jobs();
    const bool ended =
        std::any_of(std::begin(memory.programs), std::end(memory.programs), [&](const auto &one) {
            return one.taken != 0 && std::find(jobs.begin(), jobs.end(), one.program) == jobs.end();
        });
    if (ended)
        memory = {};
}

} // namespace sennit::tool

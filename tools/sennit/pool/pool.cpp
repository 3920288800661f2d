// SPDX-License-Identifier: Apache-2.0
#include "pool/pool.h"

#include "common/failure.h"
#include "pool/core_list.h"
#include "pool/pool_board.h"
#include "pool/pool_keeper.h"
#include "pool/pool_targets.h"

#include "base/printable.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>

namespace sennit::tool {
namespace {

constexpr const char *default_policy = "lend";
constexpr int patience_ms = 5000; // for processes that were asked to end

std::string check_policy(const std::string &policy) {
    if (!node::policy_of(policy))
        fail("--policy '{}' is unknown: use one of {}", policy,
             fmt::join(node::policy_names(), ", "));
    return policy;
}

node::Cores choose_cores(const std::string &text) {
    const node::Cores allowed = node::allowed_cores();
    if (text.empty())
        return allowed;
    const node::Cores cores = parse_cores("--cores", text);
    const node::Cores absent = without(cores, allowed);
    if (absent.count() != 0)
        fail("--cores {}: not there, or not for this shell: {}; it may use {}", text,
             core_list(absent), core_list(allowed));
    return cores;
}

std::string describe(const Pool &pool) {
    const Snapshot snapshot = look_at(pool.board());
    return fmt::format("cores {}, policy {}, programs {}, processes {}{}{}",
                       core_list(pool.cores()), pool.policy(), snapshot.jobs().size(),
                       snapshot.members.size(), pool.stops() ? ", stops" : "",
                       pool.has_keeper() ? "" : ", without a keeper: sennit pool start again");
}

// The keeper may have been killed while programs went on.
std::optional<PoolPlan> adopt(const std::string &name, const std::string &cores,
                              const std::string &policy) {
    const std::string path = pool_file(name);
    if (!node::is_in_use(path.c_str()))
        return std::nullopt;
    const Pool pool = Pool::find(name, false);
    if (pool.has_keeper())
        fail("there is a pool '{}' already: {}", name, describe(pool));
    if (pool.board().pool().named.load(std::memory_order_acquire) == 0)
        return std::nullopt;
    if ((!cores.empty() && core_list(parse_cores("--cores", cores)) != core_list(pool.cores())) ||
        (!policy.empty() && check_policy(policy) != pool.policy()))
        fail("pool '{}' has programs in it and keeps cores {} and policy {}: leave --cores and "
             "--policy away",
             name, core_list(pool.cores()), pool.policy());
    return PoolPlan{name, path, pool.policy(), pool.cores(), true};
}

// Asks them to end, then ends them.
int end_members(node::Board &board) {
    const std::vector<MemberNow> members = look_at(board).members;
    for (const MemberNow &one : members)
        send_signal(one.identity, SIGTERM);
    int waited = 0;
    for (const MemberNow &one : members)
        while (!wait_until_ended(one.identity, 100) && waited < patience_ms)
            waited += 100;
    for (const MemberNow &one : members)
        if (node::is_alive(one.identity))
            send_signal(one.identity, SIGKILL);
    for (const MemberNow &one : members)
        wait_until_ended(one.identity, patience_ms);
    return static_cast<int>(members.size());
}

} // namespace

std::string pool_policies() {
    return fmt::format("{} (default {})", fmt::join(node::policy_names(), ", "), default_policy);
}

std::vector<std::string> known_pool_policies() {
    const auto names = node::policy_names();
    return {names.begin(), names.end()};
}

void protect_numbers(std::vector<std::string> &words) {
    if (words.size() < 2 || words[0] != "pool" || words[1] != "move")
        return;
    const auto number = std::find_if(words.begin(), words.end(), [](const std::string &word) {
        return word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
    });
    if (number != words.end())
        words.insert(number, "--");
}

int start_pool(const PoolRequest &request) {
    std::optional<PoolPlan> plan = adopt(request.name, request.cores, request.policy);
    if (!plan)
        plan = {request.name, pool_file(request.name),
                check_policy(request.policy.empty() ? default_policy : request.policy),
                choose_cores(request.cores), false};
    start_keeper(*plan);
    fmt::print("pool {}: cores {}, policy {}\n", request.name, core_list(plan->cores),
               plan->policy);
    return 0;
}

int list_pools() {
    for (const std::string &name : Pool::names()) {
        try {
            const Pool pool = Pool::find(name, false);
            fmt::print("{}: {}\n", printable(name), describe(pool));
        } catch (const Failure &) {
            continue; // it has ended meanwhile
        }
    }
    return 0;
}

int move_cores(const PoolRequest &request) {
    const Pool pool = Pool::find(request.name);
    if (const std::string policy = pool.policy(); policy != "static" && policy != "lend")
        fail("pool '{}' moves cores by itself (policy {}): moves need the policy static or lend",
             request.name, policy);
    const Snapshot before = look_at(pool.board());
    const int job = find_job(before, request.program);
    const int wanted = parse_move(request.amount, before.owned_by(job));
    const std::vector<int> jobs = before.jobs();
    set_targets(pool.board(), pool.path(), jobs, plan_move(before, job, wanted));
    const Snapshot after = look_at(pool.board());
    for (const int one : jobs)
        if (const MemberNow *const first = after.find(one))
            fmt::print("{}:{} owns {} (before: {})\n", printable(first->program), one,
                       after.owned_by(one), before.owned_by(one));
    return 0;
}

int stop_pool(const PoolRequest &request) {
    const Pool pool = Pool::find(request.name, false);
    pool.board().pool().stops.store(1, std::memory_order_release);
    const int ended = request.now ? end_members(pool.board()) : 0;
    const std::size_t left = look_at(pool.board()).members.size();
    if (pool.has_keeper())
        send_signal(pool.keeper(), request.now ? SIGTERM : SIGUSR1);
    if (ended > 0)
        fmt::print("pool {}: {} processes were ended\n", request.name, ended);
    if (!request.now && left > 0) {
        fmt::print("pool {}: ends with the last of its {} processes\n", request.name, left);
        return 0;
    }
    if (pool.has_keeper() && !wait_until_ended(pool.keeper(), patience_ms))
        fail("pool '{}': its keeper, process {}, does not end", request.name,
             node::pid_of(pool.keeper()));
    fmt::print("pool {} has ended\n", request.name);
    return 0;
}

} // namespace sennit::tool

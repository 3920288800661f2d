// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>

namespace sennit::sim {
namespace {

using node::kNobody;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSameTime = 1e-12;

struct Rank {
    enum class State { absent, computing, waiting, done };
    int program = 0;
    State state = State::absent;
    double left_s = 0; // of its work
    int productive = 0;
};

struct Run {
    const PoolProgram *program = nullptr;
    int first = 0; // rank
    std::size_t phase = 0;
    int iteration = 0;
    int computing = 0; // ranks
    double next_s = 0; // it starts, or its iteration ends; kNever: while it computes
    double end_s = kNever;
    double speed = 0; // of one of its cores
    int threads = 0;

    const PoolPhase &now() const { return program->phases[phase]; }
};

struct CoreState {
    int last_user = kNobody;
    double productive_s = 0; // from then on
    double point_s = 0;      // a scheduling point; others come at equal distances
};

class Pool {
  public:
    Pool(const Node &node, const std::vector<PoolProgram> &programs, const node::CorePolicy &policy,
         const std::vector<int> &split);
    PoolResult simulate();

  private:
    std::size_t size(int i) const { return static_cast<std::size_t>(i); }
    node::Claimant &claimant(int rank) { return claimants_[size(rank)]; }
    node::View view() const { return {claimants_, cores_, {}}; }
    std::span<const bool> recalled() const { return {recalled_.get(), cores_.size()}; }

    void divide();
    void divide_as_split();
    void set_owners(const std::vector<int> &owners);
    void take(int core, int rank);
    void give(int core);
    void serve();
    void begin_iteration(Run &run);
    void end_computing(int rank);
    void end_iteration(Run &run);
    double next_leave(int core) const;
    double next_event();
    void set_speeds();
    void advance(double to);
    void rethink();

    const Node node_;
    const node::CorePolicy &policy_;
    const std::vector<int> split_;
    std::vector<Rank> ranks_;
    std::vector<Run> runs_;
    std::vector<node::Claimant> claimants_;
    std::vector<node::Core> cores_;
    std::vector<CoreState> states_;
    std::unique_ptr<bool[]> recalled_;
    std::unique_ptr<node::Memory> memory_ = std::make_unique<node::Memory>();
    double now_ = 0;
    double next_rethink_ = 0;
    PoolResult result_;
};

Pool::Pool(const Node &node, const std::vector<PoolProgram> &programs,
           const node::CorePolicy &policy, const std::vector<int> &split)
    : node_(node), policy_(policy), split_(split), cores_(size(node.cores)),
      states_(size(node.cores)), recalled_(new bool[size(node.cores)]()) {
    for (int core = 0; core < node.cores; ++core)
        cores_[size(core)].domain = core * node.domains / node.cores;
    for (const PoolProgram &program : programs) {
        Run run;
        run.program = &program;
        run.first = static_cast<int>(ranks_.size());
        run.next_s = program.start_s;
        run.threads = program.threads > 0 ? program.threads : node.cores;
        for (int rank = 0; rank < program.ranks; ++rank) {
            ranks_.push_back({static_cast<int>(runs_.size())});
            node::Claimant fresh;
            fresh.program = static_cast<int>(runs_.size());
            fresh.share = program.share;
            fresh.priority = program.priority;
            fresh.leftover = true; // not there yet: it owns none, and wants none
            claimants_.push_back(fresh);
        }
        runs_.push_back(run);
    }
}

void Pool::set_owners(const std::vector<int> &owners) {
    for (node::Claimant &one : claimants_)
        one.owns = 0;
    for (std::size_t core = 0; core < cores_.size(); ++core) {
        cores_[core].owner = owners[core];
        if (owners[core] != kNobody)
            ++claimant(owners[core]).owns;
    }
}

void Pool::divide() {
    if (!split_.empty())
        return;
    std::vector<int> owners(cores_.size());
    node::divide(view(), *memory_, owners);
    set_owners(owners);
}

void Pool::divide_as_split() {
    std::vector<int> owners(cores_.size(), kNobody);
    std::size_t core = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
        for (int k = 0; k < split_[i] && core < owners.size(); ++k)
            owners[core++] = runs_[i].first + k % runs_[i].program->ranks;
    set_owners(owners);
}

void Pool::take(int core, int rank) {
    cores_[size(core)].user = rank;
    ++claimant(rank).uses;
    --claimant(rank).wants;
    CoreState &state = states_[size(core)];
    state.point_s = now_;
    state.productive_s =
        state.last_user == rank || state.last_user == kNobody ? now_ : now_ + node_.move_s;
    result_.moves += state.last_user != rank && state.last_user != kNobody ? 1 : 0;
    state.last_user = rank;
}

void Pool::give(int core) {
    --claimant(cores_[size(core)].user).uses;
    cores_[size(core)].user = kNobody;
    recalled_[size(core)] = false;
    const int next = policy_.receiver(view(), core);
    if (next != kNobody && policy_.may_take(view(), core, next))
        take(core, next);
}

// Those without a core look, take, and ask.
void Pool::serve() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
        while (claimant(rank).wants > 0) {
            const int core = node::best_free(policy_, view(), rank);
            if (core == kNobody)
                break;
            take(core, rank);
        }
        for (int waiting = claimant(rank).wants; waiting > 0; --waiting) {
            const int core = policy_.recalls(view(), rank, recalled());
            if (core == kNobody)
                break;
            recalled_[size(core)] = true;
        }
    }
}

void Pool::begin_iteration(Run &run) {
    const PoolPhase &phase = run.now();
    const int ranks = run.program->ranks;
    run.next_s = kNever;
    run.computing = ranks;
    // One rank that never waits gives no core in between.
    int at_once = 1;
    if (ranks == 1 && phase.wait_s == 0) {
        at_once = phase.iterations;
        run.iteration = phase.iterations - 1;
    }
    for (int i = 0; i < ranks; ++i) {
        const int rank = run.first + i;
        const int place = phase.rotates ? (i + run.iteration) % ranks : i;
        const double load = ranks > 1 ? 1 + phase.imbalance * (1 - 2. * place / (ranks - 1)) : 1;
        ranks_[size(rank)].left_s = at_once * load * phase.work_s / ranks;
        ranks_[size(rank)].state = Rank::State::computing;
        claimant(rank).wants = run.threads;
    }
}

void Pool::end_computing(int rank) {
    Rank &one = ranks_[size(rank)];
    one.state = Rank::State::waiting;
    one.left_s = 0;
    claimant(rank).wants = 0;
    for (int core = 0; core < node_.cores; ++core)
        if (cores_[size(core)].user == rank)
            give(core);
    Run &run = runs_[size(one.program)];
    if (--run.computing == 0)
        run.next_s = now_ + run.now().wait_s;
}

void Pool::end_iteration(Run &run) {
    if (++run.iteration == run.now().iterations) {
        run.iteration = 0;
        ++run.phase;
    }
    if (run.phase < run.program->phases.size()) {
        begin_iteration(run);
        return;
    }
    run.next_s = kNever;
    run.end_s = now_;
    for (int i = 0; i < run.program->ranks; ++i) {
        ranks_[size(run.first + i)].state = Rank::State::done;
        claimant(run.first + i).leftover = true;
    }
    divide();
}

double Pool::next_leave(int core) const {
    const double since = now_ - states_[size(core)].point_s;
    return states_[size(core)].point_s +
           std::max(1., std::ceil((since - kSameTime) / node_.point_s)) * node_.point_s;
}

// Cores that bring something, and how fast each of a program's is.
void Pool::set_speeds() {
    for (Rank &rank : ranks_)
        rank.productive = 0;
    for (std::size_t core = 0; core < cores_.size(); ++core)
        if (cores_[core].user != kNobody && states_[core].productive_s <= now_ + kSameTime)
            ++ranks_[size(cores_[core].user)].productive;
    for (Run &run : runs_) {
        int sum = 0;
        for (int i = 0; i < run.program->ranks; ++i)
            sum += ranks_[size(run.first + i)].productive;
        run.speed =
            sum > 0 && run.phase < run.program->phases.size() ? run.now().speed_up(sum) / sum : 0;
    }
}

double Pool::next_event() {
    double next = next_rethink_;
    for (const Run &run : runs_)
        next = std::min(next, run.next_s);
    for (const Rank &rank : ranks_)
        if (rank.state == Rank::State::computing && rank.productive > 0)
            next = std::min(next, now_ + rank.left_s /
                                             (runs_[size(rank.program)].speed * rank.productive));
    for (int core = 0; core < node_.cores; ++core) {
        if (cores_[size(core)].user == kNobody)
            continue;
        if (recalled_[size(core)])
            next = std::min(next, next_leave(core));
        if (states_[size(core)].productive_s > now_ + kSameTime)
            next = std::min(next, states_[size(core)].productive_s);
    }
    return next;
}

void Pool::advance(double to) {
    const double span = to - now_;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank &rank = ranks_[i];
        node::Claimant &one = claimants_[i];
        one.used_ns += std::llround(one.uses * span * 1e9);
        if (rank.state != Rank::State::computing)
            continue;
        const double done = span * runs_[size(rank.program)].speed * rank.productive;
        rank.left_s -= done;
        one.progress += done;
        result_.computed += done;
    }
    for (const node::Core &core : cores_)
        if (core.user != kNobody) {
            result_.used += span;
            result_.lent += core.user != core.owner ? span : 0;
        }
    now_ = to;
}

void Pool::rethink() {
    next_rethink_ = now_ + node::kRethinkNs * 1e-9;
    std::vector<double> owned(runs_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i)
        owned[size(ranks_[i].program)] += claimants_[i].owns;
    result_.targets.push_back(owned);
    if (!split_.empty())
        return;
    const bool again = policy_.rethink(view(), std::llround(now_ * 1e9) + 1, *memory_);
    for (node::Claimant &one : claimants_) {
        const node::Memory::Program *known = node::find_program(*memory_, one.program);
        one.limit = known ? known->limit : 0;
    }
    if (again)
        divide();
    for (int core = 0; (core = node::surplus(view(), recalled())) != kNobody;)
        recalled_[size(core)] = true;
}

PoolResult Pool::simulate() {
    const auto is_over = [&] {
        return std::all_of(runs_.begin(), runs_.end(), [](const Run &run) {
            return run.program->leftover || run.end_s < kNever;
        });
    };
    for (;;) {
        for (Run &run : runs_) {
            if (run.next_s > now_ + kSameTime)
                continue;
            const Rank &first = ranks_[size(run.first)];
            if (first.state == Rank::State::absent) {
                for (int i = 0; i < run.program->ranks; ++i)
                    claimant(run.first + i).leftover = run.program->leftover;
                divide();
                if (!split_.empty())
                    divide_as_split();
                begin_iteration(run);
            } else {
                end_iteration(run);
            }
        }
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            if (ranks_[size(rank)].state == Rank::State::computing &&
                ranks_[size(rank)].left_s <= kSameTime)
                end_computing(rank);
        if (is_over())
            break;
        for (int core = 0; core < node_.cores; ++core)
            if (recalled_[size(core)] && cores_[size(core)].user != kNobody &&
                next_leave(core) <= now_ + kSameTime) {
                ++claimant(cores_[size(core)].user).wants; // it would go on
                give(core);
            }
        if (next_rethink_ <= now_ + kSameTime)
            rethink();
        serve();
        set_speeds();
        advance(std::max(next_event(), now_));
    }
    for (const Run &run : runs_) {
        result_.end_s.push_back(run.end_s);
        if (!run.program->leftover)
            result_.makespan_s = std::max(result_.makespan_s, run.end_s);
    }
    result_.used /= now_;
    result_.lent /= now_;
    return result_;
}

} // namespace

double SpeedUp::operator()(double cores) const {
    return std::min(most, cores / (1 + (contention + coherence * cores) * (cores - 1)));
}

double PoolProgram::work_s() const {
    return std::accumulate(
        phases.begin(), phases.end(), 0.,
        [](double sum, const PoolPhase &phase) { return sum + phase.iterations * phase.work_s; });
}

double PoolProgram::time_s(int cores) const {
    double sum = 0;
    for (const PoolPhase &phase : phases)
        sum +=
            phase.iterations *
            (phase.work_s / phase.speed_up(std::min(cores, threads > 0 ? ranks * threads : cores)) +
             phase.wait_s);
    return sum;
}

int PoolProgram::best_cores(int most) const {
    int best = 1;
    for (int cores = 2; cores <= most; ++cores)
        if (time_s(cores) < time_s(best))
            best = cores;
    return best;
}

PoolResult simulate_pool(const Node &node, const std::vector<PoolProgram> &programs,
                         const node::CorePolicy &policy, const std::vector<int> &split) {
    return Pool(node, programs, policy, split).simulate();
}

double one_after_the_other_s(const Node &node, const std::vector<PoolProgram> &programs) {
    double sum = 0;
    for (PoolProgram program : programs) {
        if (program.leftover)
            continue;
        program.start_s = 0;
        sum += simulate_pool(node, {program}, *node::policy_of("static")).makespan_s;
    }
    return sum;
}

} // namespace sennit::sim

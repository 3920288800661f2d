// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <algorithm>
#include <memory>

namespace sennit::sim {

void RankOutlook::changed(Vertex &vertex) {
    simulation->priority_changed(vertex);
}
void RankOutlook::released(Vertex &vertex) {
    simulation->vertex_released(*rank, vertex);
}

Simulation::Simulation(const Workload &workload, const Setting &setting)
    : workload_(workload), setting_(setting), machine_(setting.machine),
      rules_(setting.choice.rules), unlimited_(setting.machine.unlimited),
      has_tasks_(workload.has_tasks()), vertices_wanted_(rules_.propagates() && !unlimited_),
      functions_(workload.functions()), task_count_(setting.progress ? workload.task_count() : 0),
      tasks_(vertices_wanted_), cards_(machine_),
      ranks_(static_cast<std::size_t>(machine_.rank_count())),
      threads_(static_cast<std::size_t>(machine_.rank_count()) *
               static_cast<std::size_t>(machine_.thread_count())) {
    const auto cost = [&](double value) {
        return unlimited_ || !has_tasks_ ? 0 : static_cast<Time>(value);
    };
    create_ = cost(machine_.create);
    depend_ = cost(machine_.depend);
    schedule_ = cost(machine_.schedule);
    suspend_ = cost(machine_.suspend);
    resume_ = cost(machine_.resume);
    poll_ = cost(machine_.poll);
    wake_ = cost(machine_.wake);
    overhead_ = unlimited_ ? 0 : static_cast<Time>(machine_.overhead);
    place_ = rules_.propagates() ? cost(machine_.place) : 0;
    match_ = rules_.learns() ? cost(machine_.match) : 0;
    window_ = unlimited_ ? kNone : static_cast<std::uint32_t>(std::min(machine_.window, 4e9));
    tree_.domains = std::min({machine_.numa_count(), machine_.thread_count(), kMostQueues});
    if (machine_.urgent_first > 0 && !unlimited_)
        waiting_.resize(ranks_.size());
    const auto team = static_cast<std::uint32_t>(machine_.thread_count());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        Rank &rank = ranks_[r];
        rank.first_thread = static_cast<std::uint32_t>(r) * team;
        rank.places.rank = static_cast<std::uint32_t>(r);
        rank.specs.begin(workload.tasks_of(static_cast<int>(r), setting.choice.marks));
        rank.data.resize(workload.data_of(static_cast<int>(r)));
        rank.outlook.simulation = this;
        rank.outlook.rank = &rank;
        if (rules_.ordered)
            rank.queues.resize(static_cast<std::size_t>(tree_.domains));
        else
            rank.own.resize(team);
        if (rules_.learns())
            rank.profiles = std::make_unique<policy::Profiles>();
        for (std::uint32_t t = 0; t < team; ++t) {
            Thread &thread = threads_[rank.first_thread + t];
            thread.rank = static_cast<std::uint32_t>(r);
            thread.node =
                static_cast<std::uint8_t>(t * static_cast<std::uint32_t>(tree_.domains) / team);
        }
        for (std::uint32_t t = team; t-- > 1;) {
            rank.idle.push_back(rank.first_thread + t);
            threads_[rank.first_thread + t].idle = true;
        }
    }
}

// ---- the loop -----------------------------------------------------------------------------------

void Simulation::handle(const EventQueue::Event &event) {
    const std::uint32_t who = event.what & kWhoMask;
    const Time now = event.time;
    switch (static_cast<What>(event.what >> kWhatShift)) {
    case What::create:
        return created(ranks_[who], now);
    case What::finish:
        return finish(who, now);
    case What::free: {
        Rank &rank = ranks_[threads_[who].rank];
        if (threads_[who].waking) {
            threads_[who].waking = false;
            --rank.waking;
        }
        look_for_work(who, now);
        return wake_for_ready(rank, now);
    }
    case What::notice: {
        Rank &rank = ranks_[who];
        rank.noticing = false;
        return notice(rank, now);
    }
    case What::inject:
        return inject(who, now);
    case What::arrive:
        events_.push(cards_.receive(messages_[who], now), pack(What::delivered, who));
        return;
    case What::sent: {
        Message &message = messages_[who];
        message.send_over = true;
        const std::uint32_t task = message.send_task;
        const std::uint32_t card = cards_.card_of(message.source);
        const bool by_card = !cards_.through_memory(message.source, message.target);
        drop_if_over(who);
        if (task != kNone)
            communication_done(task, now);
        if (!waiting_.empty() && by_card)
            send_most_urgent(card, now);
        return;
    }
    case What::delivered: {
        Message &message = messages_[who];
        message.delivered = true;
        const std::uint32_t task = message.receive_task;
        drop_if_over(who);
        if (task != kNone)
            communication_done(task, now);
        return;
    }
    }
}

// What a coming event will touch: the task that ends; and when that is here, what it releases.
void Simulation::prefetch_soon(std::uint32_t what) const {
    if (what >> kWhatShift == static_cast<std::uint32_t>(What::finish))
        tasks_.prefetch(what & kWhoMask);
}

void Simulation::prefetch_behind(std::uint32_t what) const {
    const std::uint32_t who = what & kWhoMask;
    if (what >> kWhatShift == static_cast<std::uint32_t>(What::finish))
        prefetch_successors(tasks_[who]);
}

void Simulation::prefetch_successors(const Task &task) const {
    for (std::uint32_t i = 0; i < task.near_count; ++i)
        missing_.prefetch(task.near[i]);
    if (task.near_count > 0)
        tasks_.prefetch(task.near[0]);
    if (task.far != kNone)
        successors_.prefetch(task.far);
}

Result Simulation::run(Fabric *fabric) {
    fabric_ = fabric;
    for (Rank &rank : ranks_) {
        look_ahead(rank);
        go_on_creating(rank, 0);
    }
    constexpr std::uint64_t kBetweenReports = 1 << 16;
    for (;;) {
        if (fabric_ && fabric_->busy())
            let_messages_travel();
        if (events_.empty() && !create_in_spite_of_windows(horizon_))
            break;
        const EventQueue::Event event =
            events_.pop([this](std::uint32_t what) { prefetch_soon(what); });
        events_.each_near([this](std::uint32_t what) { prefetch_behind(what); });
        ++result_.events;
        horizon_ = event.time;
        handle(event);
        if (finished_ >= next_report_) {
            next_report_ = finished_ + kBetweenReports;
            if (setting_.progress)
                setting_.progress({finished_, task_count_, horizon_});
        }
    }
    for (const Rank &rank : ranks_)
        if (rank.unfinished > 0 || rank.creating)
            stuck(horizon_);
    result_.time = last_end_;
    result_.tasks = finished_;
    double work = 0;
    const double threads_time = static_cast<double>(last_end_) * 1e-9 * machine_.threads;
    for (const Rank &rank : ranks_) {
        const double in_task = static_cast<double>(rank.in_task) * 1e-9;
        result_.in_task += in_task;
        result_.overhead += static_cast<double>(rank.overhead) * 1e-9;
        result_.busiest_rank = std::max(result_.busiest_rank, in_task / machine_.threads);
        result_.raises += rank.outlook.raises();
        result_.passes += rank.outlook.passes();
        result_.most_unfinished =
            std::max<std::uint64_t>(result_.most_unfinished, rank.most_unfinished);
        work += in_task;
        result_.idle_of.push_back(threads_time - in_task -
                                  static_cast<double>(rank.overhead) * 1e-9);
    }
    result_.busiest_card = static_cast<double>(cards_.busiest()) * 1e-9;
    result_.mean_work = work / machine_.threads / machine_.ranks;
    result_.idle = static_cast<double>(last_end_) * 1e-9 * machine_.threads * machine_.ranks -
                   result_.in_task - result_.overhead;
    return result_;
}

Result simulate(const Workload &workload, const Setting &setting) {
    Simulation simulation(workload, setting);
    if (setting.machine.network == Network::loggp)
        return simulation.run(nullptr);
    const std::unique_ptr<Fabric> fabric = setting.make_fabric(setting.machine);
    Result result;
    fabric->run([&] { result = simulation.run(fabric.get()); });
    return result;
}

Time critical_path(const Workload &workload, const Setting &setting) {
    Setting bare = setting;
    bare.machine.unlimited = true;
    bare.recorder = nullptr;
    bare.choice = parse_choice("fifo");
    return Simulation(workload, bare).run(nullptr).time;
}

} // namespace sennit::sim

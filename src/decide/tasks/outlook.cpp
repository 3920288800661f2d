// SPDX-License-Identifier: Apache-2.0
#include "decide/tasks/outlook.h"

#include <algorithm>

namespace sennit::policy {
namespace {

// Each of the first verdicts is worth a pass at once. Until then tasks run in the wrong order, and
// what is lost at the beginning is never made up (32 starts of long tasks cost 2 to 4% of a run).
// Later changes may be those of kinds that go on changing. There one pass is made for several
// changes.
constexpr std::uint64_t kPrompt = 32;

} // namespace

int Outlook::end_of_path(const Vertex &vertex) const {
    if (vertex.marked || sends(vertex.profile, true))
        return kMostPriority;
    return vertex.leads ? kLeadsPriority : vertex.beyond;
}

void Outlook::create(Vertex &fresh, bool listed) {
    for (int i = 0; i < fresh.predecessor_count; ++i)
        ++fresh.predecessors[i]->references;
    fresh.references = 1;
    fresh.listed = listed;
    if (listed) {
        fresh.older = newest_;
        (newest_ ? newest_->newer : oldest_) = &fresh;
        newest_ = &fresh;
        ++size_;
    }
    fresh.path = static_cast<std::int16_t>(end_of_path(fresh));
    for (int i = 0; i < fresh.predecessor_count; ++i)
        if (const Vertex &to = *fresh.predecessors[i]; !to.started && to.path < fresh.path - 1)
            return raise_predecessors(fresh);
}

// Goes up from a task whose priority was raised, as long as that tells the others something new.
// The list of work is a stack through the vertices. A vertex that is raised again while it waits is
// visited once.
void Outlook::raise_predecessors(Vertex &vertex) {
    Vertex *work = &vertex;
    vertex.next_work = &bottom_;
    while (work != &bottom_) {
        Vertex &from = *work;
        work = from.next_work;
        from.next_work = nullptr;
        const auto path = static_cast<std::int16_t>(from.path - 1);
        if (path <= 0)
            continue;
        for (int i = 0; i < from.predecessor_count; ++i) {
            Vertex &to = *from.predecessors[i];
            if (to.started || to.path >= path)
                continue;
            to.path = path;
            changed(to);
            ++raises_;
            if (!to.next_work) {
                to.next_work = work;
                work = &to;
            }
        }
    }
}

void Outlook::raise(Vertex &vertex, int priority) {
    if (vertex.started || vertex.path >= priority)
        return;
    vertex.beyond = static_cast<std::uint16_t>(priority);
    vertex.path = static_cast<std::int16_t>(priority);
    changed(vertex);
    raise_predecessors(vertex);
}

void Outlook::drop(Vertex &vertex) {
    if (--vertex.references == 0)
        released(vertex);
}

void Outlook::start(Vertex &vertex) {
    vertex.started = true;
    if (vertex.listed) {
        (vertex.older ? vertex.older->newer : oldest_) = vertex.newer;
        (vertex.newer ? vertex.newer->older : newest_) = vertex.older;
        --size_;
    }
    ++starts_;
    for (int i = 0; i < vertex.predecessor_count; ++i)
        drop(*vertex.predecessors[i]);
    drop(vertex);
}

void Outlook::verdict_changed(bool sends) {
    if (sends)
        any_send_.store(true, std::memory_order_relaxed);
    if (!knows_sends() || outdated_)
        return;
    outdated_ = true;
    // A pass costs as much as the list is long. That must stay small beside the tasks' own costs.
    patience_ = passes_ < kPrompt ? passes_ : std::max(kPrompt, size_);
    starts_ = 0;
}

void Outlook::reconsider() {
    outdated_ = false;
    ++passes_;
    for (Vertex *vertex = newest_; vertex; vertex = vertex->older) {
        const int end = end_of_path(*vertex);
        const auto path = static_cast<std::int16_t>(std::max<int>(vertex->next_path, end));
        const auto before = static_cast<std::int16_t>(path - 1);
        vertex->next_path = 0;
        if (vertex->older)
            for (int i = 0; i < vertex->older->predecessor_count; ++i)
                __builtin_prefetch(vertex->older->predecessors[i], 1);
        for (int i = 0; i < vertex->predecessor_count && before > 0; ++i) {
            Vertex &to = *vertex->predecessors[i];
            to.next_path = std::max(to.next_path, before);
        }
        if (vertex->path != path) {
            vertex->path = path;
            changed(*vertex);
        }
    }
}

} // namespace sennit::policy

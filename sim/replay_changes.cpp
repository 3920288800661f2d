// SPDX-License-Identifier: Apache-2.0
// A recorded program with one change: Replay's pieces are put together anew.
#include "replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace sennit::sim {
namespace {

// The pieces of one task: from `begin` to before `end`.
struct Range {
    std::size_t begin, end;
};

template <class Pieces, class Visit>
void each_task(const Pieces &pieces, Visit visit) {
    for (std::size_t begin = 0, end; begin < pieces.size(); begin = end) {
        for (end = begin + 1; end < pieces.size() && pieces[end].datum == pieces[begin].datum;)
            ++end;
        visit(Range{begin, end});
    }
}

// What is recorded between two creations is also what the creation took; of those that have little
// else, that is all. So it is what a quarter of the tasks stay below.
Time creation_of(std::vector<Time> between) {
    if (between.empty())
        return 0;
    const auto quarter = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 4);
    std::nth_element(between.begin(), quarter, between.end());
    return *quarter;
}

bool waits_here(const TaskSpec &task) {
    return task.kind != Kind::compute && task.part == Part::whole;
}

} // namespace

std::uint64_t Replay::bind_last_calls(const std::string &function) {
    std::uint64_t bound = 0;
    for (Rank &rank : ranks_) {
        std::vector<Piece> pieces;
        pieces.reserve(rank.pieces.size());
        each_task(rank.pieces, [&](Range task) {
            const std::vector<Piece> &old = rank.pieces;
            std::size_t first = task.end; // of the calls at the end: all send, or all receive
            if (functions_[old[task.begin].task.function] == function)
                while (first > task.begin && waits_here(old[first - 1].task) &&
                       old[first - 1].task.kind == old[task.end - 1].task.kind)
                    --first;
            pieces.insert(pieces.end(), old.begin() + static_cast<std::ptrdiff_t>(task.begin),
                          old.begin() + static_cast<std::ptrdiff_t>(first));
            for (const Part part : {Part::begin, Part::bound})
                for (std::size_t i = first; i < task.end; ++i) {
                    Piece piece = old[i];
                    piece.task.part = part;
                    if (part == Part::bound)
                        piece.wait_for_none();
                    pieces.push_back(piece);
                }
            bound += task.end - first;
        });
        count_ += pieces.size() - rank.pieces.size();
        rank.pieces = std::move(pieces);
    }
    return bound;
}

// One rank's dependences, put together anew. The old ones are looked at until all are known.
class Replay::SecondBuffers {
  public:
    explicit SecondBuffers(Rank &rank)
        : rank_(rank), kinds_(rank.data), first_(rank.data), readers_(rank.data) {}

    // How many waits for a reader are now for one of an earlier message.
    std::uint64_t add() {
        std::vector<Range> places(rank_.pieces.size()); // in edges_, of a task's first piece
        each_task(rank_.pieces, [&](Range task) {
            const std::size_t from = edges_.size();
            visit(task);
            std::sort(edges_.begin() + static_cast<std::ptrdiff_t>(from), edges_.end());
            edges_.erase(
                std::unique(edges_.begin() + static_cast<std::ptrdiff_t>(from), edges_.end()),
                edges_.end());
            places[task.begin] = {from, edges_.size()};
        });
        for (std::size_t i = 0; i < places.size(); ++i) {
            rank_.pieces[i].first_edge = static_cast<std::uint32_t>(places[i].begin);
            rank_.pieces[i].edges = static_cast<std::uint32_t>(places[i].end - places[i].begin);
        }
        rank_.edges = std::move(edges_);
        return changed_;
    }

  private:
    std::span<const std::uint32_t> edges_of(const Piece &piece) const {
        return {rank_.edges.data() + piece.first_edge, piece.edges};
    }

    void visit(Range task) {
        const Piece &piece = rank_.pieces[task.begin];
        first_[piece.datum] = task.begin;
        for (std::size_t i = task.begin; i < task.end; ++i)
            kinds_[piece.datum] |= bit(rank_.pieces[i].task.kind);
        for (const std::uint32_t before : edges_of(piece))
            if (piece.task.begins(Kind::receive) && kinds_[before] == bit(Kind::compute))
                wait_for_reader(piece, before);
            else
                edges_.push_back(before);
    }

    // If the reader waited for a receive of the same function, it reads this buffer: then the
    // receive waits for those that this earlier receive had waited for.
    void wait_for_reader(const Piece &receive, std::uint32_t reader) {
        readers_[receive.datum].push_back(reader);
        bool reads_it = false;
        for (const std::uint32_t before : edges_of(rank_.pieces[first_[reader]])) {
            const TaskSpec &earlier = rank_.pieces[first_[before]].task;
            if (!earlier.begins(Kind::receive) || earlier.function != receive.task.function)
                continue;
            reads_it = true;
            edges_.insert(edges_.end(), readers_[before].begin(), readers_[before].end());
        }
        if (reads_it)
            ++changed_;
        else
            edges_.push_back(reader);
    }

    static std::uint8_t bit(Kind kind) {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
    }

    Rank &rank_;
    std::vector<std::uint8_t> kinds_;                 // of a task's pieces, a bit each
    std::vector<std::size_t> first_;                  // a task's first piece
    std::vector<std::vector<std::uint32_t>> readers_; // that a receive waited for
    std::vector<std::uint32_t> edges_;                // the new ones
    std::uint64_t changed_ = 0;
};

std::uint64_t Replay::add_second_buffers() {
    std::uint64_t changed = 0;
    for (Rank &rank : ranks_)
        changed += SecondBuffers(rank).add();
    return changed;
}

// One rank's tasks, put together anew.
class Replay::LargerTasks {
  public:
    LargerTasks(Rank &rank, std::size_t functions)
        : rank_(rank), now_(rank.data), chained_(functions) {
        std::iota(now_.begin(), now_.end(), 0U);
    }

    std::uint64_t merge(std::size_t most) {
        look();
        const Piece *before = nullptr;
        each_task(rank_.pieces, [&](Range task) {
            const Piece &first = rank_.pieces[task.begin];
            if (members_ > 0 && members_ < most && goes_with(first, before))
                join(first);
            else
                begin(task);
            add_edges(first);
            before = computes(task) ? &first : nullptr;
        });
        rank_.pieces = std::move(pieces_);
        rank_.edges = std::move(edges_);
        return merged_;
    }

  private:
    bool computes(Range task) const {
        return task.end - task.begin == 1 && rank_.pieces[task.begin].task.kind == Kind::compute;
    }
    bool waits_for(const Piece &piece, const Piece &before) const {
        const std::span edges(rank_.edges.data() + piece.first_edge, piece.edges);
        return std::find(edges.begin(), edges.end(), before.datum) != edges.end();
    }
    // The one before is null where it does more than compute.
    static bool alike(const Piece &piece, const Piece *before) {
        return before && piece.task.kind == Kind::compute && !piece.task.after_all &&
               before->task.function == piece.task.function;
    }
    // Where most wait for the one before, as in a row of blocks, one that does not begins a row.
    bool goes_with(const Piece &piece, const Piece *before) const {
        return alike(piece, before) &&
               waits_for(piece, *before) == (chained_[piece.task.function] > 0);
    }

    void look() {
        std::vector<Time> between;
        const Piece *before = nullptr;
        each_task(rank_.pieces, [&](Range task) {
            const Piece &first = rank_.pieces[task.begin];
            if (!first.task.after_all)
                between.push_back(first.task.before);
            if (computes(task) && alike(first, before))
                chained_[first.task.function] += waits_for(first, *before) ? 1 : -1;
            before = computes(task) ? &first : nullptr;
        });
        creation_ = creation_of(std::move(between));
    }

    void begin(Range task) {
        last_ = pieces_.size();
        members_ = computes(task);
        pieces_.insert(pieces_.end(),
                       rank_.pieces.begin() + static_cast<std::ptrdiff_t>(task.begin),
                       rank_.pieces.begin() + static_cast<std::ptrdiff_t>(task.end));
        pieces_[last_].first_edge = static_cast<std::uint32_t>(edges_.size());
    }

    void join(const Piece &piece) {
        Piece &whole = pieces_[last_];
        whole.task.duration += piece.task.duration;
        whole.task.before += std::max<Time>(0, piece.task.before - creation_);
        now_[piece.datum] = whole.datum;
        ++members_;
        ++merged_;
    }

    void add_edges(const Piece &piece) {
        Piece &whole = pieces_[last_];
        for (std::uint32_t i = 0; i < piece.edges; ++i)
            if (const auto before = now_[rank_.edges[piece.first_edge + i]]; before != whole.datum)
                edges_.push_back(before);
        const auto from = edges_.begin() + static_cast<std::ptrdiff_t>(whole.first_edge);
        std::sort(from, edges_.end());
        edges_.erase(std::unique(from, edges_.end()), edges_.end());
        whole.edges = static_cast<std::uint32_t>(edges_.size()) - whole.first_edge;
    }

    Rank &rank_;
    std::vector<std::uint32_t> now_;    // by datum: that of the task which it is in
    std::vector<std::int64_t> chained_; // by function: how many more wait for the one before
    std::vector<Piece> pieces_;         // the new ones
    std::vector<std::uint32_t> edges_;
    std::size_t last_ = 0, members_ = 0; // its first piece; 0: nothing joins it
    Time creation_ = 0;
    std::uint64_t merged_ = 0;
};

std::uint64_t Replay::merge_tasks(std::size_t most) {
    std::uint64_t merged = 0;
    for (Rank &rank : ranks_)
        merged += LargerTasks(rank, functions_.size()).merge(most);
    count_ -= merged;
    return merged;
}

std::uint64_t Replay::make_ranks_equal() {
    std::vector<double> work;
    for (const Rank &rank : ranks_)
        work.push_back(std::accumulate(rank.pieces.begin(), rank.pieces.end(), 0.0,
                                       [](double sum, const Piece &piece) {
                                           return sum + static_cast<double>(piece.task.duration);
                                       }));
    const double mean = std::accumulate(work.begin(), work.end(), 0.0) /
                        std::max(1.0, static_cast<double>(work.size()));
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (work[i] <= 0 || work[i] == mean)
            continue; // a rank without tasks has none that could take longer
        ++changed;
        for (Piece &piece : ranks_[i].pieces)
            piece.task.duration =
                std::llround(static_cast<double>(piece.task.duration) * mean / work[i]);
    }
    return changed;
}

} // namespace sennit::sim

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

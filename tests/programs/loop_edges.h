// SPDX-License-Identifier: Apache-2.0
// An oracle for what a runtime's loop entry points hand out: loops with bounds, steps and chunks at
// the edges of their types are made here, every member (thread, or thread of a team of a league)
// notes the pieces that it got, and the pieces are compared with the loop's iterations, which are
// counted in 128 bits.
#ifndef LOOP_EDGES_H
#define LOOP_EDGES_H

#include "check.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

__extension__ typedef __int128 Wide;

// Iterations first .. end - 1.
struct Piece {
    Wide first, end;
};

// Values lower, lower + step .. upper, inclusive, of a variable of type T.
template <class T>
struct Loop {
    T lower, upper;
    std::make_signed_t<T> step;

    Wide count() const {
        if (step > 0 ? lower > upper : lower < upper)
            return 0;
        return (Wide{upper} - lower) / step + 1;
    }
    Wide value(Wide iteration) const { return lower + iteration * step; }
    // The iterations from the value `first` through what does not go beyond `last`.
    Piece piece(Wide first, Wide last) const {
        if ((first - lower) % step != 0)
            return {-1, -1}; // none of the loop's
        const Wide begin = (first - lower) / step;
        return {begin, begin + (last - first) / step + 1};
    }
    bool has(Wide value) const {
        return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
    }
};

struct Member {
    std::vector<Piece> pieces; // in the order in which it got them
    int last = 0;              // what the runtime says of the last iteration
    // False when the member has had more than any loop here has.
    bool got(Piece piece) {
        pieces.push_back(piece);
        return pieces.size() < 4096;
    }
};

// What each member gets is cut like this.
enum class Cut { any, even, round_robin, chunks, at_least };

template <class Text>
void check_pieces(const std::vector<Member> &members, Wide count, Cut cut, Wide chunk,
                  bool knows_last, Text describe) {
    const char *wrong = nullptr;
    struct Owned : Piece {
        std::size_t member;
    };
    std::vector<Owned> all;
    for (std::size_t m = 0; m < members.size(); ++m)
        for (const Piece &piece : members[m].pieces)
            all.push_back({{piece.first, piece.end}, m});
    std::sort(all.begin(), all.end(),
              [](const Owned &a, const Owned &b) { return a.first < b.first; });
    if (members.size() == 1 && cut != Cut::at_least)
        cut = Cut::any; // all at once is in order, too
    Wide at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Owned &piece = all[i];
        const Wide length = piece.end - piece.first;
        const bool final = piece.end == count;
        if (piece.first != at || length <= 0)
            wrong = "not every iteration once";
        at = piece.end;
        const auto n = static_cast<Wide>(members.size());
        if (cut == Cut::even &&
            (piece.member != i || (length != count / n && length != count / n + 1)))
            wrong = "not shared out evenly, in the members' order";
        if (cut == Cut::round_robin && piece.member != i % members.size())
            wrong = "the members do not take turns";
        if ((cut == Cut::round_robin || cut == Cut::chunks) && length != chunk && !final)
            wrong = "a piece is not a chunk";
        if (cut == Cut::chunks && final && length > chunk)
            wrong = "the final piece is longer than a chunk";
        if (cut == Cut::at_least && length < chunk && !final)
            wrong = "a piece is shorter than a chunk";
    }
    if (at != count)
        wrong = "not every iteration";
    for (const Member &member : members) {
        const bool owns = !member.pieces.empty() && member.pieces.back().end == count;
        if (knows_last && (member.last != 0) != owns)
            wrong = "who has the last iteration is told wrong";
    }
    if (!wrong)
        return;
    std::fprintf(stderr, "%s: ", wrong);
    describe();
    for (const Owned &piece : all)
        std::fprintf(stderr, " member %zu [%lld, %lld)", piece.member,
                     static_cast<long long>(piece.first), static_cast<long long>(piece.end));
    std::fprintf(stderr, "\n");
    if (!std::getenv("LOOP_EDGES_ALL")) // to count what another runtime gets wrong
        _exit(1);
}

template <class T>
std::vector<T> edge_values() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values{0, 1, Limits::max() / 2, Limits::max() - 9, Limits::max()};
    if (std::is_signed_v<T>)
        for (const T value : {Limits::min(), static_cast<T>(Limits::min() + 9), static_cast<T>(-1)})
            values.push_back(value);
    return values;
}

// Of a signed type; both signs.
template <class S>
std::vector<S> edge_steps() {
    constexpr S most = std::numeric_limits<S>::max();
    return {1, -1, 7, -7, most / 2, -(most / 2), most, -most, std::numeric_limits<S>::min()};
}

// Positive, and 0 for none.
template <class S>
std::vector<S> edge_chunks() {
    constexpr S most = std::numeric_limits<S>::max();
    return {0, 1, 3, most / 2 + 1, most};
}

// All loops with such bounds and steps.
template <class T, class Each>
void each_loop(Each each) {
    for (const T lower : edge_values<T>())
        for (const T upper : edge_values<T>())
            for (const auto step : edge_steps<std::make_signed_t<T>>())
                each(Loop<T>{lower, upper, step});
}

#endif

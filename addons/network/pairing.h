// SPDX-License-Identifier: Apache-2.0
// Has the receive of a message been called? If all calls name peer and tag, the n-th message to a
// rank with a tag goes into the n-th receive that this rank has called for it.
//
// Thread-safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace sennit::network {

template <class DelayedSend>
class Pairing {
  public:
    // A message is sent. If its receive was called, it may go, at the returned time. If it does not
    // care (no `waits`), it goes, too, at no time, but not past a message that waits. Otherwise it
    // is kept until received() returns it.
    std::optional<std::uint64_t> sent(int peer, int tag, DelayedSend *message, bool waits) {
        Line &line = lines_[{peer, tag}];
        if (!line.called.empty()) {
            const std::uint64_t called = line.called.front();
            line.called.pop_front();
            forget_if_empty(peer, tag);
            return called;
        }
        if (!waits && line.waiting.empty()) {
            ++line.gone;
            return 0;
        }
        line.waiting.push_back(message);
        ++waiting_;
        return std::nullopt;
    }

    // The peer has called a receive. Returns the message that waited for it, or null.
    DelayedSend *received(int peer, int tag, std::uint64_t called) {
        Line &line = lines_[{peer, tag}];
        DelayedSend *message = nullptr;
        if (line.gone > 0) {
            --line.gone;
        } else if (!line.waiting.empty()) {
            message = line.waiting.front();
            line.waiting.pop_front();
            --waiting_;
        } else {
            line.called.push_back(called);
        }
        forget_if_empty(peer, tag);
        return message;
    }

    std::size_t waiting() const { return waiting_; }

    // All messages that wait go.
    template <class Visitor>
    void release(Visitor visit) {
        for (auto &[key, line] : lines_) {
            for (DelayedSend *message : line.waiting)
                visit(message);
            line.gone += line.waiting.size();
            line.waiting.clear();
        }
        waiting_ = 0;
    }

  private:
    struct Line {
        std::deque<std::uint64_t> called; // receives whose message is still to be sent
        std::deque<DelayedSend *> waiting;
        std::size_t gone = 0; // messages that left before their receive was called
    };

    void forget_if_empty(int peer, int tag) {
        const auto place = lines_.find({peer, tag});
        const Line &line = place->second;
        if (line.called.empty() && line.waiting.empty() && line.gone == 0)
            lines_.erase(place);
    }

    std::map<std::pair<int, int>, Line> lines_;
    std::size_t waiting_ = 0;
};

} // namespace sennit::network

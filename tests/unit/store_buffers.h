// SPDX-License-Identifier: Apache-2.0
// Memory for models (interleavings.h) of what relies on fences: each thread's stores wait in a
// buffer, first in, first out, before others see them. A drain is a thread of the model of its own,
// which empties a buffer one store at a time, whenever it likes. A fence waits for an empty buffer.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>

namespace sennit::model {

template <int kThreads, int kCells, int kRoom>
class BufferedMemory {
  public:
    signed char &cell(int at) { return cells_[static_cast<std::size_t>(at)]; }
    // A thread sees its own stores at once.
    signed char load(int thread, int at) const {
        signed char value = cells_[static_cast<std::size_t>(at)];
        for (const Store &store : of(thread))
            if (store.cell == at)
                value = store.value;
        return value;
    }
    // The caller has asked has_room.
    void store(int thread, int at, int value) {
        auto &buffer = buffers_[static_cast<std::size_t>(thread)];
        std::size_t i = 0;
        while (buffer[i].cell != -1)
            ++i;
        buffer[i] = {static_cast<signed char>(at), static_cast<signed char>(value)};
    }
    bool has_room(int thread, int stores) const {
        return of(thread)[static_cast<std::size_t>(kRoom - stores)].cell == -1;
    }
    bool is_drained(int thread) const { return has_room(thread, kRoom); }
    // The oldest store becomes visible; false when there is none.
    bool drain(int thread) {
        auto &buffer = buffers_[static_cast<std::size_t>(thread)];
        if (buffer[0].cell == -1)
            return false;
        cell(buffer[0].cell) = buffer[0].value;
        std::move(buffer.begin() + 1, buffer.end(), buffer.begin());
        buffer.back() = {};
        return true;
    }
    auto operator<=>(const BufferedMemory &) const = default;

  private:
    struct Store {
        signed char cell = -1, value = 0; // cell -1: none
        auto operator<=>(const Store &) const = default;
    };
    using Buffer = std::array<Store, kRoom>;
    const Buffer &of(int thread) const { return buffers_[static_cast<std::size_t>(thread)]; }

    std::array<signed char, kCells> cells_{};
    std::array<Buffer, kThreads> buffers_{};
};

} // namespace sennit::model

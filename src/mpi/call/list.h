// SPDX-License-Identifier: Apache-2.0
// First in, first out, linked through the items' own `next`. The caller serializes.
#pragma once

namespace sennit::mpi {

template <class Item>
struct List {
    Item *first = nullptr;
    Item **last = &first;

    void push(Item *item) {
        item->next = nullptr;
        *last = item;
        last = &item->next;
    }
    // The first of all, linked; it is empty afterwards.
    Item *pop_all() {
        Item *const all = first;
        first = nullptr;
        last = &first;
        return all;
    }
    // Null: it is empty.
    Item *pop() {
        Item *taken = first;
        if (taken && !(first = taken->next))
            last = &first;
        return taken;
    }
    // How many items there are, each accept(item); -1: one is not, or `last` is elsewhere.
    template <class Accept>
    int count_sound(Accept accept) const {
        int count = 0;
        Item *const *at = &first;
        for (; *at; at = &(*at)->next, ++count)
            if (!accept(**at))
                return -1;
        return at == last ? count : -1;
    }
};

} // namespace sennit::mpi

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
};

} // namespace sennit::mpi

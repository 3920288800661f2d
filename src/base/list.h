// SPDX-License-Identifier: Apache-2.0
// First in, first out, linked through the items' own `next`. The caller serializes: an item is in
// one list at a time. All zero is an empty list.
#pragma once

namespace sennit {

template <class Item>
class List {
  public:
    constexpr List() = default;
    List(const List &) = delete;
    List &operator=(const List &) = delete;

    Item *first() const { return first_; } // null: it is empty
    bool empty() const { return first_ == nullptr; }
    void push(Item *item) {
        item->next = nullptr;
        (first_ ? last_->next : first_) = item;
        last_ = item;
    }
    // The first of all, linked; it is empty afterwards.
    Item *pop_all() {
        Item *const all = first_;
        first_ = nullptr;
        return all;
    }
    // Null: it is empty.
    Item *pop() {
        Item *const taken = first_;
        if (taken)
            first_ = taken->next;
        return taken;
    }
    // The first item that accept(item) wants; null: none.
    template <class Accept>
    Item *take_if(Accept accept) {
        Item *before = nullptr;
        for (Item *at = first_; at; before = at, at = at->next) {
            if (!accept(*at))
                continue;
            (before ? before->next : first_) = at->next;
            if (last_ == at)
                last_ = before;
            return at;
        }
        return nullptr;
    }

    // How many items there are, each accept(item); -1: one is not, or the last is another.
    template <class Accept>
    int count_sound(Accept accept) const {
        int count = 0;
        const Item *last = nullptr;
        for (const Item *at = first_; at; last = at, at = at->next, ++count)
            if (!accept(*at))
                return -1;
        return count == 0 || last == last_ ? count : -1;
    }

  private:
    Item *first_ = nullptr;
    Item *last_ = nullptr; // means nothing in an empty list
};

} // namespace sennit

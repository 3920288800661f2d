// SPDX-License-Identifier: Apache-2.0
// Has the process loaded objects since the last look? Where it has not, that costs two loads.
#pragma once

#include "base/compiler.h"

#include <atomic>
#include <link.h>

namespace sennit::program {

// The loader's list of objects grows at its end. So as long as nothing follows the object that was
// last, nothing was loaded; what is unloaded only shortens the list. That object is kept from being
// unloaded: we look at it without the loader's lock.
class Loads {
  public:
    // May something be new? At first, yes.
    bool any_new() const {
        link_map *const last = last_.load(std::memory_order_acquire);
        return SENNIT_UNLIKELY(
            !last || std::atomic_ref(last->l_next).load(std::memory_order_relaxed) != nullptr);
    }
    // By one thread at a time: if something is, check(). any_new() says so until that has returned.
    template <class Check>
    void look(Check check) {
        const Found found = find();
        if (found.loaded != loaded_)
            check();
        loaded_ = found.loaded;
        last_.store(found.last, std::memory_order_release);
    }

  private:
    struct Found {
        unsigned long long loaded;
        link_map *last;
    };
    static Found find();

    std::atomic<link_map *> last_{nullptr}; // null: it could not be kept
    unsigned long long loaded_ = 0;         // objects, ever
};

} // namespace sennit::program

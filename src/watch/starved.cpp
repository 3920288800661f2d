// SPDX-License-Identifier: Apache-2.0
#include "watch/starved.h"

namespace sennit::watch {

void Starved::turn() {
    before_.swap(now_);
    now_.clear();
    next_ = 0;
}

const Starved::Use *Starved::before(int thread_id) {
    for (std::size_t i = 0; i < before_.size(); ++i) {
        if (next_ == before_.size())
            next_ = 0;
        if (const Use &use = before_[next_++]; use.thread_id == thread_id)
            return &use;
    }
    return nullptr;
}

} // namespace sennit::watch

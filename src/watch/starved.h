// SPDX-License-Identifier: Apache-2.0
// Threads that could go on, and get no processor: other programs have them all. What such a thread
// shows is from before somebody woke it, and proves nothing.
#pragma once

#include "trace/array.h"

#include <cstddef>
#include <cstdint>

namespace sennit::watch {

class Starved {
  public:
    // What a thread has to have had between two looks. One that looks for something to do looks
    // hundreds of times in that; one that is on its way out of the kernel needs less.
    static constexpr std::uint64_t kEnough = 100'000; // ns

    // Between two looks.
    void turn();
    // Has the thread had next to no processor time since the last look, and runs() all the same, or
    // would? `used` is all that it has ever had, in ns. Not of one that the last look did not see.
    template <class Runs>
    bool starves(int thread_id, std::uint64_t used, Runs runs) {
        now_.push({thread_id, used});
        const Use *const last = before(thread_id);
        return last && used >= last->used && used - last->used < kEnough && runs();
    }

  private:
    struct Use {
        int thread_id;
        std::uint64_t used;
    };
    const Use *before(int thread_id);

    trace::Array<Use> before_; // the last look's, and this one's
    trace::Array<Use> now_;
    std::size_t next_ = 0; // of the last look's: two looks meet the threads in the same order
};

} // namespace sennit::watch

// SPDX-License-Identifier: Apache-2.0
// Who works on which object, and since when: sennit_object_begin() to sennit_object_end(). If
// Sennit's runtime adds the time to the object's account, only who.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sennit::objects {

// Any thread. What is begun is kept by task, not by thread, for tasks that take turns on a thread
// end in another order than they began.
class Meter {
  public:
    // `account`: see Load; 0: it has none.
    void begin(int object, std::uint32_t account);
    // Returns the nanoseconds that no account has got: the thread's processor time since the
    // caller's last begin() of the object, without the time of objects that it has begun and ended
    // in between. Nothing: the caller has not begun the object, or has begun another one since.
    std::optional<std::int64_t> end(int object);
    // Has everybody ended?
    bool idle();

  private:
    struct Open {
        int object;
        bool is_paid;
        std::uint32_t before;  // with is_paid: whose account it was
        std::int64_t begun_ns; // else
        std::int64_t inner_ns;
    };
    std::mutex lock_;
    std::unordered_map<const void *, std::vector<Open>> open_; // by who works
};

} // namespace sennit::objects

// SPDX-License-Identifier: Apache-2.0
// Which thread works on which object, and since when: sennit_object_begin() to sennit_object_end().
// If Sennit's runtime adds the time to the object's account, only which thread.
#pragma once

#include "base/guard.h"
#include "decide/objects/partners.h"

#include <atomic>
#include <cstdint>
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
    Mutex mutex_;
    // By the task that works.
    std::unordered_map<const void *, std::vector<Open>> open_ SENNIT_GUARDED_BY(mutex_);
};

// How long threads have worked on an object. If Sennit's runtime is in the process, it has an
// account for the object, and adds the time of the tasks that work for it. What the program says,
// and what is measured in another way, is added. If Sennit's MPI library is there, too, it counts
// the messages of these tasks.

// Any thread.
class Load {
  public:
    Load();
    ~Load();
    Load(const Load &) = delete;
    Load &operator=(const Load &) = delete;

    std::uint32_t account() const { return account_; } // 0: there is none
    void add(std::int64_t ns) { added_ns_.fetch_add(ns, std::memory_order_relaxed); }
    // Returns the nanoseconds since the last call.
    std::int64_t take();

    // Count the messages of its tasks, or no more.
    void watch_messages(bool on);
    // Those since the last call, appended. None are known if nobody counts.
    void take_messages(int object, std::vector<balance::Mail> &mail);

  private:
    std::uint32_t account_ = 0;
    bool is_watched_ = false;
    std::uint64_t taken_ns_ = 0; // of the account's
    std::atomic<std::int64_t> added_ns_{0};
};

// How many bytes objects have sent each other since sennit_balance(): messages between objects, and
// what the program adds. They are counted on the rank of the sender. Messages of MPI are not here
// (load.h).

// Between two objects, in either direction.
struct Told {
    int a;
    int b;
    std::uint64_t bytes;
    std::uint64_t is_said; // not 0: the program has said so, all or a part of it
};

// Any thread.
class ObjectTraffic {
  public:
    void add(int object, int other, std::uint64_t bytes, bool is_said);
    // All of them, in the order of the objects. Counting begins anew.
    std::vector<Told> take();

  private:
    Mutex mutex_;
    struct Sum {
        std::uint64_t bytes = 0;
        bool is_said = false;
    };
    std::unordered_map<std::uint64_t, Sum> sums_ SENNIT_GUARDED_BY(mutex_); // by both objects
};

} // namespace sennit::objects

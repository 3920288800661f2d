// SPDX-License-Identifier: Apache-2.0
// How many bytes objects have sent each other since sennit_balance(): messages between objects, and
// what the program adds. They are counted on the rank of the sender. Messages of MPI are not here
// (load.h).
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace sennit::objects {

// Between two objects, in either direction.
struct Told {
    int a;
    int b;
    std::uint64_t bytes;
    std::uint64_t is_said; // not 0: the program has said so, all or a part of it
};

// Any thread.
class Traffic {
  public:
    void add(int object, int other, std::uint64_t bytes, bool is_said);
    // All of them, in the order of the objects. Counting begins anew.
    std::vector<Told> take();

  private:
    std::mutex lock_;
    struct Sum {
        std::uint64_t bytes = 0;
        bool is_said = false;
    };
    std::unordered_map<std::uint64_t, Sum> sums_; // by both objects
};

} // namespace sennit::objects

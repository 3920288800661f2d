// SPDX-License-Identifier: Apache-2.0
// Whom each object talks to.
#pragma once

#include "balance/problem.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace sennit::balance {

// The links of each object, one after the other.
class Neighbours {
  public:
    explicit Neighbours(const Problem &problem) : first_(problem.objects.size() + 1) {
        for (const Link &link : problem.links) {
            ++first_[index(link.a) + 1];
            ++first_[index(link.b) + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        ends_.resize(problem.links.size() * 2);
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (const Link &link : problem.links) {
            ends_[next[index(link.a)]++] = {link.b, link.bytes};
            ends_[next[index(link.b)]++] = {link.a, link.bytes};
        }
    }

    struct End {
        int object;
        double bytes;
    };
    std::span<const End> of(int object) const {
        return std::span(ends_).subspan(first_[index(object)],
                                        first_[index(object) + 1] - first_[index(object)]);
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<End> ends_;
};

} // namespace sennit::balance

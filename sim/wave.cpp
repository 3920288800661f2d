// SPDX-License-Identifier: Apache-2.0
#include "sim/wave.h"

#include <algorithm>
#include <cmath>

namespace sennit::sim {

Wave::Wave(const WaveShape &shape) : shape_(shape) {
    constexpr std::ptrdiff_t kPoints = std::ptrdiff_t{kSamples} * kSamples;
    distances_.reserve(domains() * kPoints);
    for (int y = 0; y < shape.side; ++y) {
        for (int x = 0; x < shape.side; ++x) {
            for (int i = 0; i < kPoints; ++i) {
                const int row = i / kSamples;
                const double dx = x + (i % kSamples + 0.5) / kSamples - shape.source_x * shape.side;
                const double dy = y + (row + 0.5) / kSamples - shape.source_y * shape.side;
                distances_.push_back(static_cast<float>(std::sqrt(dx * dx + dy * dy)));
            }
            std::sort(distances_.end() - kPoints, distances_.end());
        }
    }
}

DomainWork Wave::work(std::size_t domain, int step) const {
    constexpr std::size_t kPoints = std::size_t{kSamples} * kSamples;
    const double radius = shape_.speed * step;
    const auto first = distances_.begin() + static_cast<std::ptrdiff_t>(domain * kPoints);
    const auto last = first + kPoints;
    const auto in = std::lower_bound(first, last, static_cast<float>(radius - shape_.band / 2));
    const auto out = std::lower_bound(in, last, static_cast<float>(radius + shape_.band / 2));
    const double share = static_cast<double>(out - in) / kPoints;
    return {1 - share, share * shape_.factor};
}

} // namespace sennit::sim

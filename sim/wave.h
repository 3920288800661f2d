// SPDX-License-Identifier: Apache-2.0
// The load of a wave front: a circle that grows over a square mesh of domains. Cells in a band
// around the front cost more than the others do (openmp-in-charm, section 5).
#pragma once

#include <cstddef>
#include <vector>

namespace sennit::sim {

struct WaveShape {
    int side = 128;      // domains, in each direction
    double speed = 0.17; // of the front: domain widths in a step
    double band = 0.31;  // its width, in domain widths
    double factor = 27;  // cost of a cell in the band, of another one: 1
    double source_x = 0; // where it starts, as a share of the mesh
    double source_y = 0;
};

// The work of a domain in a step, in units of a domain without front.
struct DomainWork {
    double outside = 0; // cells outside of the band
    double band = 0;
    double sum() const { return outside + band; }
};

class Wave {
  public:
    explicit Wave(const WaveShape &shape);
    std::size_t domains() const { return static_cast<std::size_t>(shape_.side * shape_.side); }
    DomainWork work(std::size_t domain, int step) const;

  private:
    static constexpr int kSamples = 12; // in each direction of a domain
    WaveShape shape_;
    std::vector<float> distances_; // of each domain's samples from the source, sorted
};

} // namespace sennit::sim

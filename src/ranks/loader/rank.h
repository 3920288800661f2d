// SPDX-License-Identifier: Apache-2.0
// One rank: a process that shares the host's memory and nothing else. Its dynamic linker, libc,
// libraries and threads are its own.
//
// When the rank ends, its first stack goes back to the system. The memory that its program has
// mapped does not, because the kernel does not know to which rank it belonged. It is freed when the
// last rank ends, with the address space.
#pragma once

#include "ranks/exported/registry.h"
#include "ranks/fibers/rank_fiber.h"
#include "ranks/loader/entrance.h"
#include "ranks/loader/image.h"
#include "ranks/loader/rank_request.h"

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sennit::loader {

class Rank {
  public:
    // Starts the rank. If that fails, process() is 0 and error() says why. `fiber` is the rank's
    // own, or null.
    Rank(const RankRequest &request, const std::vector<Descriptor> &descriptors,
         exported::Registry &registry, virt::RankFiber *fiber = nullptr);
    pid_t process() const { return process_; }
    virt::RankFiber *fiber() const { return fiber_; }
    // Keep the rank's first stack: somebody may still run on it.
    void leave_stack() { stack_.release(); }
    const std::string &error() const { return error_; }

    // Called after the rank's end: why it never came to run its program. Empty if it did.
    std::string failure() const;

  private:
    bool start(const RankRequest &request, const std::vector<Descriptor> &descriptors,
               exported::Registry &registry);
    bool make_stack(const RankRequest &request, bool executable);
    char *lay_out_stack(const RankRequest &request, const Image &image, const std::string *linker,
                        exported::Registry &registry);
    Entrance &make_entrance(const RankRequest &request, const std::vector<Descriptor> &descriptors,
                            char *stack_pointer);

    Mapping stack_;
    virt::RankFiber *fiber_;
    std::unique_ptr<EntranceFailure> failure_ = std::make_unique<EntranceFailure>();
    pid_t process_ = 0;
    std::string error_;
};

} // namespace sennit::loader

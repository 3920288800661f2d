// SPDX-License-Identifier: Apache-2.0
#include "launch/processors.h"

#include "common/process_stat.h"

#include "node/identity.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace sennit::tool {
namespace {

std::string read_file(pid_t process, const char *name) {
    std::ifstream file(fmt::format("/proc/{}/{}", process, name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

pid_t parent_of(pid_t process) {
    const auto stat = stat_of(process);
    return stat ? stat->parent : 0;
}

} // namespace

pid_t find_launcher(const JobContext &job) {
    const std::string variable = fmt::format("{}=", job.rank_variable);
    for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
        const std::string environment = '\0' + read_file(process, "environ");
        if (environment.find('\0' + variable) == std::string::npos)
            return process;
    }
    return 0;
}

int usable_processors() {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return CPU_COUNT(&usable);
}

int processors_at_once() {
    return node::within_quota(usable_processors());
}

bool may_use_what_launcher_may(const JobContext &job) {
    cpu_set_t ours;
    cpu_set_t launchers;
    const pid_t launcher = find_launcher(job);
    return launcher != 0 && sched_getaffinity(0, sizeof ours, &ours) == 0 &&
           sched_getaffinity(launcher, sizeof launchers, &launchers) == 0 &&
           CPU_EQUAL(&ours, &launchers);
}

} // namespace sennit::tool

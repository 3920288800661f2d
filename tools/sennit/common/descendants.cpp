// SPDX-License-Identifier: Apache-2.0
#include "common/descendants.h"

#include "common/process_stat.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>

namespace sennit::tool {
namespace {

// pid -> parent of every process of the machine.
std::map<pid_t, pid_t> read_process_table(bool but_hosts) {
    std::map<pid_t, pid_t> parents;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const pid_t process = std::atoi(name.c_str());
        const auto stat = stat_of(process);
        if (stat && stat->state != 'Z' && !(but_hosts && is_host(process)))
            parents[process] = stat->parent;
    }
    return parents;
}

void reap() {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

bool wait_until_alone(std::chrono::milliseconds limit, bool but_hosts) {
    constexpr auto step = std::chrono::milliseconds(20);
    for (auto waited = std::chrono::milliseconds(0);; waited += step) {
        reap();
        if (find_descendants(but_hosts).empty())
            return true;
        if (waited >= limit)
            return false;
        std::this_thread::sleep_for(step);
    }
}

void send(const std::vector<pid_t> &processes, int signal) {
    for (const pid_t pid : processes)
        kill(pid, signal);
}

} // namespace

bool is_host(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
    std::string name;
    std::string word;
    std::getline(file, name, '\0');
    std::getline(file, word, '\0');
    return name == "sennit-loader" && word == "--host";
}

std::vector<pid_t> find_descendants(bool but_hosts) {
    const std::map<pid_t, pid_t> parents = read_process_table(but_hosts);
    std::set<pid_t> family = {getpid()};
    std::vector<pid_t> found;
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto &[pid, parent] : parents) {
            if (family.count(parent) != 0 && family.insert(pid).second) {
                found.push_back(pid);
                grown = true;
            }
        }
    }
    return found;
}

void signal_descendants(int signal) {
    send(find_descendants(), signal);
}

void end_descendants(bool but_hosts) {
    using std::chrono::milliseconds;
    if (wait_until_alone(milliseconds(500), but_hosts))
        return;
    send(find_descendants(but_hosts), SIGTERM);
    send(find_descendants(but_hosts), SIGCONT);
    if (wait_until_alone(milliseconds(1000), but_hosts))
        return;
    send(find_descendants(but_hosts), SIGKILL);
    wait_until_alone(milliseconds(1000), but_hosts);
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "launch/neighbours.h"

#include "common/failure.h"
#include "hang/hang_watch.h"

#include "base/clock.h"
#include "base/open_files.h"
#include "base/private_socket.h"
#include "node/identity.h"
#include "node/segment.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

namespace sennit::tool {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::int64_t join_ns = 1000 * ns_per_ms; // a judge that begins or ends takes less
constexpr int retry_ms = 2;
constexpr int answer_ms = 2000;
constexpr int most_replaced = 3; // one whose launcher has gone is refused each time

// -1: nobody listens there.
int connect_to(const std::string &path) {
    sockaddr_un address;
    const int link = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (link >= 0 && make_socket_address(path.c_str(), address) &&
        connect(link, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0)
        return link;
    close(link);
    return -1;
}

int listen_at(const std::string &path) {
    sockaddr_un address;
    const int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door >= 0 && make_socket_address(path.c_str(), address) &&
        bind(door, reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0 &&
        listen(door, SOMAXCONN) == 0)
        return door;
    close(door);
    return -1;
}

// Of the file that has the name now; -1: somebody else has it.
int take_lock(const std::string &path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && node::is_at(file, path.c_str()))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

// A process of its own: no rank's end is its end, and no launcher's signal is for it.
class NodeJudge {
  public:
    NodeJudge(const NodeJob &job, SharedFolder folder, int lock)
        : folder_(std::move(folder)), lock_(lock),
          watch_(folder_.ranks(), job.ranks, job.board, job.ends_early_ranks, job.launcher),
          door_(listen_at(folder_.watchers())) {}
    ~NodeJudge() {
        if (door_ >= 0)
            close(door_);
        close(lock_);
    }
    NodeJudge(const NodeJudge &) = delete;
    NodeJudge &operator=(const NodeJudge &) = delete;

    bool is_ready() const { return door_ >= 0; }

    [[noreturn]] void run() {
        prctl(PR_SET_NAME, "sennit-judge");
        try {
            detach();
            open_most_files(); // three for each rank
            while (accept_watchers()) {
                wait();
                tell_of_failure();
            }
            tell_of_early_end();
        } catch (const std::exception &) {
            folder_.remove();
            _exit(1); // as if it had been killed
        }
        folder_.remove(); // while it has the lock
        _exit(0);
    }

  private:
    // But for what it says, it has nothing of the rank's: an mpiexec waits for the end of all who
    // have its pipes.
    void detach() const {
        const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        std::vector<int> kept = {STDERR_FILENO, lock_, watch_.descriptor(), door_};
        std::sort(kept.begin(), kept.end());
        for (std::size_t i = 0; i + 1 < kept.size(); ++i)
            if (kept[i] + 1 < kept[i + 1])
                close_files(kept[i] + 1, kept[i + 1] - 1);
        close_files_from(kept.back() + 1);
        if (chdir("/") != 0)
            return; // it keeps a folder busy: no harm
    }

    // False: there are none any more.
    bool accept_watchers() {
        for (int link; (link = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
            ucred peer = {};
            socklen_t size = sizeof peer;
            if (getsockopt(link, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                peer.uid == geteuid() && watch_.admit(peer.pid))
                watchers_.push_back(link);
            else
                close(link);
        }
        return !watchers_.empty();
    }

    void wait() {
        std::vector<pollfd> sources = {{watch_.descriptor(), POLLIN, 0}, {door_, POLLIN, 0}};
        for (const int watcher : watchers_)
            sources.push_back({watcher, POLLIN, 0});
        poll(sources.data(), sources.size(), -1);
        if (sources[0].revents != 0)
            watch_.ready();
        for (std::size_t i = 2; i < sources.size(); ++i)
            if (sources[i].revents != 0 && !serve(sources[i].fd))
                std::erase(watchers_, sources[i].fd);
    }

    // Who has reported the end of its rank asks for a word that it was heard. False: it has gone.
    bool serve(int watcher) {
        char word = 0;
        const ssize_t got = recv(watcher, &word, sizeof word, MSG_DONTWAIT);
        if (got <= 0) {
            if (got < 0 && errno == EAGAIN)
                return true;
            close(watcher);
            return false;
        }
        tell_of_failure();
        ::send(watcher, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
        return true;
    }

    // The first one: the launcher ends the others.
    void tell_of_failure() {
        const std::optional<RankReport> &failure = watch_.ends().failure();
        if (told_ || !failure)
            return;
        told_ = true;
        if (failure->signal != 0 && !is_request(failure->signal))
            tell("sennit: {}\n", describe(*failure));
    }

    void tell_of_early_end() {
        const RankEnds &ends = watch_.ends();
        const std::optional<RankReport> &failure = ends.failure();
        if (failure && failure->signal == 0 && failure->code != 0 && ends.uses_mpi() &&
            !ends.has_begun(failure->rank) && !ends.has_told() && !failure->is_explained)
            tell("sennit: {}\n", describe_early_end(*failure));
    }

    const SharedFolder folder_;
    const int lock_;
    HangWatch watch_;
    const int door_;
    std::vector<int> watchers_;
    bool told_ = false;
};

std::string folder_name(const NodeJob &job) {
    return fmt::format("{:016x}{:016x}", node::identity_of(job.launcher),
                       std::hash<std::string>{}(job.name));
}

} // namespace

Neighbours::Neighbours(NodeJob job) : job_(std::move(job)), name_(folder_name(job_)) {}

Neighbours::~Neighbours() {
    if (link_ >= 0)
        close(link_);
}

// With the lock of the folder.
bool Neighbours::begin(const SharedFolder &folder, int lock) {
    unlink(folder.ranks().c_str()); // of a judge that was killed
    unlink(folder.watchers().c_str());
    std::optional<NodeJudge> judge;
    try {
        judge.emplace(job_, folder, lock);
    } catch (const Failure &) {
        folder.remove();
        close(lock);
        return false;
    }
    // Before there is a judge: it ends with the last of its watchers.
    const int link = judge->is_ready() ? connect_to(folder.watchers()) : -1;
    if (link < 0) {
        folder.remove();
        return false;
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0)
            judge->run();
        _exit(0);
    }
    if (child > 0)
        waitpid(child, nullptr, 0);
    else
        folder.remove(); // while it has the lock
    sigprocmask(SIG_SETMASK, &before, nullptr);
    link_ = link;
    return child > 0;
}

bool Neighbours::join() {
    const std::int64_t end = monotonic_ns() + join_ns;
    reason_ =
        "no folder for their socket can be made: set TMPDIR to a folder of yours with a short "
        "path";
    do {
        folder_ = share_folder(name_);
        if (!folder_)
            return false;
        link_ = connect_to(folder_->watchers());
        if (link_ >= 0)
            return true;
        if (const int lock = take_lock(folder_->lock()); lock >= 0) {
            reason_ = "no process for it can be started: see ulimit -u";
            return begin(*folder_, lock);
        }
        poll(nullptr, 0, retry_ms);
    } while (monotonic_ns() < end);
    reason_ = "the process that does so gives no answer: the machine is busy";
    return false;
}

void Neighbours::replace() {
    close(link_);
    link_ = -1;
    if (++replaced_ <= most_replaced)
        join();
}

void Neighbours::wait_until_heard() {
    const char word = 0;
    if (link_ < 0 || ::send(link_, &word, sizeof word, MSG_NOSIGNAL) < 0)
        return;
    pollfd answer = {link_, POLLIN, 0};
    poll(&answer, 1, answer_ms);
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "loader/stub.h"

#include "loader/channel.h"
#include "loader/meeting.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace sennit::loader {
namespace {

constexpr int kRefused = 2; // as everything that Sennit refuses
constexpr int kMostSpaces = 4096;

int refuse(const std::string &why) {
    std::fprintf(stderr, "sennit: no virtual rank: %s\n", why.c_str());
    return kRefused;
}

std::uint64_t bits_of(const sigset_t &set) {
    std::uint64_t bits = 0;
    for (int signal = 1; signal <= 64; ++signal)
        if (sigismember(&set, signal) == 1)
            bits |= std::uint64_t{1} << (signal - 1);
    return bits;
}

std::uint64_t ignored_signals() {
    std::uint64_t bits = 0;
    for (int signal = 1; signal <= 64; ++signal) {
        struct sigaction action = {};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
            bits |= std::uint64_t{1} << (signal - 1);
    }
    return bits;
}

std::string own_affinity() {
    std::string mask(8192, '\0');
    const long size = syscall(SYS_sched_getaffinity, 0, mask.size(), mask.data());
    mask.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return mask;
}

// Those that are open now, in rising order.
std::vector<int> open_descriptors() {
    std::vector<int> numbers;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return numbers;
    while (const dirent *entry = readdir(folder))
        if (const int number = std::atoi(entry->d_name);
            *entry->d_name != '.' && number != dirfd(folder))
            numbers.push_back(number);
    closedir(folder);
    return numbers;
}

class Stub {
  public:
    explicit Stub(const StubOptions &options) : options_(options), meeting_(options.folder) {}

    int run() {
        prepare();
        News news;
        if (!start(news))
            return refuse(error_);
        return attend(news.value);
    }

  private:
    void prepare() {
        sigset_t before;
        sigfillset(&signals_);
        sigprocmask(SIG_SETMASK, &signals_, &before);
        request_.blocked_signals = bits_of(before);
        request_.ignored_signals = ignored_signals();
        request_.program = options_.program;
        request_.arguments = options_.arguments;
        for (char **entry = environ; *entry; ++entry)
            request_.environment.emplace_back(*entry);
        request_.mappings = options_.mappings;
        request_.fiber = options_.fiber ? 1 : 0;
        request_.file_mask = umask(0);
        umask(request_.file_mask);
        request_.affinity = own_affinity();
        for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
            getrlimit(static_cast<__rlimit_resource_t>(limit),
                      &request_.limits[static_cast<std::size_t>(limit)]);
        for (const int number : open_descriptors()) {
            request_.descriptors.push_back(number);
            descriptors_.push_back(number);
        }
        folder_ = Descriptor(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (folder_) {
            request_.descriptors.push_back(kWorkingDirectory);
            descriptors_.push_back(folder_.number());
        }
    }

    // One address space after the other is asked for room.
    bool start(News &news) {
        for (int space = 0; space < kMostSpaces; ++space) {
            if (!connect_to(space))
                return false;
            const bool answered = send_request(host_.number(), request_, descriptors_) &&
                                  receive_message(host_.number(), news);
            if (!answered) {
                error_ = "its host has ended before it has started";
                return false;
            }
            if (news.kind == News::refused) {
                error_ = news.text;
                return false;
            }
            if (news.kind == News::started)
                return true;
        }
        error_ = "too many address spaces";
        return false;
    }

    bool connect_to(int space) {
        error_ = meeting_.enter();
        if (!error_.empty())
            return false;
        host_ = meeting_.find(space);
        if (!host_ && start_host(space))
            host_ = meeting_.find(space);
        meeting_.leave();
        if (host_ && !is_same_user(host_.number()))
            host_.reset();
        if (!host_ && error_.empty())
            error_ = "its host cannot be started";
        return static_cast<bool>(host_);
    }

    // A process of its own, in a session of its own, that nobody here waits for.
    bool start_host(int space) {
        const Descriptor listener = meeting_.offer(space, error_);
        if (!listener)
            return false;
        if (space == 0)
            meeting_.sweep();
        const pid_t child = fork();
        if (child == 0) {
            setsid();
            if (fork() != 0)
                _exit(0);
            become_host(space, listener.number());
        }
        if (child < 0) {
            error_ = std::string("no process for its host: ") + std::strerror(errno);
            return false;
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        return true;
    }

    // It starts anew: nothing of this stub is to be in the address space of all. No open file is
    // kept, or a launcher would wait for their end.
    [[noreturn]] void become_host(int space, int listener) const {
        constexpr int place = 3;
        const int nowhere = open("/dev/null", O_RDWR);
        const int held = fcntl(listener, F_DUPFD, 64); // above what is replaced
        if (nowhere < 0 || held < 0)
            _exit(1);
        for (int number = 0; number < place; ++number)
            dup2(nowhere, number);
        dup2(held, place);
        closefrom(place + 1);
        if (chdir("/") != 0)
            _exit(1);
        for (int signal = 1; signal <= 64; ++signal)
            ::signal(signal, SIG_DFL);
        const std::string number = std::to_string(space);
        const char *words[] = {"sennit-loader", "--host", options_.folder.c_str(), number.c_str(),
                               nullptr};
        execv("/proc/self/exe", const_cast<char **>(words));
        _exit(1);
    }

    // The rank's open files are its own from here on: who waits for their end waits for the rank.
    void let_go() {
        folder_.reset();
        for (const int number : descriptors_)
            if (number != STDERR_FILENO)
                close(number);
        descriptors_.clear();
    }

    int attend(pid_t rank) {
        let_go();
        sigdelset(&signals_, SIGCHLD);
        const Descriptor signals(signalfd(-1, &signals_, SFD_CLOEXEC));
        pollfd sources[] = {{host_.number(), POLLIN, 0}, {signals.number(), POLLIN, 0}};
        for (;;) {
            if (poll(sources, 2, -1) < 0)
                continue;
            if (sources[0].revents) {
                News news;
                if (!receive_message(host_.number(), news))
                    return refuse("the host of process " + std::to_string(rank) +
                                  " was killed, and its ranks with it");
                if (news.kind == News::refused)
                    return refuse(news.text);
                if (news.kind == News::ended)
                    return end_as(news.value);
                if (news.kind == News::stopped && stop_asked_)
                    kill(getpid(), SIGSTOP); // for who watches this process
            }
            signalfd_siginfo info{};
            if (sources[1].revents && read(signals.number(), &info, sizeof info) == sizeof info)
                hand_on(static_cast<int>(info.ssi_signo));
        }
    }

    // Not every rank that stops was asked to through its stub: who stops all processes of a job
    // lets all of them go on, too, and news of the stop may come later.
    void hand_on(int signal) {
        if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            stop_asked_ = true;
        if (signal == SIGCONT)
            stop_asked_ = false;
        send_message(host_.number(), Order{signal});
    }

    static int end_as(int status) {
        if (!WIFSIGNALED(status))
            return WEXITSTATUS(status);
        const rlimit none{0, 0}; // the rank has written a core file already
        setrlimit(RLIMIT_CORE, &none);
        const int number = WTERMSIG(status);
        ::signal(number, SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        kill(getpid(), number);
        sigprocmask(SIG_UNBLOCK, &all, nullptr);
        return 128 + number;
    }

    const StubOptions &options_;
    Meeting meeting_;
    RankRequest request_;
    std::vector<int> descriptors_;
    Descriptor folder_;
    Descriptor host_;
    sigset_t signals_{};
    bool stop_asked_ = false;
    std::string error_;
};

} // namespace

int run_stub(const StubOptions &options) {
    return Stub(options).run();
}

} // namespace sennit::loader

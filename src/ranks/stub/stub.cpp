// SPDX-License-Identifier: Apache-2.0
#include "ranks/stub/stub.h"

#include "base/open_files.h"
#include "base/system_call.h"
#include "ranks/stub/line.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::loader::stub {
namespace {

constexpr int kRefused = 2; // as everything that Sennit refuses
constexpr int kMostSpaces = 4096;
constexpr int kHostIsGone = -1;
constexpr int kTries = 100;
constexpr int kLastSignal = 64;
constexpr std::size_t kMaskSize = sizeof(std::uint64_t);
constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};

constexpr std::uint64_t bit_of(int signal) {
    return std::uint64_t{1} << (signal - 1);
}

template <typename... Parts>
int refuse(Parts... parts) {
    Line<768>("sennit: no virtual rank: ", parts..., "\n").say();
    return kRefused;
}

long set_mask(int how, const std::uint64_t &mask, std::uint64_t *before = nullptr) {
    return system_call(SYS_rt_sigprocmask, how, &mask, before, kMaskSize);
}

std::uint64_t ignored_signals() {
    std::uint64_t bits = 0;
    for (int signal = 1; signal <= kLastSignal; ++signal) {
        KernelAction action;
        if (system_call(SYS_rt_sigaction, signal, 0, &action, kMaskSize) == 0 &&
            action.handler == reinterpret_cast<std::uintptr_t>(SIG_IGN))
            bits |= bit_of(signal);
    }
    return bits;
}

void close_file(int number) {
    system_call(SYS_close, number);
}

// How many texts there are, and where the last one ends.
unsigned count(char **texts, const char *&end) {
    unsigned found = 0;
    for (; texts[found]; ++found) {
    }
    if (found > 0)
        end = texts[found - 1] + length(texts[found - 1]) + 1;
    return found;
}

// Memory that is given back when the rank has started. Pages come as they are used.
class Scratch {
  public:
    Scratch()
        : memory_(system_call(SYS_mmap, 0, kSize, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1)) {}
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() { system_call(SYS_munmap, memory_, kSize); }

    explicit operator bool() const { return memory_ > 0; }
    char *affinity() const { return reinterpret_cast<char *>(memory_); }
    std::int32_t *numbers() const {
        return reinterpret_cast<std::int32_t *>(affinity() + kAffinity);
    }
    std::int32_t *descriptors() const { return numbers() + kMostNumbers; }

    static constexpr std::size_t kAffinity = 8192;
    static constexpr std::uint32_t kMostNumbers = 1 << 20;

  private:
    static constexpr std::size_t kSize =
        kAffinity + std::size_t{2} * kMostNumbers * sizeof(std::int32_t);

    long memory_;
};

class Stub {
  public:
    explicit Stub(const StubOptions &options) : options_(options) {}

    int run() {
        set_mask(SIG_SETMASK, kAllSignals, &request_.head.blocked_signals);
        News news;
        {
            const Scratch scratch;
            if (!scratch)
                return refuse("no memory");
            prepare(scratch);
            if (const int code = start(news); code != 0)
                return code;
            let_go();
        }
        return attend(news.value);
    }

  private:
    void prepare(const Scratch &scratch) {
        RequestHead &head = request_.head;
        const char *end = nullptr;
        head.arguments = count(options_.words + 1, end);
        head.environment = count(options_.environment, end);
        request_.text = options_.words[0];
        head.text_size = static_cast<std::uint64_t>(end - request_.text);
        head.ignored_signals = ignored_signals();
        head.mappings = options_.mappings;
        head.fiber = options_.fiber ? 1 : 0;
        head.file_mask = static_cast<std::uint32_t>(system_call(SYS_umask, 0));
        system_call(SYS_umask, head.file_mask);
        const long size =
            system_call(SYS_sched_getaffinity, 0, Scratch::kAffinity, scratch.affinity());
        request_.affinity = scratch.affinity();
        head.affinity_size = size > 0 ? static_cast<std::uint32_t>(size) : 0;
        for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
            head.limits[limit] = {RLIM_INFINITY, RLIM_INFINITY}; // where the call is forbidden
            system_call(SYS_prlimit64, 0, limit, 0, &head.limits[limit]);
        }
        allow_many_descriptors(head.limits[RLIMIT_NOFILE]);
        take_descriptors(scratch);
    }

    // The rank keeps what it has got. The more this process may have open, the more of the user's
    // descriptors may be on their way.
    static void allow_many_descriptors(rlimit limit) {
        limit.rlim_cur = limit.rlim_max;
        system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, 0);
    }

    // Those that are open now, and the working directory.
    void take_descriptors(const Scratch &scratch) {
        std::int32_t *const numbers = scratch.numbers();
        std::uint32_t &open = request_.head.descriptors;
        each_open_file([&](int number) {
            if (open + 1 < Scratch::kMostNumbers)
                numbers[open++] = number;
        });
        fill_standard();
        std::int32_t *const descriptors = scratch.descriptors();
        for (std::uint32_t i = 0; i < open; ++i)
            descriptors[i] = numbers[i];
        const long folder =
            system_call(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0) {
            numbers[open] = kWorkingDirectory;
            descriptors[open++] = static_cast<std::int32_t>(folder);
        }
        request_.numbers = numbers;
        request_.descriptors = descriptors;
    }

    // Without standard streams, nothing of this process's own may get their numbers: its lines
    // would go there. The rank does not get these.
    static void fill_standard() {
        for (int number = 0; number <= STDERR_FILENO; ++number)
            if (system_call(SYS_fcntl, number, F_GETFD) < 0)
                system_call(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
    }

    // One address space after the other is asked for room. Returns an exit code, or 0.
    int start(News &news) {
        for (int space = 0; space < kMostSpaces; ++space) {
            if (const int code = ask(space, news); code != 0)
                return code;
            if (news.kind == News::refused)
                return refuse(news.text);
            if (news.kind == News::started)
                return 0;
        }
        return refuse("too many address spaces");
    }

    // A host that ends while this stub is on its way to it never hears of it: then there is
    // another one soon, or none. So nobody needs a lock who finds a host.
    int ask(int space, News &news) {
        for (int tries = 0; tries < kTries; ++tries) {
            if (!connect_to(space)) {
                if (const int code = start_host(space); code != 0)
                    return code;
                continue;
            }
            if (receive(news) == sizeof news) { // its turn has come, or can never come
                const int code = news.kind == News::come ? hand_over(news) : 0;
                if (code != kHostIsGone)
                    return code;
            }
            close_file(host_);
        }
        return refuse("its host has ended before it has started");
    }

    // Returns an exit code, 0 if there are news, or kHostIsGone.
    int hand_over(News &news) {
        const int error = send(host_, request_);
        if (error == ETOOMANYREFS)
            return refuse("too many open files are on their way between your processes: end some "
                          "of these, or raise ulimit -n");
        const long got = receive(news); // also if the host has refused before all was sent
        if (error == 0 && got >= 0 && got != sizeof news) // it has read the request
            return refuse("its host has ended before it has started");
        return got == sizeof news ? 0 : kHostIsGone;
    }

    bool connect_to(int space) {
        sockaddr_un place{};
        const Line<sizeof place.sun_path> path(options_.folder, "/host-", space);
        if (!path.is_whole())
            return false; // the loader tells
        place.sun_family = AF_UNIX;
        for (std::size_t i = 0; path.text()[i]; ++i)
            place.sun_path[i] = path.text()[i];
        host_ = static_cast<int>(system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (system_call(SYS_connect, host_, &place, sizeof place) == 0 && is_of_this_user())
            return true;
        close_file(host_);
        return false;
    }

    bool is_of_this_user() const {
        ucred peer{};
        socklen_t size = sizeof peer;
        return system_call(SYS_getsockopt, host_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
               peer.uid == static_cast<uid_t>(system_call(SYS_geteuid));
    }

    long receive(News &news) const {
        return system_call(SYS_recvfrom, host_, &news, sizeof news, MSG_WAITALL);
    }

    // sennit-loader, which lies beside this program, starts the host, or says why it does not.
    // Returns an exit code, or 0.
    int start_host(int space) const {
        // Not /proc/self/exe: libraries are preloaded by this path, which may be a link's because
        // the folder's own name cannot be in LD_PRELOAD.
        char own[PATH_MAX + 1];
        std::size_t size = 0;
        for (; size < PATH_MAX && options_.own_path[size]; ++size)
            own[size] = options_.own_path[size];
        while (size > 0 && own[size - 1] != '/')
            --size;
        own[size] = '\0';
        const Line<PATH_MAX + 32> loader(static_cast<const char *>(own), "sennit-loader");
        const Line<16> number(space);
        const char *words[] = {"sennit-loader", "--host", options_.folder, number.text(), nullptr};
        const long child = system_call(SYS_clone, SIGCHLD);
        if (child == 0) {
            system_call(SYS_execve, loader.text(), words, options_.environment);
            system_call(
                SYS_exit_group,
                refuse("'", loader.text(), "' cannot be started: build or install Sennit again"));
        }
        if (child < 0)
            return refuse("no process for its host");
        int status = 0;
        while (system_call(SYS_wait4, child, &status) == -EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : refuse("its host was killed");
    }

    // The rank's open files are its own from here on: who waits for their end waits for the rank.
    void let_go() const {
        for (std::uint32_t i = 0; i < request_.head.descriptors; ++i)
            if (request_.descriptors[i] != STDERR_FILENO)
                close_file(request_.descriptors[i]);
    }

    int attend(int rank) {
        const std::uint64_t heard = kAllSignals & ~bit_of(SIGCHLD);
        const auto signals =
            static_cast<int>(system_call(SYS_signalfd4, -1, &heard, kMaskSize, SFD_CLOEXEC));
        pollfd sources[] = {{host_, POLLIN, 0}, {signals, POLLIN, 0}};
        for (;;) {
            // Where the system forbids signalfd(2), signals are looked for so often.
            timespec look{0, 20'000'000};
            if (system_call(SYS_ppoll, sources, 2, signals < 0 ? &look : nullptr, 0) < 0)
                continue;
            if (sources[0].revents) {
                News news;
                if (receive(news) != sizeof news) {
                    refuse("the host of process ", rank, " was killed, and its ranks with it");
                    return end_as(SIGKILL);
                }
                if (news.kind == News::refused)
                    return refuse(static_cast<const char *>(news.text));
                if (news.kind == News::ended)
                    return end_as(news.value);
                if (news.kind == News::stopped && stop_asked_) // for who watches this process
                    system_call(SYS_kill, system_call(SYS_getpid), SIGSTOP);
            }
            signalfd_siginfo info;
            if (signals < 0)
                hand_on_pending(heard);
            else if (sources[1].revents &&
                     system_call(SYS_read, signals, &info, sizeof info) == sizeof info)
                hand_on(static_cast<int>(info.ssi_signo));
        }
    }

    void hand_on_pending(const std::uint64_t &heard) {
        const timespec now{};
        for (long signal;
             (signal = system_call(SYS_rt_sigtimedwait, &heard, 0, &now, kMaskSize)) > 0;)
            hand_on(static_cast<int>(signal));
    }

    // Not every rank that stops was asked to through its stub: who stops all processes of a job
    // lets all of them go on, too, and news of the stop may come later.
    void hand_on(int signal) {
        if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            stop_asked_ = true;
        if (signal == SIGCONT)
            stop_asked_ = false;
        const SignalOrder order{signal};
        system_call(SYS_sendto, host_, &order, sizeof order, MSG_NOSIGNAL);
    }

    static int end_as(int status) {
        if (!WIFSIGNALED(status))
            return WEXITSTATUS(status);
        const rlimit none{0, 0}; // the rank has written a core file already
        system_call(SYS_prlimit64, 0, RLIMIT_CORE, &none, 0);
        const int number = WTERMSIG(status);
        const KernelAction usual;
        system_call(SYS_rt_sigaction, number, &usual, 0, kMaskSize);
        system_call(SYS_kill, system_call(SYS_getpid), number);
        set_mask(SIG_UNBLOCK, kAllSignals);
        return 128 + number;
    }

    const StubOptions &options_;
    Outgoing request_;
    int host_ = -1;
    bool stop_asked_ = false;
};

} // namespace

int run(const StubOptions &options) {
    return Stub(options).run();
}

} // namespace sennit::loader::stub

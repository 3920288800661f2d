// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/host.h"

#include "base/clock.h"
#include "base/signal_queue.h"
#include "base/small_file.h"
#include "ranks/fibers/crew.h"
#include "ranks/fibers/home.h"
#include "ranks/loader/image.h"
#include "ranks/loader/meeting.h"
#include "ranks/loader/rank.h"
#include "ranks/loader/rank_request.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <linux/prctl.h>
#include <memory>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::loader {
namespace {

// What its ranks export. Static: its pages come as they are used.
exported::Registry g_registry;

constexpr std::uint64_t kUsualMappings = 65530;
constexpr int kPatienceMs = 1000;

std::uint64_t mapping_limit() {
    char text[32];
    const bool known = read_small_file("/proc/sys/vm/max_map_count", text, sizeof text) > 0;
    return known ? std::strtoull(text, nullptr, 10) : kUsualMappings;
}

// A connection to each rank; and what one rank after the other gets.
void allow_many_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

sigset_t ends_of_children() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    return signals;
}

struct Member {
    Descriptor connection; // none: its stub is gone, or has been told the end
    std::unique_ptr<Rank> rank;
};

// A stub that has no rank yet.
struct Guest {
    Descriptor connection;
    std::int64_t invited_ns = 0; // since when it may send its request; 0: not yet
};

class Host {
  public:
    // `impediment`: why there can be no ranks here, or empty.
    Host(Meeting &meeting, int space, Descriptor listener, std::string impediment)
        : meeting_(meeting), space_(space), impediment_(std::move(impediment)),
          listener_(std::move(listener)), signals_(ends_of_children()), spare_(open_nothing()),
          address_space_(mapping_limit()) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, nullptr);
        fcntl(listener_.number(), F_SETFL, O_NONBLOCK);
    }

    void run() {
        do {
            wait();
        } while (!may_end());
    }

  private:
    void wait() {
        std::vector<pollfd> sources = {{signals_.descriptor(), POLLIN, 0},
                                       {listener_.number(), POLLIN, 0}};
        for (const Member &member : members_)
            sources.push_back({member.connection.number(), POLLIN, 0});
        const std::size_t first_guest = sources.size();
        for (const Guest &guest : guests_)
            sources.push_back({guest.connection.number(), POLLIN, 0});
        // Nobody to wait for: a stub that has started this host and was killed never comes.
        const int limit = members_.empty() || !guests_.empty() ? kPatienceMs : -1;
        if (poll(sources.data(), sources.size(), signals_.patience(limit)) < 0)
            return;
        // Orders first: members come and go below.
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (sources[i + 2].revents)
                obey(members_[i]);
        for (std::size_t i = guests_.size(); i-- > 0;)
            if (sources[first_guest + i].revents) {
                Descriptor connection = std::move(guests_[i].connection);
                guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
                admit(std::move(connection));
            }
        if (sources[0].revents || !signals_.is_polled())
            reap();
        if (sources[1].revents)
            meet();
        invite();
    }

    // No rank, and no stub that waits: who comes later is told so by the kernel, and looks again.
    bool may_end() {
        if (!members_.empty() || !guests_.empty())
            return false;
        if (!meeting_.enter().empty())
            return meeting_.is_gone(); // with the folder around it: nobody finds the way
        pollfd waiting = {listener_.number(), POLLIN, 0};
        if (poll(&waiting, 1, 0) > 0) {
            meeting_.leave();
            return false;
        }
        meeting_.close(space_);
        meeting_.leave();
        return true;
    }

    // Empty: `error` says why, or 0: a stranger's.
    Descriptor accept_one(int &error) const {
        Descriptor connection(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        error = connection ? 0 : errno;
        if (connection && !is_same_user(connection.number()))
            connection.reset();
        return connection;
    }

    void meet() {
        int error = 0;
        Descriptor connection = accept_one(error);
        if (error == EMFILE || error == ENFILE)
            return refuse_one();
        if (!connection)
            return;
        // A stub sends all at once; one that was stopped in between must not keep the others.
        const timeval patience{5, 0};
        setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        guests_.push_back({std::move(connection)});
    }

    // A stub would wait for ever where this process can have no connection to it: one descriptor is
    // kept for the answer.
    void refuse_one() {
        spare_.reset();
        int error = 0;
        if (const Descriptor connection = accept_one(error))
            refuse(connection, too_many_files());
        spare_ = Descriptor(open_nothing());
    }

    static int open_nothing() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

    static std::string too_many_files() {
        return "its host has a connection to each rank, and may have " +
               std::to_string(getdtablesize()) + " open files: raise ulimit -Hn, or start fewer";
    }

    // A rank moves its descriptors out of the way before they get their numbers (entrance.cpp).
    static bool has_room_for_copies(const std::vector<Descriptor> &descriptors) {
        int end = 0;
        for (const Descriptor &one : descriptors)
            end = std::max(end, one.number() + 1);
        return end + static_cast<int>(descriptors.size()) <= getdtablesize();
    }

    // A rank's program, its dynamic linker and a file of /proc are open at once while it starts.
    static bool has_room_to_read() {
        const Descriptor some[] = {Descriptor(open_nothing()), Descriptor(open_nothing()),
                                   Descriptor(open_nothing())};
        return std::all_of(std::begin(some), std::end(some),
                           [](const Descriptor &one) { return bool(one); });
    }

    // One after the other (messages.h). One that does not answer, since it was stopped, keeps the
    // others for a moment only.
    void invite() {
        const std::int64_t now = monotonic_ns();
        const std::int64_t recent = now - std::int64_t{kPatienceMs} * 1'000'000;
        Guest *next = nullptr;
        for (Guest &guest : guests_) {
            if (guest.invited_ns > recent)
                return;
            if (guest.invited_ns == 0 && !next)
                next = &guest;
        }
        if (!next)
            return;
        next->invited_ns = now;
        News news;
        news.kind = News::come;
        send_message(next->connection.number(), news);
    }

    void admit(Descriptor connection) {
        std::vector<Descriptor> descriptors;
        bool too_many = false;
        const auto request = receive_request(connection.number(), descriptors, too_many);
        if (too_many || !has_room_for_copies(descriptors) || !has_room_to_read())
            return refuse(connection, too_many_files());
        if (!request || descriptors.size() != request->descriptors.size())
            return;
        News news;
        if (!address_space_.take(request->mappings)) {
            news.kind = News::full;
            send_message(connection.number(), news);
            return;
        }
        if (!impediment_.empty())
            return refuse(connection, impediment_);
        virt::RankFiber *fiber = nullptr;
        if (request->fiber) {
            std::string why;
            fiber = make_fiber(*request, why);
            if (!fiber)
                return refuse(connection, why);
        }
        auto rank = std::make_unique<Rank>(*request, descriptors, g_registry, fiber);
        if (rank->process() == 0) {
            end_fiber(*rank);
            return refuse(connection, rank->error());
        }
        news.kind = News::started;
        news.value = rank->process();
        send_message(connection.number(), news);
        members_.push_back({std::move(connection), std::move(rank)});
    }

    virt::RankFiber *make_fiber(const RankRequest &request, std::string &why) {
        why = virt::impediment();
        if (!why.empty())
            return nullptr;
        if (!crew_)
            crew_ = new virt::Crew;
        cpu_set_t cores;
        CPU_ZERO(&cores);
        std::memcpy(&cores, request.affinity.data(),
                    std::min(request.affinity.size(), sizeof cores));
        virt::RankFiber *const fiber = crew_->staff(cores) ? crew_->add() : nullptr;
        if (!fiber)
            why = "no memory or no thread for rank fibers";
        return fiber;
    }

    static void refuse(const Descriptor &connection, const std::string &why) {
        News news;
        news.kind = News::refused;
        std::snprintf(news.text, sizeof news.text, "%s", why.c_str());
        send_message(connection.number(), news);
    }

    void obey(Member &member) {
        SignalOrder order;
        if (receive_message(member.connection.number(), order)) {
            kill(member.rank->process(), order.signal);
            return;
        }
        member.connection.reset();
        kill(member.rank->process(), SIGKILL);
    }

    void reap() {
        ArrivedSignal ignored;
        while (signals_.next(ignored)) {
        }
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;)
            for (std::size_t i = 0; i < members_.size(); ++i)
                if (members_[i].rank->process() == pid && tell(members_[i], status)) {
                    end_fiber(*members_[i].rank);
                    g_registry.end_of(pid);
                    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
                    break;
                }
    }

    void end_fiber(Rank &rank) {
        if (rank.fiber() && !crew_->end(*rank.fiber()))
            rank.leave_stack();
    }

    // True if it was the last that there is to tell of the rank.
    static bool tell(const Member &member, int status) {
        News news;
        news.kind = WIFSTOPPED(status) ? News::stopped : News::ended;
        news.value = WIFSTOPPED(status) ? WSTOPSIG(status) : status;
        const bool ended = news.kind == News::ended;
        if (const std::string failure = ended ? member.rank->failure() : ""; !failure.empty()) {
            news.kind = News::refused;
            std::snprintf(news.text, sizeof news.text, "%s", failure.c_str());
        }
        if (member.connection)
            send_message(member.connection.number(), news);
        return ended;
    }

    Meeting &meeting_;
    const int space_;
    const std::string impediment_;
    Descriptor listener_;
    SignalQueue signals_;
    Descriptor spare_; // refuse_one()
    AddressSpace address_space_;
    // There is a rank fiber, or was. Never deleted: its carriers run until the process ends.
    virt::Crew *crew_ = nullptr;
    std::vector<Member> members_;
    std::vector<Guest> guests_; // in the order in which they have come
};

} // namespace

int run_host(const std::string &folder, int space, Descriptor listener) {
    Meeting meeting(folder);
    allow_many_descriptors();
    Host(meeting, space, std::move(listener), fix_program_break()).run();
    return 0;
}

namespace {

// What the kernel shows of a process's memory in /proc/self/stat, by the fields' numbers.
class MemoryFields {
  public:
    MemoryFields() {
        static char text[2048];
        if (read_small_file("/proc/self/stat", text, sizeof text) > 0)
            at_ = std::strrchr(text, ')'); // the end of field 2
    }
    std::uint64_t operator[](int field) const {
        const char *at = at_;
        for (int i = 2; at && i < field; ++i)
            at = std::strchr(at + 1, ' ');
        return at ? std::strtoull(at, nullptr, 10) : 0;
    }

  private:
    const char *at_ = nullptr;
};

// The kernel takes no break below its start: make the two equal.
bool set_break_and_its_start(std::uint64_t address) {
    const MemoryFields fields;
    prctl_mm_map map{};
    map.start_code = fields[26];
    map.end_code = fields[27];
    map.start_stack = fields[28];
    map.start_data = fields[45];
    map.end_data = fields[46];
    map.start_brk = address;
    map.brk = address;
    map.arg_start = fields[48];
    map.arg_end = fields[49];
    map.env_start = fields[50];
    map.env_end = fields[51];
    map.exe_fd = ~0u; // stays
    return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) == 0;
}

} // namespace

std::string fix_program_break() {
    // The break moves within its page without a look at what is behind it.
    const auto now = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t end = page_up(now);
    if (sbrk(static_cast<std::intptr_t>(end - now)) != reinterpret_cast<void *>(-1) &&
        mmap(reinterpret_cast<void *>(end), kPage, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED &&
        set_break_and_its_start(end))
        return "";
    return std::string("the kernel does not let the program break be fixed (") +
           std::strerror(errno) + "): it needs CONFIG_CHECKPOINT_RESTORE";
}

} // namespace sennit::loader

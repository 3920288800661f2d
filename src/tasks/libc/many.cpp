// SPDX-License-Identifier: Apache-2.0
// Waits for one of several files: an epoll set of them is the one file that the task waits for.
// Calls with a signal mask go to libc, for the mask is the thread's.
#include "tasks/libc/calls.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

#include <cstring>
#include <span>
#include <unistd.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// Of some files, each with its events.
class Set {
  public:
    Set() : file_(epoll_create1(EPOLL_CLOEXEC)), good_(file_ >= 0) {}
    ~Set() {
        const int before = errno;
        if (file_ >= 0)
            close(file_);
        errno = before;
    }
    Set(const Set &) = delete;
    Set &operator=(const Set &) = delete;

    // all(): the same file's with all events; asked when it comes a second time.
    template <class All>
    void add(int file, std::uint32_t events, All all) {
        epoll_event event{};
        event.events = events;
        if (epoll_ctl(file_, EPOLL_CTL_ADD, file, &event) == 0)
            return;
        const bool again = errno == EEXIST;
        event.events = again ? all() : 0;
        good_ &= again && epoll_ctl(file_, EPOLL_CTL_MOD, file, &event) == 0;
    }
    int file() const { return file_; }
    bool good() const { return good_; } // else there is something that cannot be waited for so

  private:
    const int file_;
    bool good_;
};

// attempt(): the call with no time to wait. block(): the call with what is left of its time.
template <class Attempt, class Block>
int until_any(sched::Worker &worker, int file, const Deadline &until, Attempt attempt,
              Block block) {
    Retries retries(worker);
    for (End end = wait_for_file(worker, file, Direction::in, until);;
         end = wait_again(worker, file, Direction::in, until, retries)) {
        switch (end) {
        case End::over:
            break;
        case End::late:
            return attempt();
        case End::interrupted:
            return fail(EINTR);
        case End::refused:
            return block();
        }
        if (const int result = attempt(); result != 0)
            return result;
    }
}

// For ever, if there is no time.
Deadline deadline_of(const timespec *time, timespec &storage) {
    return time ? Deadline::in_ns(ns_of(*time), storage) : Deadline();
}

int poll_in_task(sched::Worker &worker, pollfd *files, nfds_t count, const timespec *time) {
    const auto attempt = [=] { return bare.poll(files, count, 0); };
    if (const int result = attempt(); result != 0)
        return result;
    timespec storage;
    const Deadline until = deadline_of(time, storage);
    Set set;
    for (const pollfd &one : std::span(files, count))
        if (one.fd >= 0)
            set.add(one.fd, static_cast<unsigned short>(one.events), [&] {
                unsigned short all = 0;
                for (const pollfd &other : std::span(files, count))
                    if (other.fd == one.fd)
                        all |= static_cast<unsigned short>(other.events);
                return all;
            });
    const auto block = [&] {
        const timespec left = left_until(until);
        return bare.ppoll(files, count, time ? &left : nullptr, nullptr);
    };
    return set.good() ? until_any(worker, set.file(), until, attempt, block) : block();
}

// select()'s sets, as the program gave them: each try replaces them.
class GivenSets {
  public:
    GivenSets(int count, fd_set *in, fd_set *out, fd_set *errors)
        : count_(count), sets_{in, out, errors} {
        for (int i = 0; i < kSets; ++i)
            if (sets_[i])
                std::memcpy(&given_[i], sets_[i], bytes());
    }
    void restore() const {
        for (int i = 0; i < kSets; ++i)
            if (sets_[i])
                std::memcpy(sets_[i], &given_[i], bytes());
    }
    void add_to(Set &set) const {
        constexpr std::uint32_t kEvents[kSets] = {EPOLLIN | EPOLLRDNORM | EPOLLRDBAND,
                                                  EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND, EPOLLPRI};
        for (int file = 0; file < count_; ++file) {
            std::uint32_t events = 0;
            for (int i = 0; i < kSets; ++i)
                if (sets_[i] && FD_ISSET(file, &given_[i]))
                    events |= kEvents[i];
            if (events != 0)
                set.add(file, events, [=] { return events; });
        }
    }

  private:
    static constexpr int kSets = 3;
    std::size_t bytes() const {
        constexpr int kBits = 8 * sizeof(long);
        return static_cast<std::size_t>((count_ + kBits - 1) / kBits) * sizeof(long);
    }

    const int count_;
    fd_set *const sets_[kSets];
    fd_set given_[kSets] = {};
};

// `left`: of the time, when it returns.
int select_in_task(sched::Worker &worker, int count, fd_set *in, fd_set *out, fd_set *errors,
                   const timespec *time, timespec &left) {
    timespec storage;
    const Deadline until = deadline_of(time, storage);
    const GivenSets given(count, in, out, errors);
    const auto attempt = [&] {
        given.restore();
        timeval none = {0, 0};
        return bare.select(count, in, out, errors, &none);
    };
    const auto block = [&] {
        given.restore();
        left = left_until(until);
        return bare.pselect(count, in, out, errors, time ? &left : nullptr, nullptr);
    };
    int result = attempt();
    if (result == 0) {
        Set set;
        given.add_to(set);
        result = set.good() ? until_any(worker, set.file(), until, attempt, block) : block();
    }
    if (result < 0)
        given.restore();
    left = left_until(until);
    return result;
}

// No time to wait, or none that there is: libc says so.
bool is_none(const timespec *time) {
    return time && (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= kSecond ||
                    (time->tv_sec == 0 && time->tv_nsec == 0));
}

// Null, for ever, where `ms` is negative.
const timespec *time_of(int ms, timespec &storage) {
    storage = {ms / 1000, static_cast<long>(ms % 1000) * 1'000'000};
    return ms < 0 ? nullptr : &storage;
}

} // namespace

int poll(pollfd *files, nfds_t count, int ms, const void *caller) {
    sched::Worker *const worker = ms == 0 ? nullptr : worker_of_task(caller);
    timespec storage;
    return !worker ? bare.poll(files, count, ms)
                   : poll_in_task(*worker, files, count, time_of(ms, storage));
}

int ppoll(pollfd *files, nfds_t count, const timespec *time, const sigset_t *mask,
          const void *caller) {
    sched::Worker *const worker = mask || is_none(time) ? nullptr : worker_of_task(caller);
    return !worker ? bare.ppoll(files, count, time, mask)
                   : poll_in_task(*worker, files, count, time);
}

int select(int count, fd_set *in, fd_set *out, fd_set *errors, timeval *time, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const timespec given = time ? timespec{time->tv_sec, time->tv_usec * 1000} : timespec{};
    if (!worker || count < 0 || count > FD_SETSIZE || (time && is_none(&given)))
        return bare.select(count, in, out, errors, time);
    timespec left;
    const int result =
        select_in_task(*worker, count, in, out, errors, time ? &given : nullptr, left);
    if (time)
        *time = {left.tv_sec, left.tv_nsec / 1000};
    return result;
}

int pselect(int count, fd_set *in, fd_set *out, fd_set *errors, const timespec *time,
            const sigset_t *mask, const void *caller) {
    sched::Worker *const worker = mask || is_none(time) ? nullptr : worker_of_task(caller);
    if (!worker || count < 0 || count > FD_SETSIZE)
        return bare.pselect(count, in, out, errors, time, mask);
    timespec left;
    return select_in_task(*worker, count, in, out, errors, time, left);
}

int epoll_wait(int set, epoll_event *events, int most, int ms, const void *caller) {
    sched::Worker *const worker = ms == 0 ? nullptr : worker_of_task(caller);
    if (!worker)
        return bare.epoll_wait(set, events, most, ms);
    const auto attempt = [=] { return bare.epoll_wait(set, events, most, 0); };
    if (const int result = attempt(); result != 0)
        return result;
    timespec time;
    timespec storage;
    const Deadline until = deadline_of(time_of(ms, time), storage);
    return until_any(*worker, set, until, attempt, [=] {
        const timespec left = left_until(until);
        constexpr long kNsOfMs = 1'000'000;
        return bare.epoll_wait(
            set, events, most,
            ms < 0 ? -1
                   : static_cast<int>(left.tv_sec * 1000 + (left.tv_nsec + kNsOfMs - 1) / kNsOfMs));
    });
}

int epoll_pwait(int set, epoll_event *events, int most, int ms, const sigset_t *mask,
                const void *caller) {
    return mask ? bare.epoll_pwait(set, events, most, ms, mask)
                : libc::epoll_wait(set, events, most, ms, caller);
}

} // namespace sennit::libc

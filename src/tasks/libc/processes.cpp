// SPDX-License-Identifier: Apache-2.0
// Waits for children, and for locks on files that other processes hold. Of a child that is named,
// the kernel has a file that tells of its end. Of all else nobody tells: the task tries again after
// naps. Commands of system() and popen() a helper waits for, in libc.
#include "tasks/libc/calls.h"
#include "tasks/libc/elsewhere.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// The file that tells of the end of a child; none where it is no child, or on old kernels.
class ChildFile {
  public:
    explicit ChildFile(pid_t child)
        : file_(child > 0 ? static_cast<int>(bare.syscall(SYS_pidfd_open, child, 0, 0, 0, 0, 0))
                          : -1) {}
    ~ChildFile() {
        const int before = errno;
        if (file_ >= 0)
            close(file_);
        errno = before;
    }
    ChildFile(const ChildFile &) = delete;
    ChildFile &operator=(const ChildFile &) = delete;

    bool is_there() const { return file_ >= 0; }
    End wait(sched::Worker &worker) const {
        return wait_for_file(worker, file_, Direction::in, Deadline());
    }

  private:
    const int file_;
};

// attempt(result): false where the call would block. `child`: whose end alone ends the wait, or 0.
template <class Attempt, class Block>
int until_done(sched::Worker &worker, pid_t child, Attempt attempt, Block block) {
    int result = 0;
    if (attempt(result))
        return result;
    const ChildFile file(child);
    Retries retries(worker);
    for (;;) {
        switch (file.is_there() ? file.wait(worker) : retries.nap()) {
        case End::over:
        case End::late:
            break;
        case End::interrupted:
            return fail(EINTR);
        case End::refused:
            return block();
        }
        if (attempt(result))
            return result;
    }
}

// How many tasks are in system() or pclose(). A blocked thread would not make the next task's wait
// for any child meanwhile, which would take the command's end away. Relaxed: where two threads do
// both at once, the program itself lets them.
constinit std::atomic<int> g_commands{0};

bool takes_any(pid_t child) {
    return child <= 0 && g_commands.load(std::memory_order_relaxed) > 0;
}

// A handler of SIGCHLD may take the ends of children, too: libc's system() keeps it from its
// thread.
bool handles_ends() {
    struct sigaction action;
    return sigaction(SIGCHLD, nullptr, &action) != 0 || action.sa_handler != SIG_DFL;
}

template <class Call>
int run_command(sched::Worker &worker, Call call) {
    g_commands.fetch_add(1, std::memory_order_relaxed);
    const int status = function_elsewhere(worker, CallEnds::by_another, call, Signals::of_caller);
    g_commands.fetch_sub(1, std::memory_order_relaxed);
    return status;
}

// attempt(): as the call, if it does not wait. EACCES may mean on some systems of files that the
// lock is held, and on all that it is refused: only the call itself can tell.
template <class Attempt, class Call>
int lock(const void *caller, Attempt attempt, Call call) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker)
        return call();
    const int made = until_done(
        *worker, 0,
        [=](int &result) {
            result = attempt();
            return result == 0 || errno != EAGAIN;
        },
        call);
    return made == 0 || errno != EACCES ? made : elsewhere(*worker, CallEnds::by_another, call);
}

} // namespace

int system(const char *command, const void *caller) {
    const auto call = [=] { return bare.system(command); };
    sched::Worker *const worker = command ? worker_of_task(caller) : nullptr;
    return worker && !handles_ends() ? run_command(*worker, call) : call();
}

int pclose(FILE *stream, const void *caller) {
    const auto call = [=] { return bare.pclose(stream); };
    sched::Worker *const worker = worker_of_task(caller);
    return worker && !handles_ends() ? run_command(*worker, call) : call();
}

pid_t wait4(pid_t child, int *status, int options, rusage *usage, const void *caller) {
    if ((options & WNOHANG) && takes_any(child))
        return 0; // no child that the caller may know of has ended
    sched::Worker *const worker = options & WNOHANG ? nullptr : worker_of_task(caller);
    const auto block = [=] { return bare.wait4(child, status, options, usage); };
    if (!worker)
        return block();
    const pid_t ends = options & (WUNTRACED | WCONTINUED) ? 0 : child;
    return until_done(
        *worker, ends,
        [=](int &result) {
            if (takes_any(child))
                return false;
            result = bare.wait4(child, status, options | WNOHANG, usage);
            return result != 0;
        },
        block);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options, const void *caller) {
    constexpr auto kByFile = static_cast<idtype_t>(3); // P_PIDFD, which older headers have not
    const bool any = type != P_PID && type != kByFile;
    if ((options & WNOHANG) && any && takes_any(0)) {
        if (info)
            info->si_pid = 0;
        return 0;
    }
    sched::Worker *const worker = options & WNOHANG ? nullptr : worker_of_task(caller);
    const auto block = [=] { return bare.waitid(type, id, info, options); };
    if (!worker)
        return block();
    const bool for_end = type == P_PID && !(options & (WSTOPPED | WCONTINUED));
    return until_done(
        *worker, for_end ? static_cast<pid_t>(id) : 0,
        [=](int &result) {
            if (any && takes_any(0))
                return false;
            siginfo_t found{};
            result = bare.waitid(type, id, &found, options | WNOHANG);
            const bool done = result != 0 || found.si_pid != 0;
            if (done && result == 0 && info)
                *info = found;
            return done;
        },
        block);
}

int flock(int file, int operation, const void *caller) {
    const auto call = [=] { return bare.flock(file, operation); };
    return operation & LOCK_NB
               ? call()
               : lock(caller, [=] { return bare.flock(file, operation | LOCK_NB); }, call);
}

int fcntl(int file, int command, void *argument, const void *caller) {
    const auto call = [=] { return bare.fcntl(file, command, argument); };
    if (command != F_SETLKW && command != F_OFD_SETLKW)
        return call();
    const int tries = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
    return lock(caller, [=] { return bare.fcntl(file, tries, argument); }, call);
}

int lockf(int file, int command, off_t size, const void *caller) {
    const auto call = [=] { return bare.lockf(file, command, size); };
    return command != F_LOCK ? call()
                             : lock(caller, [=] { return bare.lockf(file, F_TLOCK, size); }, call);
}

} // namespace sennit::libc

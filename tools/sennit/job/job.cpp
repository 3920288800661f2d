// SPDX-License-Identifier: Apache-2.0
#include "job/job.h"

#include "base/clock.h"
#include "base/signal_queue.h"
#include "common/descendants.h"
#include "common/failure.h"
#include "common/standard_output.h"
#include "job/rank_report.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sennit::tool {
namespace {

constexpr int always_taken[] = {SIGINT, SIGTERM, SIGQUIT, SIGCHLD};
constexpr int taken_unless_ignored[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool is_ignored(int signal) {
    struct sigaction action = {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

sigset_t handled_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : always_taken)
        sigaddset(&set, signal);
    for (const int signal : taken_unless_ignored)
        if (!is_ignored(signal))
            sigaddset(&set, signal);
    return set;
}

namespace {

class Job {
  public:
    Job(const std::vector<std::string> &command, const JobTraits &traits)
        : signals_(handled_signals()), traits_(traits) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        sigset_t before;
        sigprocmask(SIG_BLOCK, &signals_, &before);
        const pid_t parent = getpid();
        launcher_ = fork();
        if (launcher_ < 0)
            fail("cannot start '{}': {}", command[0], std::strerror(errno));
        if (launcher_ == 0) {
            // Should this process be killed, the launcher ends the job.
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            if (getppid() != parent)
                _exit(128 + SIGTERM);
            open_standard_streams(); // launchers of both MPIs fail without
            sigprocmask(SIG_SETMASK, &before, nullptr);
            execute(command[0], command);
        }
    }

    JobEnd wait(JobListener &listener) {
        const SignalQueue signals(signals_);
        pollfd sources[] = {{signals.descriptor(), POLLIN, 0}, {listener.descriptor(), POLLIN, 0}};
        while (!ended_) {
            const int patience = patience_ms(listener);
            if (patience == 0)
                help_launcher(listener);
            const int ready =
                poll(sources, std::size(sources), signals.patience(given_up_ ? -1 : patience));
            take_signals(signals);
            if (ready > 0 && sources[1].revents && !ended_)
                listener.ready();
        }
        if (end_.code != 0 || end_.interrupted != 0)
            end_descendants(traits_.is_one_of_several);
        return end_;
    }

  private:
    // All there are: messages come after them.
    void take_signals(const SignalQueue &signals) {
        if (!signals.is_polled())
            reap_launcher();
        for (ArrivedSignal arrived = {}; signals.next(arrived);) {
            if (arrived.number == SIGCHLD)
                reap_launcher();
            else
                handle(arrived.number, arrived.code == SI_KERNEL);
        }
    }

    // How long mpiexec may still take, -1: as long as it likes. Open MPI's (4.1) at times locks
    // itself up when ranks die in MPI_Finalize or before MPI_Init, and when it is told twice to
    // end, as one of a process group is: it calls exit() in the handler.
    int patience_ms(const JobListener &listener) {
        const bool ends = listener.has_ended_ranks() ||
                          (traits_.is_open_mpi && (end_.interrupted != 0 || fails(listener)));
        if (!ends || given_up_)
            return -1;
        constexpr std::int64_t ns_per_ms = 1'000'000;
        const std::int64_t now = monotonic_ns() / ns_per_ms;
        if (end_ms_ == 0) {
            help_ms_ = now + 2000;
            end_ms_ = now + 10'000 + 1000 * patience_of_launcher_s();
        }
        return static_cast<int>(std::max<std::int64_t>((helped_ ? end_ms_ : help_ms_) - now, 0));
    }
    // First it is relieved of ranks that wait for ever, then it is ended itself.
    void help_launcher(JobListener &listener) {
        if (helped_)
            given_up_ = kill(launcher_, SIGKILL) == 0;
        else
            listener.end_waiting_ranks();
        helped_ = true;
    }
    // Has a rank failed, so that Open MPI's mpiexec ends the job? Not if it was told to go on.
    static bool fails(const JobListener &listener) {
        const char *const recovers = std::getenv("OMPI_MCA_orte_enable_recovery");
        const char *const ends = std::getenv("OMPI_MCA_orte_abort_on_non_zero_status");
        return listener.has_failed_early() && !recovers && !ends;
    }
    // Its own, with ranks that it has told to end. If nobody says so, it is a second.
    static int patience_of_launcher_s() {
        constexpr int most = 3600;
        const char *const set = std::getenv("OMPI_MCA_odls_base_sigkill_timeout");
        return set ? std::clamp(std::atoi(set), 0, most) : 0;
    }

    void reap_launcher() {
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid != launcher_)
                continue;
            ended_ = true;
            const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            end_.ended_by = given_up_ ? 0 : signal;
            end_.code = signal ? 128 + signal : WEXITSTATUS(status);
        }
    }

    void handle(int signal, bool from_terminal) {
        if (traits_.is_one_of_several && (signal == SIGTSTP || signal == SIGCONT))
            return;
        switch (signal) {
        case SIGTSTP:
            signal_descendants(SIGSTOP);
            raise(SIGSTOP);
            return;
        case SIGCONT:
            signal_descendants(SIGCONT);
            return;
        case SIGUSR2:
            if (!traits_.is_open_mpi) {
                tell("sennit: SIGUSR2 not handed on, MPICH's mpiexec would die of "
                     "it: send SIGUSR1, or signal the ranks themselves\n");
                return;
            }
            break;
        case SIGUSR1:
            break;
        case SIGQUIT:
            if (traits_.is_open_mpi && is_ignored(SIGQUIT)) // by its mpiexec, too
                return;
            [[fallthrough]];
        default:
            if (end_.interrupted == 0)
                end_.interrupted = signal;
        }
        if (!from_terminal && !ended_)
            kill(launcher_, signal);
    }

    const sigset_t signals_;
    const JobTraits traits_;
    pid_t launcher_ = -1;
    bool ended_ = false;
    bool given_up_ = false;   // we have ended mpiexec ourselves
    std::int64_t end_ms_ = 0; // when we do that; 0: it does not end yet
    bool helped_ = false;
    std::int64_t help_ms_ = 0;
    JobEnd end_ = {};
};

} // namespace

JobEnd run_job(const std::vector<std::string> &command, const JobTraits &traits,
               JobListener &listener) {
    return Job(command, traits).wait(listener);
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
#include "launch/apart.h"

#include "common/descendants.h"
#include "common/failure.h"
#include "job/job.h"
#include "launch/run.h"
#include "pool/core_list.h"
#include "pool/pool_board.h"
#include "pool/pool_keeper.h"

#include "base/printable.h"
#include "base/signal_queue.h"
#include "node/board.h"
#include "node/identity.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sennit::tool {
namespace {

constexpr int patience_ms = 5000;

const char *read_environment(const char *name) {
    return std::getenv(name);
}

// One of them; `name` for people.
struct OneProgram {
    JobSpec spec;
    std::string name;
    pid_t process = 0; // 0: it is not there
};

// Each has what `sennit run` is told for a program alone.
std::vector<OneProgram> separate(const JobSpec &spec) {
    std::vector<JobSpec> specs = {spec};
    specs[0].others.clear();
    specs.insert(specs.end(), spec.others.begin(), spec.others.end());
    std::vector<OneProgram> programs;
    for (JobSpec &one : specs) {
        const std::size_t number = programs.size() + 1;
        const std::string file = std::filesystem::path(one.command.at(0)).filename().string();
        one.apart = false;
        one.is_one_of_several = true;
        if (one.trace) // ranks of two worlds have the same numbers
            one.trace = fmt::format("{}/{}-{}", *one.trace, number, file);
        programs.push_back(
            {one, fmt::format("program {} of {} ({})", number, specs.size(), printable(file))});
    }
    return programs;
}

// The cores of this command's programs, for as long as it lives: if it is killed, until the last of
// its programs has ended.
class OwnPool {
  public:
    OwnPool() : name_(fmt::format("run-{}", getpid())) {
        PoolPlan plan;
        plan.name = name_;
        plan.path = pool_file(name_);
        plan.policy = "lend";
        plan.cores = node::allowed_cores();
        plan.owner = node::own_identity();
        start_keeper(plan);
    }
    ~OwnPool() {
        try {
            end();
        } catch (const std::exception &error) { // somebody has written into its file
            std::fprintf(stderr, "sennit: %s\n", error.what());
        }
    }
    OwnPool(const OwnPool &) = delete;
    OwnPool &operator=(const OwnPool &) = delete;

    const std::string &name() const { return name_; }

  private:
    void end() const {
        const std::vector<std::string> names = Pool::names();
        if (std::find(names.begin(), names.end(), name_) == names.end())
            return; // its keeper was killed, and nobody is left in it
        const Pool pool = Pool::find(name_, false);
        if (!pool.has_keeper())
            return;
        send_signal(pool.keeper(), SIGTERM);
        wait_until_ended(pool.keeper(), patience_ms);
    }

    std::string name_;
};

// In a child: what `sennit run` does, its variables set.
int run_one(const JobSpec &spec, const Installation &installation) {
    int code = refused;
    try {
        for (const Setting &setting : spec.settings)
            setenv(setting.name.c_str(), setting.value.c_str(), 1);
        code = run_program(spec, installation);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "sennit: %s\n", printable(error.what(), Lines::many).c_str());
    }
    std::fflush(nullptr);
    return code;
}

void replace(int descriptor, const char *path) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    dup2(file, descriptor);
    close(file);
}

pid_t fork_child() {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0)
        fail("no process for a program: {}", std::strerror(errno));
    return child;
}

// All of them are looked at before one is started. False: one cannot be, and has said so.
bool can_be_run(const OneProgram &program, const Installation &installation) {
    const pid_t child = fork_child();
    if (child == 0) {
        JobSpec spec = program.spec;
        spec.dry_run = true;
        replace(STDOUT_FILENO, "/dev/null");
        _exit(run_one(spec, installation));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

int show(const std::vector<OneProgram> &programs, const Installation &installation) {
    for (const OneProgram &program : programs) {
        fmt::print("# {}\n", printable(program.name));
        if (!program.spec.pool)
            fmt::print("# and SENNIT_POOL: of cores {}, for this command\n",
                       core_list(node::allowed_cores()));
        const pid_t child = fork_child();
        if (child == 0)
            _exit(run_one(program.spec, installation));
        waitpid(child, nullptr, 0);
    }
    return 0;
}

class Programs {
  public:
    Programs(std::vector<OneProgram> programs, const Installation &installation)
        : programs_(std::move(programs)), installation_(installation), signals_(handled_signals()) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        sigprocmask(SIG_BLOCK, &signals_, &before_);
    }

    int run() {
        for (OneProgram &program : programs_)
            start(program);
        wait();
        if (code_ != 0 || interrupted_ != 0)
            end_descendants();
        return interrupted_ != 0 && code_ != 0 ? 128 + interrupted_ : code_;
    }

  private:
    void start(OneProgram &program) {
        const pid_t parent = getpid();
        program.process = fork_child();
        if (program.process != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(128 + SIGTERM);
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        if (&program != &programs_.front()) // there is one input, and the first has it
            replace(STDIN_FILENO, "/dev/null");
        _exit(run_one(program.spec, installation_));
    }

    void wait() {
        const SignalQueue signals(signals_);
        while (running() > 0) {
            pollfd source = {signals.descriptor(), POLLIN, 0};
            poll(&source, 1, signals.patience(-1));
            if (!signals.is_polled())
                reap();
            ArrivedSignal arrived = {};
            if (!signals.next(arrived))
                continue;
            if (arrived.number == SIGCHLD)
                reap();
            else
                handle(arrived.number, arrived.code == SI_KERNEL);
        }
    }

    std::ptrdiff_t running() const {
        return std::count_if(programs_.begin(), programs_.end(),
                             [](const OneProgram &one) { return one.process != 0; });
    }

    void reap() {
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            for (OneProgram &program : programs_)
                if (program.process == pid) {
                    program.process = 0;
                    note_end(program, status);
                }
    }

    void note_end(const OneProgram &program, int status) {
        const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        const int code = signal != 0 ? 128 + signal : WEXITSTATUS(status);
        if (code == 0)
            return;
        if (code_ == 0)
            code_ = code;
        if (interrupted_ == 0)
            tell("sennit: {} has ended with code {}{}\n", printable(program.name), code,
                 running() > 0 ? "; the others go on" : "");
    }

    void handle(int signal, bool from_terminal) {
        if (signal == SIGTSTP) {
            signal_descendants(SIGSTOP);
            raise(SIGSTOP);
            return;
        }
        if (signal == SIGCONT) {
            signal_descendants(SIGCONT);
            return;
        }
        if (signal != SIGUSR1 && signal != SIGUSR2 && interrupted_ == 0)
            interrupted_ = signal;
        for (const OneProgram &program : programs_)
            if (program.process != 0 && !from_terminal)
                kill(program.process, signal);
    }

    std::vector<OneProgram> programs_;
    const Installation &installation_;
    const sigset_t signals_;
    sigset_t before_ = {};
    int code_ = 0;
    int interrupted_ = 0; // the first signal that asked them to end
};

} // namespace

int run_apart(const JobSpec &spec, const Installation &installation) {
    if (const auto job = find_job_context(read_environment))
        fail("this is a rank already, started by {}: --apart starts jobs, leave it away",
             job->launcher);
    std::vector<OneProgram> programs = separate(spec);
    for (const OneProgram &program : programs)
        if (!can_be_run(program, installation))
            return refused;
    if (spec.dry_run)
        return show(programs, installation);
    std::optional<OwnPool> pool;
    if (!spec.pool)
        pool.emplace();
    for (OneProgram &program : programs)
        if (pool)
            program.spec.pool = pool->name();
    return Programs(std::move(programs), installation).run();
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// Signals that the kernel sends to the thread whose call fails: SIGXFSZ for a file that becomes too
// long, SIGPIPE for output that nobody reads. The program did not ask for the runtime's calls, so
// it must not die of them. The call's result says the same.
//
// As long as there is an object of this class, these signals do not arrive in its thread. Those
// that came meanwhile are forgotten, those that were pending before are not.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace sennit {

class HeldSignals {
  public:
    explicit HeldSignals(std::initializer_list<int> signals) {
        sigset_t held;
        sigset_t before;
        sigemptyset(&held);
        sigpending(&before);
        sigemptyset(&own_);
        for (const int signal : signals) {
            sigaddset(&held, signal);
            if (sigismember(&before, signal) == 0)
                sigaddset(&own_, signal);
        }
        pthread_sigmask(SIG_BLOCK, &held, &mask_);
    }
    ~HeldSignals() {
        const int saved = errno;
        constexpr timespec now{};
        while (sigtimedwait(&own_, nullptr, &now) > 0 || errno == EINTR) {
        }
        // Where the system forbids that call, what has come stays pending: to let it arrive would
        // end the program.
        if (errno == EAGAIN)
            pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
        errno = saved;
    }
    HeldSignals(const HeldSignals &) = delete;
    HeldSignals &operator=(const HeldSignals &) = delete;

  private:
    sigset_t own_;
    sigset_t mask_;
};

} // namespace sennit

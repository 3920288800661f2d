// SPDX-License-Identifier: Apache-2.0
// Signals that a program takes one by one, beside other things that it waits for by poll(2). The
// caller has blocked them. Where the system forbids signalfd(2), they are looked for every few
// milliseconds.
#pragma once

#include <csignal>
#include <ctime>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sennit {

struct ArrivedSignal {
    int number;
    int code; // si_code: who has sent it
};

class SignalQueue {
  public:
    explicit SignalQueue(const sigset_t &signals)
        : signals_(signals), file_(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)) {}
    ~SignalQueue() {
        if (file_ >= 0)
            close(file_);
    }
    SignalQueue(const SignalQueue &) = delete;
    SignalQueue &operator=(const SignalQueue &) = delete;

    // For poll(), which takes no notice of -1.
    int descriptor() const { return file_; }
    // poll() says when there is a signal. If not, ask at each of its ends, for the ends of children
    // as well: the other way to signals may be forbidden, too.
    bool is_polled() const { return file_ >= 0; }
    // How long poll() may take instead of `ms` (-1: for ever).
    int patience(int ms) const {
        constexpr int kLook = 20;
        return is_polled() || (ms >= 0 && ms < kLook) ? ms : kLook;
    }

    // False: there is none now.
    bool next(ArrivedSignal &arrived) const {
        if (is_polled()) {
            signalfd_siginfo info = {};
            if (read(file_, &info, sizeof info) != sizeof info)
                return false;
            arrived = {static_cast<int>(info.ssi_signo), info.ssi_code};
            return true;
        }
        constexpr timespec now{};
        siginfo_t info = {};
        if (sigtimedwait(&signals_, &info, &now) < 0)
            return false;
        arrived = {info.si_signo, info.si_code};
        return true;
    }

  private:
    const sigset_t signals_;
    const int file_;
};

} // namespace sennit

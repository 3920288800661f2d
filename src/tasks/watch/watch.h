// SPDX-License-Identifier: Apache-2.0
// When nothing of the program can go on, say what waits for what.
//
// The ticker looks now and then. A worker that found nothing to do says since when. Of a thread
// that blocks in calls of an asynchronous library we see whether it is still in the same call. If
// every one of them shows the same at two looks, none of them did anything in between. A program is
// reported only if that is so for the whole grace time, and never while a thread runs code that we
// do not know, or gets no processor. So we may be silent about a slow program, but we never report
// one that is only slow.
//
// One process knows only about itself. If it waits for other ranks, it tells `sennit run`. That
// speaks up when all ranks stood still *at the same time* (tools/sennit/hang/hang_watch.h).
#pragma once

#include "tasks/watch/blocked.h"

#include <atomic>
#include <cstdint>

namespace sennit::watch {

// The way to `sennit run`, which judges the ranks of its machine together: a datagram for every
// look at a rank that stands still, and one that tells which process it is. The other end, and the
// format, are tools/sennit/hang/hang_judge.h.
class LauncherLink {
  public:
    // `address`: SENNIT_HANG_LINK, the launcher's socket; null: no launcher.
    void connect(const char *address);
    void disconnect();
    bool connected() const { return socket_ >= 0; }
    void send(int rank, std::uint64_t since, std::uint64_t now, std::uint64_t grace, bool outside,
              const char *text);
    void send_moves(int rank);
    // That this process is of the rank; false: it could not be said now.
    bool send_here(int rank);

  private:
    bool tell(const char *message, int size);

    const char *address_ = nullptr;
    int socket_ = -1;
};

struct Regions;   // regions.h
struct CallNames; // names.h
struct Report;    // report.h
class Survey;     // survey.h

// One for a program; the ticker's thread alone uses it, unless said otherwise.
class Watch {
  public:
    // From now on the ticker looks, if SENNIT_HANG wants it. Both stay.
    void start(const Regions &regions, const CallNames &names);
    void after_fork_in_child();
    // The process may wait for processes that are not of the job. On any thread.
    void note_others() { others_.store(true, std::memory_order_relaxed); }

  private:
    struct Glance;
    // The time in which nothing moved, and what was said about it.
    struct Stillness {
        std::uint64_t trail = 0;
        std::uint64_t since = 0; // 0: something moved at the last look
        std::uint64_t last_look = 0;
        bool told = false;
        bool silent = false; // judged, and not to be told
        bool outside = false;
        char *message = nullptr; // for `sennit run`, without its first line
        char *calls = nullptr;   // if they are certain
    };

    static Glance glance();
    bool anyone_starves();
    void introduce();
    void look();
    void begin_anew(const Glance &seen, std::uint64_t before);
    bool judge(std::uint64_t now);
    bool has_moved(const Survey &survey, const Report &report);
    void print(const char *headline, const Report &report);
    const char *who();
    void forget();

    Stillness stillness_;
    Foreign foreign_;
    Starved starved_;
    LauncherLink link_;
    const Regions *regions_ = nullptr;
    const CallNames *names_ = nullptr;
    std::uint64_t grace_ = 0;
    bool asked_for_ = false;  // SENNIT_HANG is set
    bool introduced_ = false; // to the launcher
    int rank_ = -1;
    char name_[64] = "";
    std::atomic<bool> others_{false};
};

} // namespace sennit::watch

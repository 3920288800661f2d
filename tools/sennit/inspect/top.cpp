// SPDX-License-Identifier: Apache-2.0
#include "inspect/commands.h"

#include "base/printable.h"
#include "common/failure.h"
#include "inspect/live_page.h"
#include "inspect/top_table.h"
#include "pool/core_list.h"
#include "pool/pool_board.h"

#include "base/signal_queue.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace sennit::tool {
namespace {

constexpr int refresh_ms = 500;
constexpr int sample_ms = 10; // loans may be short
constexpr int looks_once = 20;

// A terminal that shows one page, and keys without Enter. However this ends, it is as before.
class Page {
  public:
    Page() {
        has_keys_ = tcgetattr(STDIN_FILENO, &keys_) == 0;
        enter();
    }
    ~Page() {
        leave();
        sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    Page(const Page &) = delete;
    Page &operator=(const Page &) = delete;

    void show(std::vector<std::string> lines, int height) {
        if (height > 0 && lines.size() > static_cast<std::size_t>(height))
            lines.resize(static_cast<std::size_t>(height));
        std::string text = "\x1b[H";
        for (std::size_t i = 0; i < lines.size(); ++i)
            text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
        say(text + "\x1b[J");
    }

    // False: it is to end.
    bool wait(int milliseconds) {
        pollfd sources[] = {{signals_.descriptor(), POLLIN, 0},
                            {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
        const int ready = poll(sources, std::size(sources), signals_.patience(milliseconds));
        if (ready <= 0 && signals_.is_polled())
            return true;
        if (ready > 0 && sources[1].revents != 0) {
            char key = 'q';
            const ssize_t got = read(STDIN_FILENO, &key, 1);
            if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
                return false;
            if (got == 1 && (key == 'q' || key == 'Q'))
                return false;
        }
        for (ArrivedSignal arrived = {}; signals_.next(arrived);) {
            if (arrived.number == SIGTSTP) {
                leave();
                raise(SIGSTOP);
                enter();
            } else if (arrived.number != SIGCONT && arrived.number != SIGWINCH) {
                return false;
            }
        }
        return true;
    }

  private:
    static sigset_t block(sigset_t &before) {
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH})
            sigaddset(&set, signal);
        sigprocmask(SIG_BLOCK, &set, &before);
        return set;
    }
    void enter() {
        if (has_keys_) {
            termios now = keys_;
            now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            now.c_cc[VMIN] = 1;
            now.c_cc[VTIME] = 0;
            tcsetattr(STDIN_FILENO, TCSANOW, &now);
        }
        say("\x1b[?1049h\x1b[?25l\x1b[2J");
    }
    void leave() {
        say("\x1b[?25h\x1b[?1049l");
        if (has_keys_)
            tcsetattr(STDIN_FILENO, TCSANOW, &keys_);
    }
    static void say(const std::string &text) {
        std::size_t at = 0;
        while (at < text.size()) {
            const ssize_t put = write(STDOUT_FILENO, text.data() + at, text.size() - at);
            if (put < 0 && errno != EINTR)
                return;
            at += put > 0 ? static_cast<std::size_t>(put) : 0;
        }
    }

    sigset_t before_ = {};
    SignalQueue signals_{block(before_)};
    termios keys_ = {};
    bool has_keys_ = false;
};

winsize window() {
    winsize size = {};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
}

// A board that is looked at; null: nobody uses the user's own one.
class Looked {
  public:
    explicit Looked(const std::string &pool) {
        if (!pool.empty()) {
            pool_ = std::make_unique<Pool>(Pool::find(pool, false));
            facts_ = {fmt::format("pool {}: cores {}, policy {}", pool, core_list(pool_->cores()),
                                  pool_->policy()),
                      pool, pool_->policy()};
            return;
        }
        char path[node::kPathRoom];
        node::board_path(path, sizeof path);
        facts_ = {fmt::format("{} (no pool)", path), "", ""};
        node::Reason reason;
        if (!node::is_in_use(path))
            return;
        own_ = std::make_unique<node::Board>();
        if (!own_->open(path, reason)) {
            own_.reset();
            fail("{}", reason.text);
        }
    }
    ~Looked() {
        if (own_)
            own_->close();
    }
    Looked(const Looked &) = delete;
    Looked &operator=(const Looked &) = delete;
    Snapshot look() const {
        return pool_ ? look_at(pool_->board()) : own_ ? look_at(*own_) : Snapshot();
    }
    const BoardFacts &facts() const { return facts_; }

  private:
    std::unique_ptr<Pool> pool_;
    std::unique_ptr<node::Board> own_;
    BoardFacts facts_;
};

int show_once(const std::string &pool, bool json) {
    const Looked board(pool);
    Period period;
    for (int look = 0; look < looks_once; ++look) {
        period.add(board.look());
        poll(nullptr, 0, sample_ms);
    }
    period.add(board.look());
    if (json) {
        fmt::print("{}\n", top_json(board.facts(), period));
        return 0;
    }
    for (const std::string &line : top_lines(board.facts(), period, 0))
        fmt::print("{}\n", printable(line));
    return 0;
}

int show_live(const std::string &pool) {
    auto board = std::make_unique<Looked>(pool);
    Page page;
    Period period;
    bool goes_on = true;
    for (bool first = true; goes_on; first = false) {
        for (int waited = 0; goes_on && waited < refresh_ms; waited += sample_ms) {
            period.add(board->look());
            goes_on = page.wait(sample_ms);
            if (first) // a page at once
                break;
        }
        const winsize size = window();
        std::vector<std::string> lines = top_lines(board->facts(), period, size.ws_col);
        for (std::string &line : lines) // names of programs
            line = printable(line);
        lines.insert(lines.begin() + 1, "");
        page.show(std::move(lines), size.ws_row);
        const bool nobody = period.last().members.empty();
        period.restart();
        // The user's own board comes and goes with its programs.
        if (nobody && pool.empty()) {
            board.reset();
            board = std::make_unique<Looked>(pool);
        }
    }
    return 0;
}

// The user's own board comes and goes with its programs.
int show_page(const std::string &pool) {
    auto board = std::make_unique<Looked>(pool);
    const auto look = [&] {
        Snapshot now = board->look();
        if (now.members.empty() && pool.empty()) {
            board.reset();
            board = std::make_unique<Looked>(pool);
            now = board->look();
        }
        return now;
    };
    return serve_live_page(look, [&] { return board->facts(); });
}

} // namespace

int run_top(const TopRequest &request) {
    if (request.html)
        return show_page(request.pool);
    if (request.once || request.json)
        return show_once(request.pool, request.json);
    if (isatty(STDOUT_FILENO) == 0)
        fail("sennit top needs a terminal: use --once or --json");
    return show_live(request.pool);
}

} // namespace sennit::tool

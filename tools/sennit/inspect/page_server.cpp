// SPDX-License-Identifier: Apache-2.0
#include "inspect/page_server.h"

#include "base/clock.h"
#include "common/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sennit::tool {
namespace {

constexpr std::size_t kMostConnections = 64;
constexpr int kMostAccepted = 16; // at once: then others have their turn, and signals
constexpr std::size_t kLongestRequest = 8 * 1024;
constexpr std::int64_t kPatienceNs = 5'000'000'000; // for a request, and for its answer
constexpr std::int64_t kWatchedNs = 3'000'000'000;

std::string random_word() {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        fail("no random numbers for the address of the page ({})", std::strerror(errno));
    std::string word;
    for (const unsigned char byte : bytes)
        word += fmt::format("{:02x}", byte);
    return word;
}

// Takes as long wherever they differ.
bool are_equal(std::string_view given, std::string_view wanted) {
    unsigned char differs = given.size() == wanted.size() ? 0 : 1;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        differs |= static_cast<unsigned char>(i < given.size() ? given[i] ^ wanted[i] : 1);
    return differs == 0;
}

std::string answer(std::string_view status, std::string_view type, std::string_view body) {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
        "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: default-src 'none'; "
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\r\n{}",
        status, type, body.size(), body);
}
std::string refusal(std::string_view status, std::string_view why) {
    return answer(status, "text/plain", fmt::format("{}\n", why));
}

std::string_view take_word(std::string_view &text, char end) {
    const std::size_t at = text.find(end);
    const std::string_view word = text.substr(0, at);
    text.remove_prefix(at == text.npos ? text.size() : at + 1);
    return word;
}

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char one, char other) {
        return std::tolower(static_cast<unsigned char>(one)) ==
               std::tolower(static_cast<unsigned char>(other));
    });
}

// The lines behind the first one. Nothing: they are no headers.
struct Headers {
    int hosts = 0;
    std::string_view host;
    std::optional<std::string_view> origin;
};
std::optional<Headers> read_headers(std::string_view text) {
    Headers headers;
    while (!text.empty()) {
        std::string_view line = take_word(text, '\n');
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            return headers;
        if (line.find(':') == line.npos)
            return std::nullopt;
        const std::string_view name = take_word(line, ':');
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t'))
            line.remove_suffix(1);
        if (same_name(name, "Host")) {
            ++headers.hosts;
            headers.host = line;
        } else if (same_name(name, "Origin")) {
            headers.origin = line;
        }
    }
    return headers;
}

// Is this we, as a browser on this machine says it?
bool is_own(std::string_view host, int port) {
    return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

} // namespace

std::string answer_to(std::string_view request, const Allowed &allowed, const Served &served) {
    std::string_view rest = request;
    std::string_view line = take_word(rest, '\n');
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    const std::string_view method = take_word(line, ' ');
    std::string_view target = take_word(line, ' ');
    const std::optional<Headers> headers = read_headers(rest);
    if (!headers || headers->hosts > 1 || (line != "HTTP/1.1" && line != "HTTP/1.0") ||
        !target.starts_with('/'))
        return refusal("400 Bad Request", "this is no request");
    if (!is_own(headers->host, allowed.port))
        return refusal("403 Forbidden", "the Host is another one");
    constexpr std::string_view scheme = "http://";
    if (headers->origin && (!headers->origin->starts_with(scheme) ||
                            !is_own(headers->origin->substr(scheme.size()), allowed.port)))
        return refusal("403 Forbidden", "the Origin is another one");
    const std::string_view path = take_word(target, '?');
    constexpr std::string_view name = "word=";
    if (!target.starts_with(name) || !are_equal(target.substr(name.size()), allowed.word))
        return refusal("403 Forbidden", "open the whole address that sennit top has printed");
    if (method != "GET")
        return refusal("405 Method Not Allowed", "only GET");
    if (path == "/")
        return answer("200 OK", "text/html", served.page);
    if (path == "/data")
        return answer("200 OK", "application/json", served.data);
    return refusal("404 Not Found", "there is / and /data");
}

PageServer::PageServer() {
    allowed_.word = random_word();
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *const any = reinterpret_cast<sockaddr *>(&address);
    if (socket_ < 0 || bind(socket_, any, size) != 0 || listen(socket_, 64) != 0 ||
        getsockname(socket_, any, &size) != 0) {
        const int error = errno;
        if (socket_ >= 0)
            close(socket_);
        fail("cannot listen on 127.0.0.1 ({})", std::strerror(error));
    }
    allowed_.port = ntohs(address.sin_port);
}

PageServer::~PageServer() {
    for (const Connection &one : connections_)
        close(one.socket);
    close(socket_);
}

std::string PageServer::address() const {
    return fmt::format("http://127.0.0.1:{}/?word={}", allowed_.port, allowed_.word);
}

bool PageServer::is_watched() const {
    return watched_ns_ != 0 && monotonic_ns() - watched_ns_ < kWatchedNs;
}

bool PageServer::is_busy() const {
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const Connection &one) { return one.answers; });
}

void PageServer::accept_some(const Served &served) {
    for (int i = 0; i < kMostAccepted; ++i) {
        const int socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0)
            return; // none is there, or the system has no more
        // What has come already is read now, before others can take its place.
        Connection fresh = {socket, monotonic_ns() + kPatienceNs, "", "", false};
        if (!go_on(fresh, served)) {
            close(socket);
            continue;
        }
        if (connections_.size() == kMostConnections) {
            close(connections_.front().socket);
            connections_.pop_front();
        }
        connections_.push_back(std::move(fresh));
    }
}

bool PageServer::go_on(Connection &connection, const Served &served) {
    while (!connection.answers) {
        char buffer[4096];
        const ssize_t got = recv(connection.socket, buffer, sizeof buffer, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (got < 0)
            return true;
        connection.request.append(buffer, static_cast<std::size_t>(got));
        const bool whole = connection.request.find("\r\n\r\n") != std::string::npos;
        if (!whole && connection.request.size() < kLongestRequest)
            continue;
        connection.answer = whole && connection.request.size() <= kLongestRequest
                                ? answer_to(connection.request, allowed_, served)
                                : refusal("431 Request Header Fields Too Large", "too long");
        connection.answers = true;
        connection.until_ns = monotonic_ns() + kPatienceNs;
        if (connection.answer.starts_with("HTTP/1.1 200"))
            watched_ns_ = monotonic_ns();
    }
    while (!connection.answer.empty()) {
        const ssize_t put = send(connection.socket, connection.answer.data(),
                                 connection.answer.size(), MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        connection.answer.erase(0, static_cast<std::size_t>(put));
    }
    shutdown(connection.socket, SHUT_WR);
    // What is left unread would take the answer back.
    char rest[4096];
    for (int i = 0; i < 16 && recv(connection.socket, rest, sizeof rest, 0) > 0; ++i)
        continue;
    return false;
}

void PageServer::serve(const Served &served, int milliseconds, int other) {
    const std::int64_t end = monotonic_ns() + std::int64_t{milliseconds} * 1'000'000;
    for (;;) {
        std::vector<pollfd> sources = {{other, POLLIN, 0}, {socket_, POLLIN, 0}};
        for (const Connection &one : connections_)
            sources.push_back({one.socket, static_cast<short>(one.answers ? POLLOUT : POLLIN), 0});
        const std::int64_t left = (end - monotonic_ns() + 999'999) / 1'000'000;
        if (poll(sources.data(), sources.size(),
                 static_cast<int>(std::max<std::int64_t>(0, left))) < 0)
            return; // a signal
        std::size_t at = 2;
        const std::int64_t now = monotonic_ns();
        for (auto one = connections_.begin(); one != connections_.end(); ++at) {
            const bool over =
                (sources[at].revents != 0 && !go_on(*one, served)) || now > one->until_ns;
            if (over)
                close(one->socket);
            one = over ? connections_.erase(one) : std::next(one);
        }
        if (sources[1].revents != 0)
            accept_some(served);
        if (sources[0].revents != 0 || now >= end)
            return;
    }
}

} // namespace sennit::tool

// SPDX-License-Identifier: Apache-2.0
// A small server of one page, for a browser on this machine (`sennit top --html`).
//
// It listens on the loopback interface, where every user of the machine can connect. So an address
// has a secret word of 128 random bits, which is compared in constant time: a request without it is
// answered by 403. So is a request whose Host or Origin is another one, for a page from elsewhere
// may have a name that leads here (DNS rebinding).
//
// It answers GET / and GET /data, one request on each connection. A connection has a short request
// and few seconds. If many are open, the oldest one makes way: silent connections keep nobody out.
// A new one is read before it may have to go. A user of the machine who opens connections faster
// than a browser can send its request still keeps it out, for as long as that goes on. Signals are
// looked at in each round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

namespace sennit::tool {

// What a request is answered by. Pure.
struct Served {
    std::string page; // GET /
    std::string data; // GET /data: JSON
};
struct Allowed {
    int port = 0;
    std::string word; // the secret one
};
std::string answer_to(std::string_view request, const Allowed &allowed, const Served &served);

class PageServer {
  public:
    // Throws Failure if there is no port, or no randomness.
    PageServer();
    ~PageServer();
    PageServer(const PageServer &) = delete;
    PageServer &operator=(const PageServer &) = delete;

    std::string address() const;
    // Serve for so long, or until `other` can be read.
    void serve(const Served &served, int milliseconds, int other);
    // Has anybody been given data in the last seconds?
    bool is_watched() const;
    // Answers that are not sent yet.
    bool is_busy() const;

  private:
    struct Connection {
        int socket;
        std::int64_t until_ns;
        std::string request; // as far as it has come
        std::string answer;  // what is left to send, once the request is there
        bool answers = false;
    };
    void accept_some(const Served &served);
    // False: it is over.
    bool go_on(Connection &connection, const Served &served);

    int socket_ = -1;
    Allowed allowed_;
    std::list<Connection> connections_; // the oldest first
    std::int64_t watched_ns_ = 0;
};

} // namespace sennit::tool

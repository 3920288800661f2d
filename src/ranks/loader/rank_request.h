// SPDX-License-Identifier: Apache-2.0
// All that makes one rank: what a stub has got from its launcher, and hands to its host. Encoded,
// it is bytes whose lengths are checked (messages.h). Descriptors travel beside them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sennit::loader {

// What travels between a stub and its host, byte by byte. A stub has no libc (loader/stub), so
// these are plain data.

// Stands in place of a descriptor's number for the working directory.
inline constexpr std::int32_t kWorkingDirectory = -1;

// As many descriptors come with one message; the kernel's limit is 253.
inline constexpr std::uint32_t kMostAtOnce = 250;

// A stub connects, and waits for its turn (News::come). Then it sends its request. So the requests
// of many stubs are not on their way at once: the kernel lets a user have no more descriptors on
// their way than a process may have open (RLIMIT_NOFILE; root is exempt).
//
// The beginning of a request. Behind it come the numbers that the descriptors get in the rank, the
// mask of CPUs, and the texts, each with its final zero: the program, its arguments, its
// environment. The first descriptors come with this; the others, with one byte for each
// kMostAtOnce, behind the texts.
struct RequestHead {
    // One version of Sennit understands another only if this is the same.
    static constexpr std::uint64_t kMagic = 0x34747269566e6e53; // "SnnVirt4"

    std::uint64_t magic = kMagic;
    std::uint64_t text_size = 0;
    std::uint32_t descriptors = 0;
    std::uint32_t affinity_size = 0;
    std::uint32_t arguments = 0;
    std::uint32_t environment = 0;
    std::uint32_t mappings = 0; // how many it will probably need (host.h)
    std::uint32_t file_mask = 0;
    std::uint32_t fiber = 0; // 1: it is to be a rank fiber (src/ranks/fibers)
    std::uint32_t unused = 0;
    std::uint64_t blocked_signals = 0; // bit s - 1: signal s
    std::uint64_t ignored_signals = 0;
    rlimit limits[RLIM_NLIMITS] = {};
};

// News: what the host tells of the rank. Order: what the stub asks for.
struct News {
    enum Kind : std::int32_t {
        come,    // send the request
        started, // value: its process
        full,    // no room in this address space: ask the next
        refused, // text says why
        stopped, // value: by which signal
        ended    // value: as wait(2) has it
    };
    std::int32_t kind = refused;
    std::int32_t value = 0;
    char text[504] = {};
};
struct SignalOrder {
    std::int32_t signal = 0;
};

struct RankRequest {
    std::string program; // absolute
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<std::int32_t> descriptors; // their numbers in the rank
    std::uint32_t mappings = 0;
    std::uint32_t file_mask = 0;
    bool fiber = false;
    std::uint64_t blocked_signals = 0;
    std::uint64_t ignored_signals = 0;
    std::string affinity; // the kernel's mask of CPUs
    std::array<rlimit, RLIM_NLIMITS> limits{};
};

// How many bytes come behind it. Nothing: it is damaged, or of another version.
std::optional<std::size_t> size_behind(const RequestHead &head);
// `bytes`: all that comes behind the head. Nothing: they are damaged.
std::optional<RankRequest> decode(const RequestHead &head, std::string_view bytes);

// A file descriptor that is closed with its owner.

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    int release() { return std::exchange(number_, -1); }
    void reset() {
        if (number_ >= 0)
            close(release());
    }

  private:
    int number_ = -1;
};

// The host's end of the socket between a stub and its host. All calls return false or nothing if
// the other side is gone, is silent for too long, or belongs to another user.

bool is_same_user(int socket);

// What a stub sends (stub/stub.h). The descriptors that come back belong to this process. They
// have the order of request.descriptors. `too_many`: this process may not open so many.
std::optional<RankRequest> receive_request(int socket, std::vector<Descriptor> &descriptors,
                                           bool &too_many);

bool send_all(int socket, const void *bytes, std::size_t size);
bool receive_all(int socket, void *bytes, std::size_t size);

template <typename Message>
bool send_message(int socket, const Message &message) {
    return send_all(socket, &message, sizeof message);
}
template <typename Message>
bool receive_message(int socket, Message &message) {
    return receive_all(socket, &message, sizeof message);
}

} // namespace sennit::loader

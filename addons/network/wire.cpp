// SPDX-License-Identifier: Apache-2.0
#include "network/wire.h"

#include "base/config.h"
#include "base/environment.h"
#include "network/bare.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>

namespace sennit::network {

Wire g_wire;

namespace {

// The last byte has left. The program may use the data again.
void leave(DelayedSend &message) {
    static constexpr auto complete = BARE(Grequest_complete);
    message.copy = std::malloc(message.carried ? message.carried : 1);
    if (!message.copy) {
        std::fprintf(stderr, "sennit: SENNIT_NETWORK: no memory for a message\n");
        std::abort();
    }
    std::memcpy(message.copy, message.data, message.carried);
    if (message.left)
        message.left->store(true, std::memory_order_release);
    else
        complete(message.request);
}

void arrive(DelayedSend &message) {
    message.start(message.copy, message.count, message.type, message.peer, message.tag,
                  message.comm, &message.bare);
}

} // namespace

void Wire::List::push(DelayedSend *message) {
    message->next = nullptr;
    (last ? last->next : first) = message;
    last = message;
}

DelayedSend *Wire::List::pop() {
    DelayedSend *message = first;
    first = message->next;
    if (!first)
        last = nullptr;
    return message;
}

// ---- with the mutex ---------------------------------------------------------------------------

// To the card.
void Wire::put_on_card(DelayedSend *message, std::uint64_t now) {
    // 1 MB/s is one byte in 1000 ns.
    card_free_ = (card_free_ > now ? card_free_ : now) +
                 (options_.bandwidth ? message->bytes * 1000 / options_.bandwidth : 0);
    message->leaves = card_free_;
    message->arrives = card_free_ + options_.latency_ns;
    const bool next = !leaving_.first;
    leaving_.push(message);
    ++under_way_;
    if (next)
        changed_.signal();
}

// Its receive was called at that time.
void Wire::allow(DelayedSend *message, std::uint64_t called, std::uint64_t now) {
    const bool asks = message->bytes > options_.eager;
    const std::uint64_t asked = message->sent + options_.latency_ns;
    message->allowed = asks ? (asked > called ? asked : called) + options_.latency_ns : now;
    DelayedSend **place = &allowed_;
    for (; *place; place = &(*place)->next) {
        const bool same = (*place)->peer == message->peer && (*place)->tag == message->tag;
        if (same && message->allowed < (*place)->allowed)
            message->allowed = (*place)->allowed; // behind it, however short
        else if ((*place)->allowed > message->allowed)
            break;
    }
    if (message->allowed <= now)
        return put_on_card(message, now);
    message->next = *place;
    *place = message;
    changed_.signal();
}

void Wire::ask(DelayedSend *message, std::uint64_t now) {
    if (asking_.waiting() == 0)
        asking_since_ = now;
    const auto called =
        asking_.sent(message->peer, message->tag, message, message->bytes > options_.eager);
    if (called)
        allow(message, *called, now);
}

void Wire::lose_patience(std::uint64_t now) {
    if (asking_.waiting() == 0 || now - asking_since_ < options_.patience_ns)
        return;
    std::fprintf(stderr,
                 "sennit: SENNIT_NETWORK: eager: is for programs whose receives name their sender "
                 "and tag, without probes and persistent requests: %zu messages of rank %d have "
                 "waited for one in vain, and go\n",
                 asking_.waiting(), rank_);
    options_.eager = UINT64_MAX;
    asking_.release([&](DelayedSend *message) {
        mutex_.assert_held();
        put_on_card(message, now);
    });
}

std::uint64_t Wire::next_time() const {
    std::uint64_t time = UINT64_MAX;
    const auto also = [&](std::uint64_t other) { time = other < time ? other : time; };
    if (leaving_.first)
        also(leaving_.first->leaves);
    if (flying_.first)
        also(flying_.first->arrives);
    if (allowed_)
        also(allowed_->allowed);
    if (asking_.waiting() > 0)
        also(asking_since_ + options_.patience_ns);
    return time;
}

bool Wire::start_thread() {
    if (running_)
        return true;
    changed_.prepare();
    running_ = pthread_create(
                   &thread_, nullptr,
                   [](void *wire) -> void * {
                       static_cast<Wire *>(wire)->run();
                       return nullptr;
                   },
                   this) == 0;
    if (!running_) {
        std::fprintf(stderr, "sennit: SENNIT_NETWORK: no thread for it: going on without\n");
        options_.on = false;
    }
    return running_;
}

void Wire::wait_until(std::uint64_t time) {
    const timespec until{static_cast<time_t>(time / 1'000'000'000),
                         static_cast<long>(time % 1'000'000'000)};
    mutex_.wait_until(changed_, until);
}

// ---- the thread -------------------------------------------------------------------------------

// Drops the messages that MPI has sent.
void Wire::collect() {
    static constexpr auto test = BARE(Test);
    List rest;
    while (arriving_.first) {
        DelayedSend *message = arriving_.pop();
        int over = 0;
        if (test(&message->bare, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over) {
            rest.push(message);
        } else {
            std::free(message->copy);
            delete message;
        }
    }
    arriving_ = rest;
}

// The mutex is not held meanwhile. False: no message's time has come.
bool Wire::move_one(std::uint64_t now) {
    DelayedSend *message = nullptr;
    void (*step)(DelayedSend &) = nullptr;
    if (flying_.first && flying_.first->arrives <= now) {
        message = flying_.pop();
        step = arrive;
    } else if (leaving_.first && leaving_.first->leaves <= now) {
        message = leaving_.pop();
        step = leave;
    } else {
        return false;
    }
    mutex_.unlock();
    step(*message);
    mutex_.lock();
    (step == leave ? flying_ : arriving_).push(message);
    under_way_ -= step == arrive ? 1 : 0;
    return true;
}

void Wire::run() {
    pthread_setname_np(pthread_self(), "sennit-network");
    prctl(PR_SET_TIMERSLACK, 1);
    mutex_.lock();
    for (;;) {
        const std::uint64_t now = now_ns();
        lose_patience(now);
        while (allowed_ && allowed_->allowed <= now) {
            DelayedSend *message = allowed_;
            allowed_ = message->next;
            put_on_card(message, now);
        }
        if (move_one(now))
            continue;
        if (arriving_.first) {
            mutex_.unlock();
            collect();
            mutex_.lock();
        }
        std::uint64_t until = next_time();
        if (arriving_.first && now + 500'000 < until)
            until = now + 500'000;
        if (until != UINT64_MAX)
            wait_until(until);
        else if (stopping_)
            break;
        else
            mutex_.wait(changed_);
    }
    mutex_.unlock();
}

// ---- what others call -------------------------------------------------------------------------

bool Wire::hand_over(const DelayedSend &made) {
    auto *message = new DelayedSend(made);
    message->carried = made.bytes;
    if (made.bytes > options_.payload && made.count > 0) {
        const std::uint64_t size = made.bytes / static_cast<std::uint64_t>(made.count);
        message->count = static_cast<int>((options_.payload + size - 1) / size);
        message->carried = static_cast<std::uint64_t>(message->count) * size;
    }
    const Guard guard(mutex_);
    if (!start_thread()) {
        delete message;
        return false;
    }
    const std::uint64_t now = now_ns();
    message->sent = now;
    if (rank_ >= 0 && options_.eager != UINT64_MAX && made.comm == MPI_COMM_WORLD)
        ask(message, now);
    else
        put_on_card(message, now);
    return true;
}

void Wire::expect_receives(int rank) {
    const Guard guard(mutex_);
    rank_ = rank;
}

void Wire::receive_called(int peer, int tag, std::uint64_t called) {
    const Guard guard(mutex_);
    const std::uint64_t now = now_ns();
    if (DelayedSend *message = asking_.received(peer, tag, called)) {
        asking_since_ = now;
        allow(message, called, now);
    }
}

void Wire::wait_for_arrivals() {
    for (bool any = options_.on; any;) {
        mutex_.lock();
        any = under_way_ > 0;
        mutex_.unlock();
        if (any)
            nap();
    }
}

void Wire::stop() {
    mutex_.lock();
    const bool running = running_;
    stopping_ = true;
    if (running)
        changed_.signal();
    mutex_.unlock();
    if (running)
        pthread_join(thread_, nullptr);
}

namespace {
constexpr OptionRow kRow =
#define SENNIT_TEXT(...) SENNIT_TEXT_ROW(__VA_ARGS__)
#include "network/options.def"
#undef SENNIT_TEXT
    ;
} // namespace

WireOptions read_options() {
    WireOptions options;
    const char *given = trusted_environment(kRow.variable);
    if (!given || !*given)
        return {};
    constexpr std::uint64_t most = 60'000'000;
    const NamedNumber words[] = {
        {"latency", &options.latency_ns, nullptr, 0, most, 1000},
        {"bandwidth", &options.bandwidth, nullptr, 0, most},
        {"eager", &options.eager, nullptr, 0, most},
        {"patience", &options.patience_ns, nullptr, 0, most, 1'000'000'000},
        {"payload", &options.payload, nullptr, 0, most}};
    if (const BadWord bad = read_words(given, words); bad.text) {
        std::fprintf(stderr, "sennit: %s='%s': '%.*s': use %s; going on without\n", kRow.variable,
                     given, bad.length, bad.text, kRow.range);
        return {};
    }
    options.on = true;
    return options;
}

} // namespace sennit::network

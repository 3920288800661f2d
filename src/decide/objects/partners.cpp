// SPDX-License-Identifier: Apache-2.0
#include "decide/objects/partners.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace sennit::balance {
namespace {

// What a message is matched by: rank of the receiver, of the sender, tag.
using Envelope = std::tuple<int, int, int>;

struct Received {
    Envelope envelope;
    int object;
    double bytes;

    bool operator<(const Received &other) const {
        return std::tie(envelope, object) < std::tie(other.envelope, other.object);
    }
};

struct ByEnvelope {
    bool operator()(const Received &one, const Envelope &envelope) const {
        return one.envelope < envelope;
    }
    bool operator()(const Envelope &envelope, const Received &one) const {
        return envelope < one.envelope;
    }
};

} // namespace

std::vector<Link> partners(std::span<const Mail> mail) {
    std::vector<Received> received;
    for (const Mail &one : mail)
        if (!one.is_sent)
            received.push_back({{one.rank, one.peer, one.tag}, one.object, one.bytes});
    std::sort(received.begin(), received.end());
    const auto receivers = [&](const Mail &sent) {
        for (const Envelope &envelope :
             {Envelope{sent.peer, sent.rank, sent.tag}, Envelope{sent.peer, kAnyone, sent.tag},
              Envelope{sent.peer, sent.rank, kAnyone}, Envelope{sent.peer, kAnyone, kAnyone}}) {
            const auto [first, last] =
                std::equal_range(received.begin(), received.end(), envelope, ByEnvelope());
            if (first != last)
                return std::span(first, last);
        }
        return std::span<Received>();
    };
    std::map<std::pair<int, int>, double> bytes; // by both objects
    for (const Mail &sent : mail) {
        if (!sent.is_sent)
            continue;
        const std::span<Received> there = receivers(sent);
        const double sum =
            std::accumulate(there.begin(), there.end(), 0.0,
                            [](double before, const Received &one) { return before + one.bytes; });
        for (const Received &one : there)
            if (one.object != sent.object && sum > 0)
                bytes[std::minmax(sent.object, one.object)] += sent.bytes * one.bytes / sum;
    }
    std::vector<Link> links;
    links.reserve(bytes.size());
    for (const auto &[both, sum] : bytes)
        links.push_back({both.first, both.second, sum});
    return links;
}

} // namespace sennit::balance

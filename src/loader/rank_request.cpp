// SPDX-License-Identifier: Apache-2.0
#include "loader/rank_request.h"

#include <algorithm>
#include <cstring>

namespace sennit::loader {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

std::size_t numbers_size(const RequestHead &head) {
    return head.descriptors * sizeof(std::int32_t);
}

// Takes the texts from the front.
std::string take(std::string_view &texts) {
    const std::size_t size = texts.find('\0');
    std::string text(texts.substr(0, size));
    texts.remove_prefix(size + 1);
    return text;
}

} // namespace

std::optional<std::size_t> size_behind(const RequestHead &head) {
    if (head.magic != RequestHead::kMagic || head.text_size > kMostBytes ||
        head.affinity_size > kMostBytes || numbers_size(head) > kMostBytes)
        return std::nullopt;
    return numbers_size(head) + head.affinity_size + head.text_size;
}

std::optional<RankRequest> decode(const RequestHead &head, std::string_view bytes) {
    if (size_behind(head) != bytes.size())
        return std::nullopt;
    std::string_view texts = bytes.substr(numbers_size(head) + head.affinity_size);
    const auto ends = static_cast<std::uint64_t>(std::count(texts.begin(), texts.end(), '\0'));
    if (ends != std::uint64_t{1} + head.arguments + head.environment || texts.back() != '\0')
        return std::nullopt;
    RankRequest request;
    request.descriptors.resize(head.descriptors);
    if (head.descriptors > 0)
        std::memcpy(request.descriptors.data(), bytes.data(), numbers_size(head));
    request.affinity = bytes.substr(numbers_size(head), head.affinity_size);
    request.program = take(texts);
    request.arguments.reserve(head.arguments);
    for (std::uint32_t i = 0; i < head.arguments; ++i)
        request.arguments.push_back(take(texts));
    request.environment.reserve(head.environment);
    for (std::uint32_t i = 0; i < head.environment; ++i)
        request.environment.push_back(take(texts));
    request.mappings = head.mappings;
    request.file_mask = head.file_mask;
    request.fiber = head.fiber != 0;
    request.blocked_signals = head.blocked_signals;
    request.ignored_signals = head.ignored_signals;
    std::copy(std::begin(head.limits), std::end(head.limits), request.limits.begin());
    return request;
}

} // namespace sennit::loader

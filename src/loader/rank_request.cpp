// SPDX-License-Identifier: Apache-2.0
#include "loader/rank_request.h"

#include <cstring>

namespace sennit::loader {
namespace {

// One version of Sennit understands another only if this is the same.
constexpr std::uint64_t kMagic = 0x32747269566e6e53; // "SnnVirt2"

class Writer {
  public:
    template <typename T>
    void put(const T &value) {
        bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
    void put(const std::string &text) {
        put(std::uint64_t{text.size()});
        bytes_ += text;
    }
    template <typename T>
    void put(const std::vector<T> &items) {
        put(std::uint64_t{items.size()});
        for (const T &item : items)
            put(item);
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class Reader {
  public:
    explicit Reader(const std::string &bytes) : bytes_(bytes) {}

    template <typename T>
    void get(T &value) {
        if (!has(sizeof value))
            return;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
    }
    void get(std::string &text) {
        const std::size_t size = count();
        if (!has(size))
            return;
        text.assign(bytes_, at_, size);
        at_ += size;
    }
    template <typename T>
    void get(std::vector<T> &items) {
        // An item takes four bytes at least.
        const std::size_t size = count();
        if (!has(size * 4))
            return;
        items.resize(size);
        for (T &item : items)
            get(item);
    }
    bool well() const { return well_ && at_ == bytes_.size(); }

  private:
    std::size_t count() {
        std::uint64_t size = 0;
        get(size);
        if (size > bytes_.size())
            well_ = false;
        return well_ ? size : 0;
    }
    bool has(std::size_t size) {
        if (size > bytes_.size() - at_)
            well_ = false;
        return well_;
    }

    const std::string &bytes_;
    std::size_t at_ = 0;
    bool well_ = true;
};

template <typename Request, typename Visitor>
void visit(Request &request, Visitor &&visitor) {
    visitor(request.program);
    visitor(request.arguments);
    visitor(request.environment);
    visitor(request.descriptors);
    visitor(request.mappings);
    visitor(request.file_mask);
    visitor(request.fiber);
    visitor(request.blocked_signals);
    visitor(request.ignored_signals);
    visitor(request.affinity);
    visitor(request.limits);
}

} // namespace

std::string encode(const RankRequest &request) {
    Writer writer;
    writer.put(kMagic);
    visit(request, [&](const auto &field) { writer.put(field); });
    return writer.take();
}

std::optional<RankRequest> decode(const std::string &bytes) {
    Reader reader(bytes);
    std::uint64_t magic = 0;
    reader.get(magic);
    RankRequest request;
    visit(request, [&](auto &field) { reader.get(field); });
    if (!reader.well() || magic != kMagic)
        return std::nullopt;
    return request;
}

} // namespace sennit::loader

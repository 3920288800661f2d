// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/first_stack.h"

#include <cstring>

namespace sennit::loader {
namespace {

// Takes memory from the top downwards.
class Downwards {
  public:
    explicit Downwards(char *high) : at_(high) {}

    std::uint64_t put(const void *bytes, std::size_t size) {
        at_ -= size;
        std::memcpy(at_, bytes, size);
        return address();
    }
    std::uint64_t put(const std::string &text) { return put(text.c_str(), text.size() + 1); }
    // The first one lowest: programs that write their title over their arguments expect that.
    std::vector<std::uint64_t> put(const std::vector<std::string> &texts) {
        std::vector<std::uint64_t> addresses(texts.size() + 1, 0);
        for (std::size_t i = texts.size(); i-- > 0;)
            addresses[i] = put(texts[i]);
        return addresses;
    }
    void align() { at_ -= address() % 16; }
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(at_); }
    char *at() const { return at_; }

  private:
    char *at_;
};

std::size_t size_of(const std::vector<std::string> &texts) {
    std::size_t size = 0;
    for (const std::string &text : texts)
        size += text.size() + 1 + sizeof(char *);
    return size;
}

} // namespace

void set_auxiliary(std::vector<Elf64_auxv_t> &vector, std::uint64_t type, std::uint64_t value) {
    for (Elf64_auxv_t &entry : vector)
        if (entry.a_type == type) {
            entry.a_un.a_val = value;
            return;
        }
    Elf64_auxv_t entry{};
    entry.a_type = type;
    entry.a_un.a_val = value;
    vector.push_back(entry);
}

char *lay_out(const FirstStack &contents, char *low, char *high) {
    constexpr std::size_t slack = 256; // alignment, counts, ends of lists
    const std::size_t needed = size_of(contents.arguments) + size_of(contents.environment) +
                               contents.program.size() +
                               (contents.auxiliary.size() + 5) * sizeof(Elf64_auxv_t) + slack;
    if (needed > static_cast<std::size_t>(high - low) / 4)
        return nullptr;
    Downwards stack(high - sizeof(std::uint64_t));
    std::memset(stack.at(), 0, sizeof(std::uint64_t));
    std::vector<Elf64_auxv_t> auxiliary = contents.auxiliary;
    set_auxiliary(auxiliary, AT_EXECFN, stack.put(contents.program));
    set_auxiliary(auxiliary, kEnvironmentEnd, stack.address());
    const std::vector<std::uint64_t> environment = stack.put(contents.environment);
    set_auxiliary(auxiliary, kEnvironmentTexts, stack.address());
    const std::vector<std::uint64_t> arguments = stack.put(contents.arguments);
    stack.align();
    set_auxiliary(auxiliary, AT_RANDOM, stack.put(contents.random, sizeof contents.random));
    set_auxiliary(auxiliary, AT_NULL, 0);

    std::vector<std::uint64_t> words = {contents.arguments.size()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), environment.begin(), environment.end());
    const std::size_t list = words.size() * sizeof(std::uint64_t);
    const std::size_t vector = auxiliary.size() * sizeof(Elf64_auxv_t);
    if ((list + vector) % 16 != 0)
        stack.put(&words[0], sizeof words[0]); // of no meaning: the stack pointer is aligned
    stack.put(auxiliary.data(), vector);
    stack.put(words.data(), list);
    return stack.at();
}

} // namespace sennit::loader

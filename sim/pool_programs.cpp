// SPDX-License-Identifier: Apache-2.0
// Programs for simulate_pool(): those with names, and those that somebody describes.
#include "pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

namespace sennit::sim {
namespace {

// The NAS benchmarks of the paper's Figure 3b. Operations as NPB 3 counts them for the class, at a
// core's speed for the kernel. How they scale is a guess that does what the paper says: "the
// smaller kernels exhaust their parallelism more quickly" (its curves are a picture without
// numbers). bt.A gets slower beyond 25 cores, mg.C has all of the memory's bandwidth with 16.
struct Kernel {
    const char *name;
    double operations, per_second; // 1e9
    SpeedUp speed_up;
};
const Kernel kKernels[] = {
    {"bt.A", 168.3, 4, {.01, 1.5e-3}},
    {"lu.C", 2039, 4, {.004, 2e-5}},
    {"ft.C", 396.4, 3, {.02, 1e-4}},
    {"mg.C", 155.7, 5, {.02, 0, 12}},
};

[[noreturn]] void refuse(const std::string &text, const std::string &why) {
    throw std::invalid_argument(fmt::format("--program {}: {}", text, why));
}

struct Reader {
    PoolProgram program;
    PoolPhase *phase = nullptr;

    void set(const std::string &text, std::string_view name, double value) {
        PoolPhase &now = *phase;
        struct Number {
            double least, most;
            std::function<void(double)> set;
            bool whole = false;
        };
        const auto flag = [](bool &to) { return [&to](double from) { to = from != 0; }; };
        const auto whole = [](int &to) {
            return [&to](double from) { to = static_cast<int>(from); };
        };
        const auto real = [](double &to) { return [&to](double from) { to = from; }; };
        const std::map<std::string_view, Number> numbers = {
            {"ranks", {1, 1024, whole(program.ranks), true}},
            {"threads", {0, 1024, whole(program.threads), true}},
            {"share", {1e-3, 1e6, real(program.share)}},
            {"priority", {-1000, 1000, whole(program.priority), true}},
            {"leftover", {0, 1, flag(program.leftover), true}},
            {"start", {0, 1e6, real(program.start_s)}},
            {"work", {1e-9, 1e9, real(now.work_s)}},
            {"iterations", {1, 1e6, whole(now.iterations), true}},
            {"wait", {0, 1e6, real(now.wait_s)}},
            {"imbalance", {0, 1, real(now.imbalance)}},
            {"rotates", {0, 1, flag(now.rotates), true}},
            {"contention", {0, 1, real(now.speed_up.contention)}},
            {"coherence", {0, 1, real(now.speed_up.coherence)}},
            {"most", {1, 1e9, real(now.speed_up.most)}},
        };
        const auto found = numbers.find(name);
        if (found == numbers.end()) {
            std::vector<std::string_view> names;
            names.reserve(numbers.size());
            for (const auto &[known, number] : numbers)
                names.push_back(known);
            refuse(text,
                   fmt::format("'{}' is unknown; there are {}", name, fmt::join(names, ", ")));
        }
        const Number &number = found->second;
        const bool is_in_range = value >= number.least && value <= number.most; // NaN is not
        if (!is_in_range || (number.whole && value != std::floor(value)))
            refuse(text,
                   fmt::format("{} is {}{:g} to {:g}", name, number.whole ? "a whole number, " : "",
                               number.least, number.most));
        number.set(value);
    }

    void read(const std::string &text, std::string_view items) {
        while (!items.empty()) {
            const std::size_t end = items.find_first_of(",/");
            const std::string_view item = items.substr(0, end);
            const std::size_t equals = item.find('=');
            double value = 0;
            if (equals != std::string_view::npos) {
                const auto [rest, error] =
                    std::from_chars(item.data() + equals + 1, item.data() + item.size(), value);
                if (error != std::errc() || rest != item.data() + item.size())
                    refuse(text, fmt::format("cannot read '{}'", item));
                set(text, item.substr(0, equals), value);
            } else if (!item.empty()) {
                refuse(text, fmt::format("'{}' is not NAME=NUMBER", item));
            }
            if (end == std::string_view::npos)
                return;
            if (items[end] == '/') {
                program.phases.push_back(*phase); // what is not said is as before
                phase = &program.phases.back();
            }
            items.remove_prefix(end + 1);
        }
    }
};

} // namespace

PoolProgram parse_pool_program(const std::string &text) {
    const std::size_t colon = text.find(':');
    Reader reader;
    reader.program.name = text.substr(0, colon);
    if (reader.program.name.empty())
        refuse(text, "it begins with a name and a colon");
    reader.program.phases.resize(1);
    reader.phase = &reader.program.phases.back();
    bool known = false;
    for (const Kernel &kernel : kKernels)
        if (reader.program.name == kernel.name) {
            known = true;
            reader.phase->work_s = kernel.operations / kernel.per_second;
            reader.phase->speed_up = kernel.speed_up;
        }
    if (colon == std::string::npos && !known)
        refuse(text, fmt::format("no such program: describe it, NAME:work=20,..., or use one of {}",
                                 fmt::join(paper_programs(), ", ")));
    if (colon != std::string::npos)
        reader.read(text, std::string_view(text).substr(colon + 1));
    return reader.program;
}

std::vector<std::string> paper_programs() {
    std::vector<std::string> names;
    for (const Kernel &kernel : kKernels)
        names.emplace_back(kernel.name);
    return names;
}

} // namespace sennit::sim

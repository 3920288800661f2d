// SPDX-License-Identifier: Apache-2.0
#include "pool/core_list.h"

#include "common/failure.h"

#include <charconv>
#include <memory>
#include <sched.h>
#include <string_view>

namespace sennit::tool {
namespace {

// A number of a core at the beginning of `text`, which loses it; -1: there is none.
int take_number(std::string_view &text) {
    int value = -1;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || text.starts_with('-'))
        return -1;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return value;
}

struct FreeSet {
    void operator()(cpu_set_t *set) const { CPU_FREE(set); }
};

} // namespace

node::Cores parse_cores(const char *option, const std::string &text) {
    node::Cores cores;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const int first = take_number(rest);
        int last = first;
        if (rest.starts_with('-')) {
            rest.remove_prefix(1);
            last = take_number(rest);
        }
        more = rest.starts_with(',');
        if (first < 0 || last < first || (!more && !rest.empty()))
            fail("{} '{}' is no list of cores, such as 0-3 or 0,2,4-7", option, text);
        if (last >= node::kMostCores)
            fail("{} '{}': cores have numbers up to {}", option, text, node::kMostCores - 1);
        for (int core = first; core <= last; ++core)
            cores.add(core);
        rest.remove_prefix(more ? 1 : 0);
    }
    return cores;
}

std::string core_list(const node::Cores &cores) {
    std::string text;
    for (int core = 0, end = cores.end(); core < end; ++core) {
        if (!cores.has(core))
            continue;
        int last = core;
        while (last + 1 < end && cores.has(last + 1))
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", core);
        if (last > core)
            text += fmt::format("{}{}", last == core + 1 ? "," : "-", last);
        core = last;
    }
    return text.empty() ? "none" : text;
}

node::Cores without(const node::Cores &cores, const node::Cores &allowed) {
    node::Cores rest;
    for (int core = 0, end = cores.end(); core < end; ++core)
        if (cores.has(core) && !allowed.has(core))
            rest.add(core);
    return rest;
}

node::Cores both(const node::Cores &cores, const node::Cores &others) {
    return without(cores, without(cores, others));
}

bool run_on(const node::Cores &cores) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(node::kMostCores));
    const std::size_t size = CPU_ALLOC_SIZE(node::kMostCores);
    CPU_ZERO_S(size, set.get());
    for (int core = 0, end = cores.end(); core < end; ++core)
        if (cores.has(core))
            CPU_SET_S(static_cast<std::size_t>(core), size, set.get());
    return sched_setaffinity(0, size, set.get()) == 0;
}

} // namespace sennit::tool

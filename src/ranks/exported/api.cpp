// SPDX-License-Identifier: Apache-2.0
// include/sennit_export.h over the registry of the address space.
#include "sennit_export.h"

#include "base/compiler.h"
#include "base/rank.h"
#include "ranks/exported/registry.h"

#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

using sennit::exported::ExportState;
using sennit::exported::Outcome;
using sennit::exported::Registry;

static_assert(SENNIT_EXPORT_MOST == Registry::kMost);
static_assert(SENNIT_EXPORT_LONGEST_NAME == Registry::kLongestName);

namespace {

// Of this process.
struct Self {
    Registry *registry = nullptr; // null: no virtual rank
    pid_t process = 0;
};
Self g_self;

// When the library is loaded: a child that is forked later has the same auxiliary vector, and a
// copy of all memory.
[[gnu::constructor]] void find_registry() {
    auto *const found = reinterpret_cast<Registry *>(getauxval(sennit::kVirtualRankEntry));
    if (!found || !found->is_understood())
        return;
    g_self = {found, getpid()};
    pthread_atfork(nullptr, nullptr, [] { g_self.registry = nullptr; });
}

bool is_name(const char *name) {
    return name && *name && std::strlen(name) <= Registry::kLongestName;
}

int code_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::exists:
        return SENNIT_EXPORT_EXISTS;
    case Outcome::full:
        return SENNIT_EXPORT_FULL;
    case Outcome::not_own:
        return SENNIT_EXPORT_NOT_OWN;
    case Outcome::ended:
        return SENNIT_EXPORT_ENDED;
    case Outcome::done:
        break;
    }
    return SENNIT_EXPORT_SUCCESS;
}

// Its core is for others as long as the thread waits (sennit.h), where there is a runtime.
class CoreLent {
  public:
    CoreLent() { call("sennit_pool_lend"); }
    ~CoreLent() { call("sennit_pool_reclaim"); }
    CoreLent(const CoreLent &) = delete;
    CoreLent &operator=(const CoreLent &) = delete;

  private:
    static void call(const char *name) {
        if (auto *const function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name)))
            function();
    }
};

template <typename Condition>
bool wait_for(Registry &registry, std::int64_t wait_ns, Condition is_over) {
    if (is_over())
        return true;
    if (wait_ns == 0)
        return false;
    const CoreLent lent;
    return registry.wait(wait_ns, is_over);
}

} // namespace

extern "C" {

SENNIT_EXPORT int sennit_export(const char *name, void *address, uint64_t bytes,
                                sennit_range *range) {
    if (!is_name(name) || !address || bytes == 0 || !range)
        return SENNIT_EXPORT_PARAMETER;
    if (!g_self.registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    ExportState state;
    state.address = reinterpret_cast<std::uintptr_t>(address);
    state.bytes = bytes;
    return code_of(g_self.registry->add(g_self.process, name, state, *range));
}

SENNIT_EXPORT int sennit_publish(sennit_range range) {
    if (!g_self.registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    return code_of(g_self.registry->publish(g_self.process, range));
}

SENNIT_EXPORT int sennit_unexport(sennit_range range) {
    if (!g_self.registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    return code_of(g_self.registry->remove(g_self.process, range));
}

SENNIT_EXPORT int sennit_import(const char *name, int64_t wait_ns, sennit_range *range) {
    if (!is_name(name) || !range)
        return SENNIT_EXPORT_PARAMETER;
    if (!g_self.registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    const auto look = [&] {
        const std::uint64_t found = g_self.registry->find(name);
        if (found != 0)
            *range = found;
        return found != 0;
    };
    return wait_for(*g_self.registry, wait_ns, look) ? SENNIT_EXPORT_SUCCESS
                                                     : SENNIT_EXPORT_NOT_THERE;
}

SENNIT_EXPORT int sennit_range_get(sennit_range range, struct sennit_range_state *state) {
    if (!state)
        return SENNIT_EXPORT_PARAMETER;
    const Registry *const registry = g_self.registry;
    if (!registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    ExportState now;
    if (!registry->get(range, now))
        return SENNIT_EXPORT_ENDED;
    *state = {reinterpret_cast<void *>(now.address), now.bytes, now.version, now.owner};
    return SENNIT_EXPORT_SUCCESS;
}

SENNIT_EXPORT int sennit_range_wait(sennit_range range, uint64_t seen, int64_t wait_ns,
                                    uint64_t *version) {
    Registry *const registry = g_self.registry;
    if (!registry)
        return SENNIT_EXPORT_NOT_VIRTUAL;
    ExportState now;
    bool there = true;
    const bool over = wait_for(*registry, wait_ns, [&] {
        there = registry->get(range, now);
        return !there || now.version > seen;
    });
    if (!there)
        return SENNIT_EXPORT_ENDED;
    if (version)
        *version = now.version;
    return over ? SENNIT_EXPORT_SUCCESS : SENNIT_EXPORT_UNCHANGED;
}

} // extern "C"

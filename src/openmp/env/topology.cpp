// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/topology.h"

#include "base/environment.h"
#include "base/small_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <new>

namespace sennit::omp {
namespace {

// The parts of a machine, as Level has them.
enum Part { kCore, kCache, kNuma, kSocket, kParts };

// The text of one of the system's files.
class SystemFile {
  public:
    [[gnu::format(printf, 2, 3)]] explicit SystemFile(const char *format, ...) {
        char path[512];
        va_list arguments;
        va_start(arguments, format);
        const int length = std::vsnprintf(path, sizeof path, format, arguments);
        va_end(arguments);
        if (length < 0 || static_cast<std::size_t>(length) >= sizeof path)
            return;
        found_ = read_small_file(path, text_, sizeof text_) > 0;
    }
    bool found() const { return found_; }
    const char *text() const { return text_; }
    long number() const { return std::strtol(text_, nullptr, 10); }

    // A list such as 0-3,8,10-11: calls visit(number) for each.
    template <class Visit>
    void list(Visit visit) const {
        each_of_list(text_, CpuSet::kMost, visit);
    }
    CpuSet processors() const {
        CpuSet set;
        list([&](int cpu) { set.add(cpu); });
        return set;
    }

  private:
    char text_[8192]; // lists of processors are a page or less
    bool found_ = false;
};

class Machine {
  public:
    Machine(const CpuSet &allowed, const char *system) : allowed_(allowed), system_(system) {
        read_domains();
        for (int cpu = -1; (cpu = allowed.next(cpu)) >= 0;) {
            learn(kSocket, cpu, [&] { return siblings(cpu, "core_siblings_list", allowed_); });
            learn(kCache, cpu, [&] { return last_cache(cpu); });
            learn(kCore, cpu, [&] { return siblings(cpu, "thread_siblings_list", CpuSet()); });
            learn(kNuma, cpu, [&] { return allowed_; });
        }
    }

    // The part that a processor is in; nobody tells of one: the processor alone.
    CpuSet part(Part part, int cpu) const {
        if (const CpuSet *known = find(part, cpu))
            return *known;
        CpuSet alone;
        alone.add(cpu);
        return alone;
    }

  private:
    const CpuSet *find(Part part, int cpu) const {
        const PlaceList &list = parts_[part];
        for (int i = 0; i < list.count(); ++i)
            if (list[i].has(cpu))
                return &list[i];
        return nullptr;
    }

    // Reads no part twice.
    template <class Read>
    void learn(Part part, int cpu, Read read) {
        if (find(part, cpu))
            return;
        CpuSet set = read();
        set.keep(allowed_);
        set.add(cpu);
        parts_[part].add(set);
    }

    CpuSet siblings(int cpu, const char *name, const CpuSet &otherwise) const {
        const SystemFile file("%s/cpu/cpu%d/topology/%s", system_, cpu, name);
        return file.found() ? file.processors() : otherwise;
    }

    // The cache of the highest level; of a machine that tells of none, the socket.
    CpuSet last_cache(int cpu) const {
        CpuSet best = part(kSocket, cpu);
        long best_level = 0;
        for (int index = 0;; ++index) {
            const SystemFile level("%s/cpu/cpu%d/cache/index%d/level", system_, cpu, index);
            if (!level.found())
                return best;
            if (level.number() <= best_level)
                continue;
            const SystemFile shared("%s/cpu/cpu%d/cache/index%d/shared_cpu_list", system_, cpu,
                                    index);
            if (shared.found()) {
                best_level = level.number();
                best = shared.processors();
            }
        }
    }

    void read_domains() {
        SystemFile("%s/node/online", system_).list([&](int node) {
            CpuSet set = SystemFile("%s/node/node%d/cpulist", system_, node).processors();
            set.keep(allowed_);
            if (!set.empty()) // memory without processors is no place
                parts_[kNuma].add(set);
        });
    }

    const CpuSet &allowed_;
    const char *system_;
    PlaceList parts_[kParts];
};

// A processor and the first ones of the parts that it is in, the largest part first: the order of
// the machine.
struct Position {
    static constexpr Part kOrder[] = {kSocket, kNuma, kCache, kCore};
    int first[std::size(kOrder)];
    int cpu;

    Position(const Machine &machine, int processor) : cpu(processor) {
        for (std::size_t i = 0; i < std::size(kOrder); ++i)
            first[i] = machine.part(kOrder[i], processor).next(-1);
    }
    auto operator<=>(const Position &) const = default;
};

} // namespace

const char *add_machine_places(Level level, const CpuSet &allowed, PlaceList &list,
                               const char *system) {
    if (!SystemFile("%s/cpu/online", system).found())
        return "the system's files do not tell what the machine looks like";
    const Machine machine(allowed, system);
    const auto count = static_cast<std::size_t>(allowed.count());
    auto *const positions = static_cast<Position *>(std::malloc(count * sizeof(Position)));
    if (!positions)
        return "no memory";
    std::size_t filled = 0;
    for (int cpu = -1; (cpu = allowed.next(cpu)) >= 0;)
        new (positions + filled++) Position(machine, cpu);
    std::sort(positions, positions + filled);
    CpuSet placed;
    for (const Position *at = positions; at < positions + filled; ++at) {
        if (placed.has(at->cpu))
            continue;
        CpuSet place;
        switch (level) {
        case Level::threads:
            place.add(at->cpu);
            break;
        case Level::cores:
            place = machine.part(kCore, at->cpu);
            break;
        case Level::ll_caches:
            place = machine.part(kCache, at->cpu);
            break;
        case Level::numa_domains:
            place = machine.part(kNuma, at->cpu);
            break;
        case Level::sockets:
            place = machine.part(kSocket, at->cpu);
            break;
        }
        placed.add(place);
        list.add(place);
    }
    std::free(positions);
    return nullptr;
}

const char *system_files() {
    const char *const given = given_system_files();
    return given ? given : kSystemFiles;
}

policy::Machine machine_of(const CpuSet &allowed, PlaceList &domains, const char *system) {
    policy::Machine machine;
    PlaceList packages;
    if (add_machine_places(Level::numa_domains, allowed, domains, system) ||
        add_machine_places(Level::sockets, allowed, packages, system))
        return machine;
    machine.domains = std::min(domains.count(), policy::kMostDomains);
    for (int node = 0; node < machine.domains; ++node)
        machine.package[node] = static_cast<std::uint8_t>(packages.find(domains[node]));
    return machine;
}

} // namespace sennit::omp

// SPDX-License-Identifier: Apache-2.0
#include "omp/topology.h"

#include <dlfcn.h>
#include <hwloc.h>

namespace sennit::omp {
namespace {

// The functions of hwloc that we call; their types come from its header.
#define SENNIT_HWLOC_FUNCTIONS(X)                                                                  \
    X(get_api_version)                                                                             \
    X(topology_init)                                                                               \
    X(topology_set_synthetic)                                                                      \
    X(topology_load)                                                                               \
    X(topology_destroy)                                                                            \
    X(get_type_depth)                                                                              \
    X(get_nbobjs_by_depth)                                                                         \
    X(get_obj_by_depth)                                                                            \
    X(bitmap_next)

struct Hwloc {
#define SENNIT_MEMBER(name) decltype(&hwloc_##name) name;
    SENNIT_HWLOC_FUNCTIONS(SENNIT_MEMBER)
#undef SENNIT_MEMBER

    // Null, or what is missing.
    const char *open() {
        void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return "libhwloc.so.15 cannot be loaded";
#define SENNIT_LOAD(name)                                                                          \
    name = reinterpret_cast<decltype(name)>(dlsym(library, "hwloc_" #name));                       \
    if (!name)                                                                                     \
        return "libhwloc.so.15 lacks hwloc_" #name;
        SENNIT_HWLOC_FUNCTIONS(SENNIT_LOAD)
#undef SENNIT_LOAD
        // The major version is that of the structures that we read.
        return get_api_version() >> 16 == HWLOC_API_VERSION >> 16 ? nullptr
                                                                  : "hwloc's version is not ours";
    }
};

// The objects that make up a level, the first that the machine has. A machine without packages or
// caches that hwloc can see is taken for one large one; one without cores has a core for each
// hardware thread.
int depth_of(const Hwloc &hwloc, hwloc_topology_t topology, Level level) {
    static const struct {
        Level level;
        hwloc_obj_type_t type;
    } kTypes[] = {{Level::threads, HWLOC_OBJ_PU},        {Level::cores, HWLOC_OBJ_CORE},
                  {Level::cores, HWLOC_OBJ_PU},          {Level::ll_caches, HWLOC_OBJ_L5CACHE},
                  {Level::ll_caches, HWLOC_OBJ_L4CACHE}, {Level::ll_caches, HWLOC_OBJ_L3CACHE},
                  {Level::ll_caches, HWLOC_OBJ_L2CACHE}, {Level::ll_caches, HWLOC_OBJ_L1CACHE},
                  {Level::ll_caches, HWLOC_OBJ_PACKAGE}, {Level::numa_domains, HWLOC_OBJ_NUMANODE},
                  {Level::sockets, HWLOC_OBJ_PACKAGE}};
    for (const auto &row : kTypes) {
        if (row.level != level)
            continue;
        const int depth = hwloc.get_type_depth(topology, row.type);
        if (depth >= 0 || depth == HWLOC_TYPE_DEPTH_NUMANODE)
            return depth;
    }
    return 0; // the whole machine
}

void add_objects(const Hwloc &hwloc, hwloc_topology_t topology, int depth, const CpuSet &allowed,
                 PlaceList &list) {
    const unsigned objects = hwloc.get_nbobjs_by_depth(topology, depth);
    for (unsigned i = 0; i < objects; ++i) {
        const hwloc_obj_t object = hwloc.get_obj_by_depth(topology, depth, i);
        CpuSet place;
        for (int cpu = -1;
             (cpu = hwloc.bitmap_next(object->cpuset, cpu)) >= 0 && cpu < CpuSet::kMost;)
            place.add(cpu);
        place.keep(allowed);
        // Memory without processors, or a second kind of memory of the same ones, is no place.
        bool known = place.empty();
        for (int j = 0; j < list.count() && !known; ++j)
            known = list[j] == place;
        if (!known)
            list.add(place);
    }
}

} // namespace

const char *add_machine_places(Level level, const CpuSet &allowed, PlaceList &list,
                               const char *synthetic) {
    Hwloc hwloc;
    if (const char *missing = hwloc.open())
        return missing;
    hwloc_topology_t topology = nullptr;
    if (hwloc.topology_init(&topology) != 0)
        return "hwloc does not start";
    if ((synthetic && hwloc.topology_set_synthetic(topology, synthetic) != 0) ||
        hwloc.topology_load(topology) != 0) {
        hwloc.topology_destroy(topology);
        return "hwloc cannot read the machine's topology";
    }
    add_objects(hwloc, topology, depth_of(hwloc, topology, level), allowed, list);
    hwloc.topology_destroy(topology);
    return list.count() > 0 ? nullptr : "hwloc knows none of our processors";
}

} // namespace sennit::omp

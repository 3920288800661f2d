// SPDX-License-Identifier: Apache-2.0
// Places and who goes where (OpenMP 5.2, 10.1.3, 21.1.5, 21.1.6): the syntax of the variables that
// describe places and policies, and the assignment of a team's threads to places. Everything here
// is a pure function of its arguments: no system calls, no messages.
#pragma once

#include "base/array.h"

#include <cstddef>
#include <cstdint>

namespace sennit::omp {

// Processors by the operating system's numbers, laid out as sched_setaffinity(2) wants them.
class CpuSet {
  public:
    static constexpr int kMost = 8192; // what Linux can be configured for

    void add(int cpu) { words_[word(cpu)] |= bit(cpu); }
    void add(const CpuSet &other);
    void remove(int cpu) { words_[word(cpu)] &= ~bit(cpu); }
    bool has(int cpu) const { return (words_[word(cpu)] & bit(cpu)) != 0; }
    int count() const;
    // The first processor after `cpu`, -1 when there is none. Begin with next(-1).
    int next(int cpu) const;
    bool empty() const { return next(-1) < 0; }
    bool intersects(const CpuSet &other) const;
    void keep(const CpuSet &other);
    bool operator==(const CpuSet &other) const = default;

    static constexpr std::size_t kBytes = kMost / 8;
    unsigned long *data() { return words_; }
    const unsigned long *data() const { return words_; }

  private:
    static constexpr int kBits = 64;
    static_assert(sizeof(unsigned long) * 8 == kBits);
    static std::size_t word(int cpu) { return static_cast<std::size_t>(cpu) / kBits; }
    static unsigned long bit(int cpu) { return 1ul << (static_cast<unsigned>(cpu) % kBits); }
    unsigned long words_[kMost / kBits] = {};
};

// place-partition-var of the initial task: an ordered list of sets of processors.
class PlaceList {
  public:
    PlaceList() = default;
    PlaceList(const PlaceList &) = delete;
    PlaceList &operator=(const PlaceList &) = delete;

    int count() const { return static_cast<int>(places_.size()); }
    const CpuSet &operator[](int place) const { return places_[place]; }
    // The first place that shares a processor with `set`; the last one if none does.
    int find(const CpuSet &set) const;
    void add(const CpuSet &place);
    void remove(const CpuSet &place); // all that are equal
    void clear();
    void shorten(int most);
    void rotate(int places); // the one with this index becomes the first

    // Only processors of `allowed` stay, and no empty places. True when something was dropped.
    bool keep(const CpuSet &allowed);
    // Take turns among `groups`: the first place of each group, then the second of each, and so on.
    void take_turns(const PlaceList &groups);
    // One place for each processor.
    void add_singles(const CpuSet &processors);

  private:
    ScopedArray<CpuSet, 16> places_;
};

// The abstract names of places.
enum class Level { threads, cores, ll_caches, numa_domains, sockets };
struct AbstractPlaces {
    bool asked = false; // else the list of places was explicit
    Level level = Level::threads;
    int most = CpuSet::kMost;
};

// OMP_PLACES. Null when `text` is understood: then either abstract.asked or `list` holds the places
// of the explicit list. Otherwise the position that makes no sense.
const char *parse_places(const char *text, AbstractPlaces &abstract, PlaceList &list);

// GOMP_CPU_AFFINITY, "0 3 1-2 4-15:2": a place for each processor. As parse_places.
const char *parse_cpu_list(const char *text, PlaceList &list);

// KMP_AFFINITY: [modifiers,]type[,permute][,offset]
struct KmpAffinity {
    bool typed = false; // else only modifiers: other variables say where threads are bound
    bool bind = false;
    bool spread = false; // balanced: neighbours stay near each other
    Level granularity = Level::cores;
    // 0: next to each other (compact); 1: the second hardware thread of a core after the first of
    // all cores; 2: sockets take turns as well (scatter).
    int permute = 0;
    int offset = 0;
    bool reset = false;        // the initial thread is bound in parallel regions only
    char processors[256] = ""; // explicit,proclist=[...]: a place for each one
    char unknown[128] = "";    // words that mean nothing to us
};
KmpAffinity parse_kmp_affinity(const char *text);

// KMP_HW_SUBSET, "1s,4c@2,1t": of each kind of thing how many in each larger one, and after how
// many.
struct HwSubset {
    struct Part {
        Level level;
        int count; // CpuSet::kMost: all
        int offset;
    };
    static constexpr int kMost = 8;
    Part parts[kMost]; // from the largest things to the smallest
    int count = 0;

    bool has(Level level) const;
    void insert(const Part &part); // there is room
};
// Null, or the position that makes no sense.
const char *parse_hw_subset(const char *text, HwSubset &subset);

// Values of omp_proc_bind_t.
enum class ProcBind : int { false_ = 0, true_ = 1, primary = 2, close = 3, spread = 4 };

// bind-var: a policy for each nesting level; a level beyond the end uses the last one.
struct BindList {
    static constexpr int kMost = 8;
    ProcBind policies[kMost] = {ProcBind::false_};
    int count = 1;

    bool on() const { return policies[0] != ProcBind::false_; }
    ProcBind at(int level) const { return policies[level < count ? level : count - 1]; }
};
// OMP_PROC_BIND. False, and no change, when `text` is not understood.
bool parse_proc_bind(const char *text, BindList &list);

// Where an implicit task is: its place, -1 while its thread is not bound, and its
// place-partition-var, which always is a range of the process's list.
struct Placement {
    int place = -1;
    int first = 0;
    int count = 0;
    bool operator==(const Placement &) const = default;
};

// Where thread number `thread` of a team of `threads` goes when the encountering thread is at
// `parent`, whose place is in its partition. Where a division leaves a rest, which the standard
// leaves to us, the first parts are larger by one.
Placement assign_place(ProcBind policy, const Placement &parent, int threads, int thread);

} // namespace sennit::omp

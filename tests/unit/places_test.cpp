// SPDX-License-Identifier: Apache-2.0
// Places (OpenMP 5.2, 21.1.6), policies (21.1.5) and the assignment of threads to places (10.1.3).
#include "openmp/env/display.h"
#include "openmp/env/places.h"
#include "openmp/env/share.h"
#include "openmp/env/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sennit::omp {
namespace {

std::string text_of(const CpuSet &set) {
    char buffer[512];
    Text text(buffer, sizeof buffer);
    put_place(text, set);
    return buffer;
}

std::string text_of(const PlaceList &list) {
    std::string all;
    for (int i = 0; i < list.count(); ++i)
        all.append(i ? "," : "").append(text_of(list[i]));
    return all;
}

// The places of an explicit list, or "wrong at <rest>".
std::string places(const char *text) {
    AbstractPlaces abstract;
    PlaceList list;
    if (const char *wrong = parse_places(text, abstract, list))
        return std::string("wrong at ") + wrong;
    EXPECT_FALSE(abstract.asked);
    return text_of(list);
}

TEST(Places, ExplicitLists) {
    EXPECT_EQ(places("{0},{1}"), "{0},{1}");
    EXPECT_EQ(places("{0:4},{4:4}"), "{0:4},{4:4}");
    EXPECT_EQ(places("{0,1,2,3},{4,5,6,7}"), "{0:4},{4:4}");
    EXPECT_EQ(places("  { 3 , 1 } , { 7 }  "), "{1,3},{7}");
    EXPECT_EQ(places("2,5"), "{2},{5}"); // a place may be a single resource
}

TEST(Places, IntervalsOfResources) {
    EXPECT_EQ(places("{0:3:2}"), "{0,2,4}");
    EXPECT_EQ(places("{7:4:-2}"), "{1,3,5,7}");
    EXPECT_EQ(places("{0:2,8:2}"), "{0:2,8:2}");
}

TEST(Places, IntervalsOfPlaces) {
    EXPECT_EQ(places("{0:4}:4:4"), "{0:4},{4:4},{8:4},{12:4}");
    EXPECT_EQ(places("{0,1}:3"), "{0:2},{1:2},{2:2}");
    EXPECT_EQ(places("{6,7}:4:-2"), "{6:2},{4:2},{2:2},{0:2}");
    EXPECT_EQ(places("0:4:2"), "{0},{2},{4},{6}");
    EXPECT_EQ(places("{0}:2,{8}:2:4"), "{0},{1},{8},{12}");
}

TEST(Places, Exclusion) {
    EXPECT_EQ(places("{0,1,!1}"), "{0}");
    EXPECT_EQ(places("{0:4,!2}"), "{0:2,3}");
    EXPECT_EQ(places("{6,7}:4:-2,!{2,3}"), "{6:2},{4:2},{0:2}");
    EXPECT_EQ(places("{0}:4,!2"), "{0},{1},{3}");
    EXPECT_EQ(places("{0,1},!{0}"), "{0:2}"); // only an equal place goes
    EXPECT_EQ(places("{0,1},{3,2,4},{6,5,!6},{6},{7:2:-1,!6}"), "{0:2},{2:3},{5},{6},{7}");
}

TEST(Places, ErrorsNameTheirPosition) {
    EXPECT_EQ(places("{0:4"), "wrong at ");
    EXPECT_EQ(places("{0,}"), "wrong at }");
    EXPECT_EQ(places("{}"), "wrong at }");
    EXPECT_EQ(places("{0},x"), "wrong at x");
    EXPECT_EQ(places("{-1}"), "wrong at -1}");
    EXPECT_EQ(places("{0:0}"), "wrong at 0}");
    EXPECT_EQ(places("{0}:2:1:1"), "wrong at :1");
    EXPECT_EQ(places("!{0}:2"), "wrong at :2");
    EXPECT_EQ(places("!{0}"), "wrong at ");
    EXPECT_EQ(places("{0,!0}"), "wrong at }");
    EXPECT_EQ(places("{1}:3:-1"), "wrong at "); // there is no processor -1
    EXPECT_EQ(places("{99999999999999999999}"), "wrong at 99999999999999999999}");
    EXPECT_EQ(places("cores(0)"), "wrong at 0)");
    EXPECT_EQ(places("cores(4"), "wrong at ");
    EXPECT_EQ(places("cores,{0}"), "wrong at ,{0}");
    EXPECT_EQ(places("coresx"), "wrong at coresx");
}

TEST(Places, AbstractNames) {
    const struct {
        const char *text;
        Level level;
        int most;
    } rows[] = {{"threads", Level::threads, CpuSet::kMost},
                {"cores(3)", Level::cores, 3},
                {" LL_Caches ( 2 ) ", Level::ll_caches, 2},
                {"numa_domains", Level::numa_domains, CpuSet::kMost},
                {"SOCKETS(1)", Level::sockets, 1}};
    for (const auto &row : rows) {
        AbstractPlaces abstract;
        PlaceList list;
        EXPECT_EQ(parse_places(row.text, abstract, list), nullptr) << row.text;
        EXPECT_TRUE(abstract.asked);
        EXPECT_EQ(abstract.level, row.level);
        EXPECT_EQ(abstract.most, row.most);
    }
}

TEST(Places, OnlyAllowedProcessorsStay) {
    AbstractPlaces abstract;
    PlaceList list;
    ASSERT_EQ(parse_places("{0:4}:3:4", abstract, list), nullptr);
    CpuSet allowed;
    for (const int cpu : {0, 1, 2, 3, 9})
        allowed.add(cpu);
    EXPECT_TRUE(list.keep(allowed));
    EXPECT_EQ(text_of(list), "{0:4},{9}");
    EXPECT_FALSE(list.keep(allowed));
}

TEST(Places, SetsUpToTheLastProcessor) {
    CpuSet set;
    for (const int cpu : {0, 63, 64, CpuSet::kMost - 1})
        set.add(cpu);
    EXPECT_EQ(set.count(), 4);
    EXPECT_EQ(set.next(-1), 0);
    EXPECT_EQ(set.next(0), 63);
    EXPECT_EQ(set.next(63), 64);
    EXPECT_EQ(set.next(64), CpuSet::kMost - 1);
    EXPECT_EQ(set.next(CpuSet::kMost - 1), -1);
    EXPECT_EQ(CpuSet().next(-1), -1);
}

TEST(Places, GompCpuAffinity) {
    const auto cpus = [](const char *text) {
        PlaceList list;
        const char *wrong = parse_cpu_list(text, list);
        return wrong ? std::string("wrong at ") + wrong : text_of(list);
    };
    EXPECT_EQ(cpus("0 3 1-2 4-15:2"), "{0},{3},{1},{2},{4},{6},{8},{10},{12},{14}");
    EXPECT_EQ(cpus("2,0,1"), "{2},{0},{1}");
    EXPECT_EQ(cpus("3-1"), "wrong at 1");
    EXPECT_EQ(cpus("0 a"), "wrong at a");
    EXPECT_EQ(cpus("0-3:0"), "wrong at 0");
}

TEST(Places, ProcBindLists) {
    const auto policies = [](const char *text) {
        BindList list;
        std::vector<int> result;
        if (parse_proc_bind(text, list))
            for (int i = 0; i < list.count; ++i)
                result.push_back(static_cast<int>(list.policies[i]));
        return result;
    };
    using List = std::vector<int>;
    EXPECT_EQ(policies("false"), List{0});
    EXPECT_EQ(policies(" TRUE "), List{1});
    EXPECT_EQ(policies("spread, Close ,master,primary"), (List{4, 3, 2, 2}));
    for (const char *wrong : {"", "yes", "true,close", "close,true", "close,", "close spread",
                              "close,close,close,close,close,close,close,close,close"})
        EXPECT_EQ(policies(wrong), List{}) << wrong;

    BindList list;
    ASSERT_TRUE(parse_proc_bind("spread,close", list));
    EXPECT_EQ(list.at(0), ProcBind::spread);
    EXPECT_EQ(list.at(1), ProcBind::close);
    EXPECT_EQ(list.at(7), ProcBind::close); // the last one holds for deeper levels
}

TEST(Places, KmpAffinity) {
    KmpAffinity asked = parse_kmp_affinity("granularity=fine,compact,1,0");
    EXPECT_TRUE(asked.bind);
    EXPECT_FALSE(asked.spread);
    EXPECT_EQ(asked.granularity, Level::threads);
    EXPECT_EQ(asked.permute, 1);
    EXPECT_STREQ(asked.unknown, "");

    asked = parse_kmp_affinity("verbose,scatter");
    EXPECT_EQ(asked.permute, 2);
    EXPECT_EQ(asked.granularity, Level::cores);
    EXPECT_STREQ(asked.unknown, "verbose");

    asked = parse_kmp_affinity("nowarnings,balanced");
    EXPECT_TRUE(asked.bind && asked.spread);
    EXPECT_FALSE(parse_kmp_affinity("none").bind);
    EXPECT_FALSE(parse_kmp_affinity("disabled").bind);
    EXPECT_TRUE(parse_kmp_affinity("none").typed);
    EXPECT_FALSE(parse_kmp_affinity("granularity=core,reset").typed);
    asked = parse_kmp_affinity("explicit,proclist=[3,0-2],granularity=fine");
    EXPECT_TRUE(asked.bind);
    EXPECT_STREQ(asked.processors, "3,0-2");
    EXPECT_STREQ(asked.unknown, "");
    EXPECT_FALSE(parse_kmp_affinity("explicit").bind);
    EXPECT_STREQ(parse_kmp_affinity("compact,proclist=[3]").processors, "");
    EXPECT_STREQ(parse_kmp_affinity("fast,compact,granularity=galaxy").unknown,
                 "fast,granularity=galaxy");
}

// ---- machines that do not exist ----------------------------------------------------------------

// The system's files of a regular machine, in a folder of its own.
class Machine {
  public:
    struct Shape {
        int sockets, domains, caches, cores, threads; // each in one of the former
        bool far;    // a core's second hardware thread comes after all cores, as usual
        bool cached; // tells of caches beyond the cores' own
    };

    explicit Machine(const Shape &shape) : shape_(shape) {
        const int per_cache = shape.cores;
        const int per_domain = per_cache * shape.caches;
        const int per_socket = per_domain * shape.domains;
        cores_ = per_socket * shape.sockets;
        write("cpu/online", "0-" + std::to_string(cores_ * shape.threads - 1));
        for (int core = 0; core < cores_; ++core)
            for (int thread = 0; thread < shape.threads; ++thread) {
                const std::string cpu = "cpu/cpu" + std::to_string(number(core, thread));
                write(cpu + "/topology/thread_siblings_list", around(core, 1));
                write(cpu + "/topology/core_siblings_list", around(core, per_socket));
                if (!shape.cached)
                    continue;
                write(cpu + "/cache/index0/level", "1");
                write(cpu + "/cache/index0/shared_cpu_list", around(core, 1));
                write(cpu + "/cache/index1/level", "3");
                write(cpu + "/cache/index1/shared_cpu_list", around(core, per_cache));
            }
        const int domains = shape.domains * shape.sockets;
        write("node/online", "0-" + std::to_string(domains)); // the last one is memory alone
        for (int domain = 0; domain < domains; ++domain)
            write("node/node" + std::to_string(domain) + "/cpulist",
                  around(domain * per_domain, per_domain));
        write("node/node" + std::to_string(domains) + "/cpulist", "");
    }
    // A socket with cores of two hardware threads, numbered next to each other, and behind them
    // cores of one, which share a cache by `caches`. The last `low` of them do not have the
    // machine's last cache.
    struct Hybrid {
        int large, small, caches, low;
    };
    explicit Machine(const Hybrid &shape) {
        const int first_small = 2 * shape.large;
        const int count = first_small + shape.small;
        const std::string all = interval(0, count);
        write("cpu/online", all);
        write("node/online", "0");
        write("node/node0/cpulist", all);
        for (int cpu = 0; cpu < count; ++cpu) {
            const bool is_large = cpu < first_small;
            const int group = cpu - (cpu - first_small) % shape.caches;
            const std::string core = is_large ? interval(cpu / 2 * 2, 2) : interval(cpu, 1);
            const std::string name = "cpu/cpu" + std::to_string(cpu);
            write(name + "/topology/thread_siblings_list", core);
            write(name + "/topology/core_siblings_list", all);
            write(name + "/cache/index0/level", "2");
            write(name + "/cache/index0/shared_cpu_list",
                  is_large ? core : interval(group, shape.caches));
            if (cpu >= count - shape.low)
                continue;
            write(name + "/cache/index1/level", "3");
            write(name + "/cache/index1/shared_cpu_list", interval(0, count - shape.low));
        }
    }
    ~Machine() { std::filesystem::remove_all(folder_); }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    // The places of a level, or why there are none.
    std::string places(Level level, const CpuSet &allowed) const {
        PlaceList list;
        const char *obstacle = add(level, allowed, list);
        return obstacle ? obstacle : text_of(list);
    }
    const char *add(Level level, const CpuSet &allowed, PlaceList &list) const {
        return add_machine_places(level, allowed, list, folder_.c_str());
    }

    CpuSet share(const CpuSet &allowed, Sharers sharers) const {
        return share_of(allowed, sharers, folder_.c_str());
    }
    CpuSet domains(const CpuSet &allowed, Sharers sharers) const {
        return domains_of_share(allowed, sharers, folder_.c_str());
    }

    policy::Machine queues(const CpuSet &allowed, PlaceList &domains) const {
        return machine_of(allowed, domains, folder_.c_str());
    }

  private:
    static std::string interval(int first, int count) {
        return std::to_string(first) + "-" + std::to_string(first + count - 1);
    }
    int number(int core, int thread) const {
        return shape_.far ? core + thread * cores_ : core * shape_.threads + thread;
    }
    // The processors of the `count` cores among which `core` is.
    std::string around(int core, int count) const {
        std::string list;
        for (int i = core / count * count; i < core / count * count + count; ++i)
            for (int thread = 0; thread < shape_.threads; ++thread)
                list.append(list.empty() ? "" : ",").append(std::to_string(number(i, thread)));
        return list;
    }
    void write(const std::string &name, const std::string &text) const {
        const std::filesystem::path path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    static std::filesystem::path make_folder() {
        std::string name = std::filesystem::temp_directory_path() / "sennit-machine-XXXXXX";
        if (!mkdtemp(name.data()))
            ADD_FAILURE() << "no folder " << name;
        return name;
    }

    Shape shape_{};
    int cores_ = 0;
    std::filesystem::path folder_ = make_folder();
};

// A cache for four cores with two hardware threads, 64 processors; and 2 x 24 plain cores.
constexpr Machine::Shape kSmt{2, 2, 2, 4, 2, true, true};
constexpr Machine::Shape kPlain{2, 2, 1, 12, 1, false, false};

CpuSet processors(int count) {
    CpuSet all;
    for (int cpu = 0; cpu < count; ++cpu)
        all.add(cpu);
    return all;
}

TEST(Topology, SocketsOfFortyEightCores) {
    const Machine plain(kPlain);
    EXPECT_EQ(plain.places(Level::sockets, processors(48)), "{0:24},{24:24}");
    EXPECT_EQ(plain.places(Level::numa_domains, processors(48)), "{0:12},{12:12},{24:12},{36:12}");
    // No cache that anybody knows of: the socket.
    EXPECT_EQ(plain.places(Level::ll_caches, processors(48)), "{0:24},{24:24}");
    PlaceList cores;
    ASSERT_EQ(plain.add(Level::cores, processors(48), cores), nullptr);
    EXPECT_EQ(cores.count(), 48);
    EXPECT_EQ(text_of(cores[47]), "{47}");
}

TEST(Topology, HardwareThreadsOfACore) {
    const Machine smt(kSmt);
    const CpuSet all = processors(64);
    EXPECT_EQ(smt.places(Level::sockets, all), "{0:16,32:16},{16:16,48:16}");
    EXPECT_EQ(smt.places(Level::ll_caches, all), "{0:4,32:4},{4:4,36:4},{8:4,40:4},{12:4,44:4},"
                                                 "{16:4,48:4},{20:4,52:4},{24:4,56:4},{28:4,60:4}");
    PlaceList cores;
    ASSERT_EQ(smt.add(Level::cores, all, cores), nullptr);
    ASSERT_EQ(cores.count(), 32);
    EXPECT_EQ(text_of(cores[5]), "{5,37}");
}

TEST(Topology, CoresOfTwoKinds) {
    const Machine hybrid({.large = 2, .small = 6, .caches = 2, .low = 2});
    const CpuSet all = processors(10);
    EXPECT_EQ(hybrid.places(Level::cores, all), "{0:2},{2:2},{4},{5},{6},{7},{8},{9}");
    EXPECT_EQ(hybrid.places(Level::ll_caches, all), "{0:8},{8:2}");
    EXPECT_EQ(hybrid.places(Level::numa_domains, all), "{0:10}");
    EXPECT_EQ(hybrid.places(Level::sockets, all), "{0:10}");
    EXPECT_EQ(hybrid.places(Level::threads, all), "{0},{1},{2},{3},{4},{5},{6},{7},{8},{9}");
    CpuSet small; // what a launcher leaves of it
    for (const int cpu : {1, 5, 9})
        small.add(cpu);
    EXPECT_EQ(hybrid.places(Level::cores, small), "{1},{5},{9}");
    PlaceList domains;
    EXPECT_EQ(hybrid.queues(all, domains).domains, 1);
}

TEST(Topology, OnlyProcessorsOfThisProcess) {
    const Machine smt(kSmt);
    CpuSet allowed;
    for (const int cpu : {1, 2, 33, 17})
        allowed.add(cpu);
    EXPECT_EQ(smt.places(Level::cores, allowed), "{1,33},{2},{17}");
    EXPECT_EQ(smt.places(Level::sockets, allowed), "{1:2,33},{17}");
}

TEST(Topology, TheMachinesOrder) {
    const Machine smt(kSmt);
    PlaceList threads;
    CpuSet allowed;
    for (const int cpu : {0, 1, 16, 17, 32, 33, 48})
        allowed.add(cpu);
    ASSERT_EQ(smt.add(Level::threads, allowed, threads), nullptr);
    EXPECT_EQ(text_of(threads), "{0},{32},{1},{33},{16},{48},{17}");
}

TEST(Topology, QueuesOfNumaDomains) {
    const Machine plain(kPlain);
    PlaceList domains;
    const policy::Machine four = plain.queues(processors(48), domains);
    ASSERT_EQ(four.domains, 4);
    EXPECT_EQ(text_of(domains), "{0:12},{12:12},{24:12},{36:12}");
    EXPECT_EQ(four.package[0], four.package[1]);
    EXPECT_EQ(four.package[2], four.package[3]);
    EXPECT_NE(four.package[0], four.package[2]);
    CpuSet last;
    last.add(47);
    EXPECT_EQ(domains.find(last), 3);

    PlaceList half;
    EXPECT_EQ(plain.queues(processors(12), half).domains, 1);
    PlaceList smt;
    EXPECT_EQ(Machine(kSmt).queues(processors(64), smt).domains, 4);
    EXPECT_EQ(smt.find(processors(1)), 0);
    PlaceList none;
    EXPECT_EQ(machine_of(processors(2), none, "/nonexistent").domains, 1);
}

TEST(Topology, NothingIsKnown) {
    PlaceList list;
    EXPECT_STREQ(add_machine_places(Level::cores, processors(2), list, "/nonexistent"),
                 "the system's files do not tell what the machine looks like");
    EXPECT_EQ(list.count(), 0);
}

TEST(Topology, TurnsScatterOverCoresAndSockets) {
    const Machine small({2, 1, 1, 2, 2, false, true}); // {0,1},{2,3} and {4,5},{6,7}
    const CpuSet all = processors(8);
    PlaceList threads;
    PlaceList cores;
    PlaceList sockets;
    ASSERT_EQ(small.add(Level::threads, all, threads), nullptr);
    ASSERT_EQ(small.add(Level::cores, all, cores), nullptr);
    ASSERT_EQ(small.add(Level::sockets, all, sockets), nullptr);
    threads.take_turns(cores);
    EXPECT_EQ(text_of(threads), "{0},{2},{4},{6},{1},{3},{5},{7}");
    threads.take_turns(sockets);
    EXPECT_EQ(text_of(threads), "{0},{4},{2},{6},{1},{5},{3},{7}");
    threads.rotate(3);
    EXPECT_EQ(text_of(threads), "{6},{1},{5},{3},{7},{0},{4},{2}");
}

// ---- assignment --------------------------------------------------------------------------------

using Places = std::vector<int>;

Places assigned(ProcBind policy, const Placement &parent, int threads) {
    Places result;
    for (int thread = 0; thread < threads; ++thread)
        result.push_back(assign_place(policy, parent, threads, thread).place);
    return result;
}

TEST(Assignment, PrimaryStaysTogether) {
    const Placement parent{5, 2, 6};
    EXPECT_EQ(assigned(ProcBind::primary, parent, 4), (Places{5, 5, 5, 5}));
    EXPECT_EQ(assign_place(ProcBind::primary, parent, 4, 3), parent);
}

TEST(Assignment, CloseGoesRoundThePartition) {
    EXPECT_EQ(assigned(ProcBind::close, {0, 0, 8}, 4), (Places{0, 1, 2, 3}));
    EXPECT_EQ(assigned(ProcBind::close, {6, 0, 8}, 4), (Places{6, 7, 0, 1}));
    EXPECT_EQ(assigned(ProcBind::close, {5, 4, 3}, 3), (Places{5, 6, 4}));
    EXPECT_EQ(assign_place(ProcBind::close, {6, 0, 8}, 4, 2), (Placement{0, 0, 8}));
}

TEST(Assignment, CloseSharesPlacesAmongNeighbours) {
    EXPECT_EQ(assigned(ProcBind::close, {0, 0, 2}, 4), (Places{0, 0, 1, 1}));
    EXPECT_EQ(assigned(ProcBind::close, {1, 0, 4}, 8), (Places{1, 1, 2, 2, 3, 3, 0, 0}));
    EXPECT_EQ(assigned(ProcBind::close, {0, 0, 3}, 5), (Places{0, 0, 1, 1, 2}));
    EXPECT_EQ(assigned(ProcBind::true_, {0, 0, 3}, 5), (Places{0, 0, 1, 1, 2}));
}

TEST(Assignment, SpreadCutsThePartition) {
    EXPECT_EQ(assigned(ProcBind::spread, {0, 0, 8}, 4), (Places{0, 2, 4, 6}));
    EXPECT_EQ(assign_place(ProcBind::spread, {0, 0, 8}, 4, 1), (Placement{2, 2, 2}));
    EXPECT_EQ(assigned(ProcBind::spread, {0, 0, 5}, 4), (Places{0, 2, 3, 4}));
    EXPECT_EQ(assigned(ProcBind::spread, {0, 0, 8}, 5), (Places{0, 2, 4, 6, 7}));
    // The primary keeps its place; its part is the one that holds it.
    EXPECT_EQ(assigned(ProcBind::spread, {5, 0, 8}, 4), (Places{5, 6, 0, 2}));
    EXPECT_EQ(assign_place(ProcBind::spread, {5, 0, 8}, 4, 0), (Placement{5, 4, 2}));
    // One thread: the whole partition.
    EXPECT_EQ(assign_place(ProcBind::spread, {5, 2, 6}, 1, 0), (Placement{5, 2, 6}));
}

TEST(Assignment, SpreadOfMoreThreadsThanPlaces) {
    EXPECT_EQ(assigned(ProcBind::spread, {1, 0, 2}, 4), (Places{1, 1, 0, 0}));
    EXPECT_EQ(assign_place(ProcBind::spread, {1, 0, 2}, 4, 3), (Placement{0, 0, 1}));
}

TEST(Assignment, NestedSpreadThenClose) {
    // 48 cores: 4 threads, each with 12 places; inner teams stay in them.
    for (int outer = 0; outer < 4; ++outer) {
        const Placement mine = assign_place(ProcBind::spread, {0, 0, 48}, 4, outer);
        EXPECT_EQ(mine, (Placement{outer * 12, outer * 12, 12}));
        for (int inner = 0; inner < 12; ++inner)
            EXPECT_EQ(assign_place(ProcBind::close, mine, 12, inner).place, outer * 12 + inner);
    }
}

// What the standard says of every assignment, for all small cases.
TEST(Assignment, KeepsTheRulesEverywhere) {
    for (int count = 1; count <= 9; ++count) {
        for (int own = 0; own < count; ++own) {
            for (int threads = 1; threads <= 20; ++threads) {
                const Placement parent{3 + own, 3, count};
                for (const ProcBind policy : {ProcBind::close, ProcBind::spread}) {
                    std::vector<int> on(static_cast<std::size_t>(count), 0);
                    int last = own;
                    for (int t = 0; t < threads; ++t) {
                        const Placement p = assign_place(policy, parent, threads, t);
                        const int place = p.place - 3;
                        ASSERT_TRUE(place >= 0 && place < count);
                        ASSERT_TRUE(p.first >= 3 && p.first + p.count <= 3 + count);
                        ASSERT_TRUE(p.place >= p.first && p.place < p.first + p.count);
                        if (t == 0) {
                            ASSERT_EQ(p.place, parent.place);
                        }
                        // Neighbours are on the same place or go round in order.
                        if (policy == ProcBind::close) {
                            ASSERT_EQ(p.count, count);
                            ASSERT_TRUE(place == last || place == (last + 1) % count);
                        }
                        last = place;
                        ++on[static_cast<std::size_t>(place)];
                    }
                    for (const int n : on) {
                        ASSERT_GE(n, threads / count);
                        ASSERT_LE(n, (threads + count - 1) / count);
                    }
                }
            }
        }
    }
}

TEST(Assignment, SpreadPartsCoverThePartitionOnce) {
    for (int count = 1; count <= 12; ++count) {
        for (int threads = 1; threads <= count; ++threads) {
            for (int own = 0; own < count; ++own) {
                std::vector<int> covered(static_cast<std::size_t>(count), 0);
                for (int t = 0; t < threads; ++t) {
                    const Placement p = assign_place(ProcBind::spread, {own, 0, count}, threads, t);
                    ASSERT_TRUE(p.count == count / threads ||
                                p.count == (count + threads - 1) / threads);
                    for (int i = 0; i < p.count; ++i)
                        ++covered[static_cast<std::size_t>(p.first + i)];
                }
                for (const int n : covered)
                    ASSERT_EQ(n, 1);
            }
        }
    }
}

// ---- affinity format ---------------------------------------------------------------------------

std::string formatted(const char *format, std::size_t size = 256) {
    CpuSet cpus;
    for (const int cpu : {0, 2, 3, 4})
        cpus.add(cpu);
    const AffinityFields fields{1, 2, 3, 42, 64, -1, "node7", 1234, 5678, &cpus};
    std::vector<char> buffer(size + 1, '#');
    Text text(buffer.data(), size);
    put_affinity(text, format, fields);
    EXPECT_EQ(buffer[size], '#');
    return std::string(buffer.data()) + "/" + std::to_string(text.length());
}

TEST(HwSubset, FromTheLargestToTheSmallest) {
    HwSubset subset;
    ASSERT_EQ(parse_hw_subset("2t, 1S ,4cores@2", subset), nullptr);
    ASSERT_EQ(subset.count, 3);
    EXPECT_EQ(subset.parts[0].level, Level::sockets);
    EXPECT_EQ(subset.parts[0].count, 1);
    EXPECT_EQ(subset.parts[1].level, Level::cores);
    EXPECT_EQ(subset.parts[1].count, 4);
    EXPECT_EQ(subset.parts[1].offset, 2);
    EXPECT_EQ(subset.parts[2].level, Level::threads);
    EXPECT_EQ(subset.parts[2].count, 2);
    HwSubset all;
    ASSERT_EQ(parse_hw_subset("*numa,llc", all), nullptr);
    EXPECT_EQ(all.parts[0].count, CpuSet::kMost);
    EXPECT_EQ(all.parts[1].count, CpuSet::kMost);
}

TEST(HwSubset, SenselessOnes) {
    for (const char *text : {"", "2", "2q", "0c", "1s,", "1c@", "1c@x", "1c 2t", "c,c,c,c,c,c"}) {
        HwSubset subset;
        EXPECT_NE(parse_hw_subset(text, subset), nullptr) << text;
    }
}

TEST(AffinityFormat, ShortAndLongNames) {
    EXPECT_EQ(formatted("%t %T %L %n %N %a %H %P %i %A"),
              "1 2 3 42 64 -1 node7 1234 5678 0,2-4/36");
    EXPECT_EQ(formatted("%{team_num} %{num_teams} %{nesting_level} %{thread_num} %{num_threads} "
                        "%{ancestor_tnum} %{host} %{process_id} %{native_thread_id} "
                        "%{thread_affinity}"),
              "1 2 3 42 64 -1 node7 1234 5678 0,2-4/36");
    EXPECT_EQ(formatted("100%% of %x, %{what}, %{open"),
              "100% of undefined, undefined, undefined/39");
    EXPECT_EQ(formatted("%"), "undefined/9");
}

TEST(AffinityFormat, WidthAndSides) {
    EXPECT_EQ(formatted("[%5n]"), "[42   ]/7");
    EXPECT_EQ(formatted("[%.5n]"), "[   42]/7");
    EXPECT_EQ(formatted("[%0.5n]"), "[00042]/7");
    EXPECT_EQ(formatted("[%0.5a]"), "[-0001]/7");
    EXPECT_EQ(formatted("[%1P]"), "[1234]/6"); // never cut
    EXPECT_EQ(formatted("[%0.10H|%10A|%.8{host}]"), "[     node7|0,2-4     |   node7]/32");
}

TEST(AffinityFormat, CutAtTheEndOfTheBuffer) {
    EXPECT_EQ(formatted("%P-%i", 6), "1234-/9");
    EXPECT_EQ(formatted("%P", 1), "/4");
}

// ---- the share of a rank -----------------------------------------------------------------------

CpuSet range(int first, int count) {
    CpuSet set;
    for (int cpu = first; cpu < first + count; ++cpu)
        set.add(cpu);
    return set;
}

TEST(OwnShare, RanksThatTheLauncherHasBoundNowhereShareEverything) {
    EXPECT_EQ(sharers_of(range(0, 8), range(0, 8), {4, 3}), (Sharers{4, 3}));
    EXPECT_EQ(sharers_of(range(0, 8), range(0, 4), {4, 3}), (Sharers{4, 3}));
}

TEST(OwnShare, RanksWithProcessorsOfTheirOwnShareNothing) {
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(sharers_of(range(2 * rank, 2), range(0, 8), {4, rank}), Sharers{});
    EXPECT_EQ(sharers_of(range(0, 1), range(0, 2), {2, 0}), Sharers{});
    EXPECT_EQ(sharers_of(range(4, 2), range(0, 8), {2, 1}), Sharers{}); // more than there are ranks
}

// Two sockets of 8 processors; whose they are depends on how the launcher has dealt them out.
TEST(OwnShare, RanksOfASocketShareIt) {
    for (int rank = 0; rank < 8; ++rank) {
        const CpuSet in_turns = range(8 * (rank % 2), 8);
        EXPECT_EQ(sharers_of(in_turns, range(0, 16), {8, rank}), (Sharers{4, rank / 2}));
    }
    for (const int rank : {1, 3, 4, 6}) { // where the one order does not fit, it is the other
        const CpuSet in_blocks = range(8 * (rank / 4), 8);
        EXPECT_EQ(sharers_of(in_blocks, range(0, 16), {8, rank}), (Sharers{4, rank % 4}));
    }
}

TEST(OwnShare, IsOfWholeCores) {
    PlaceList cores; // siblings are 4 apart
    for (int core = 0; core < 4; ++core) {
        CpuSet place = range(core, 1);
        place.add(core + 4);
        cores.add(place);
    }
    const auto parts = [&](int ranks) {
        std::string all;
        for (int rank = 0; rank < ranks; ++rank)
            all.append(text_of(part_of(cores, {ranks, rank}))).append(" ");
        return all;
    };
    EXPECT_EQ(parts(1), "{0:8} ");
    EXPECT_EQ(parts(2), "{0:2,4:2} {2:2,6:2} ");
    EXPECT_EQ(parts(3), "{0,4} {1,5} {2:2,6:2} ");
    EXPECT_EQ(parts(4), "{0,4} {1,5} {2,6} {3,7} ");
    EXPECT_EQ(parts(8), "{0} {4} {1} {5} {2} {6} {3} {7} ");
}

TEST(OwnShare, OfAnUnboundRankIsTheDomainsThatItsShareLiesIn) {
    const Machine plain(kPlain); // 4 domains of 12 cores
    const auto domains = [&](int ranks, int rank) {
        PlaceList one;
        one.add(plain.domains(range(0, 48), {ranks, rank}));
        return text_of(one);
    };
    EXPECT_EQ(domains(2, 1), "{24:24}");
    EXPECT_EQ(domains(4, 1), "{12:12}");
    EXPECT_EQ(domains(8, 7), "{36:12}");
    EXPECT_EQ(domains(3, 1), "{12:24}"); // 16 to 31
    EXPECT_EQ(domains(1, 0), "{0:48}");
    PlaceList allowed; // the domains are cut to what there is
    allowed.add(plain.domains(range(6, 12), {2, 1}));
    EXPECT_EQ(text_of(allowed), "{12:6}");
    const Machine smt(kSmt);
    for (int rank = 0; rank < 8; ++rank)
        EXPECT_EQ(smt.domains(range(0, 64), {8, rank}), smt.domains(range(0, 64), {4, rank / 2}));
}

TEST(OwnShare, IsOfWholeDomainsThenCachesOnADescribedMachine) {
    const Machine machine(kSmt); // 4 domains of 2 caches of 4 cores of 2 hardware threads
    CpuSet all = range(0, 64);
    const auto parts_in = [&](Level level, int ranks) {
        PlaceList things;
        EXPECT_EQ(machine.add(level, all, things), nullptr);
        CpuSet seen;
        for (int rank = 0; rank < ranks; ++rank) {
            const CpuSet part = machine.share(all, {ranks, rank});
            EXPECT_FALSE(part.intersects(seen)) << rank;
            seen.add(part);
            int touched = 0;
            for (int i = 0; i < things.count(); ++i)
                touched += things[i].intersects(part);
            EXPECT_EQ(touched, std::max(1, things.count() / ranks)) << ranks << " ranks, " << rank;
        }
        EXPECT_EQ(seen, all);
    };
    for (const int ranks : {1, 2, 4, 8, 16})
        parts_in(Level::numa_domains, ranks);
    for (const int ranks : {1, 2, 4, 8, 16, 32})
        parts_in(Level::ll_caches, ranks);
    parts_in(Level::cores, 32);
}

// Cores count, whatever they can do.
TEST(OwnShare, IsOfAsManyCoresWhereTheyAreOfTwoKinds) {
    const Machine hybrid({.large = 4, .small = 8, .caches = 4, .low = 0});
    const auto parts = [&](int ranks) {
        PlaceList all;
        for (int rank = 0; rank < ranks; ++rank)
            all.add(hybrid.share(range(0, 16), {ranks, rank}));
        return text_of(all);
    };
    EXPECT_EQ(parts(1), "{0:16}");
    EXPECT_EQ(parts(2), "{0:10},{10:6}");
    EXPECT_EQ(parts(3), "{0:8},{8:4},{12:4}"); // those with a cache in common stay together
    EXPECT_EQ(parts(12), "{0:2},{2:2},{4:2},{6:2},{8},{9},{10},{11},{12},{13},{14},{15}");
    EXPECT_EQ(parts(16), "{0},{1},{2},{3},{4},{5},{6},{7},{8},{9},{10},{11},{12},{13},{14},{15}");
}

TEST(OwnShare, OfMoreRanksThanProcessorsSomeHaveTheSame) {
    PlaceList cores;
    cores.add_singles(range(0, 2));
    int ranks[2] = {};
    for (int rank = 0; rank < 5; ++rank) {
        const CpuSet part = part_of(cores, {5, rank});
        ASSERT_EQ(part.count(), 1);
        ++ranks[part.next(-1)];
    }
    EXPECT_EQ(ranks[0] + ranks[1], 5);
    EXPECT_LE(std::abs(ranks[0] - ranks[1]), 1);
    EXPECT_EQ(ranks_on_part(2, 5), std::max(ranks[0], ranks[1]));
    EXPECT_EQ(ranks_on_part(8, 3), 1); // two, three and three processors
}

} // namespace
} // namespace sennit::omp

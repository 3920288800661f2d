// SPDX-License-Identifier: Apache-2.0
// cxx:
// A virtual rank in C++: dynamic initializers, global objects, what templates and inline functions
// keep in variables (which a linker may merge), objects of threads, exceptions. Each rank has its
// own, and destroys them. The argument is what the first object makes its exit code, when all
// others are gone.
#include "check.h"

#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

int g_alive = 0; // objects

struct First {
    int code = 99;
    ~First() {
        CHECK(g_alive == 0 && code >= 0);
        std::cout.flush();
        _exit(code);
    }
} g_first __attribute__((init_priority(200))); // constructed first, so destroyed last

struct Counted {
    Counted() { ++g_alive; }
    virtual ~Counted() { --g_alive; }
};

struct Named : Counted {
    std::string name;
    explicit Named(const std::string &what) : name(what + " of " + std::to_string(getpid())) {}
    void check(const std::string &what) const {
        CHECK(name == what + " of " + std::to_string(getpid()));
    }
};

const int g_self = getpid(); // by a dynamic initializer
Named g_object("a global object");
std::map<std::string, std::unique_ptr<Named>> g_map;

} // namespace

// These have external linkage: without names of their own, ranks would share them.
template <int N>
struct Table : Counted {
    static std::vector<int> values;
    static Named named;
    static int next() {
        static int count = 1000 * g_self;
        return ++count;
    }
};
template <int N>
std::vector<int> Table<N>::values(N, getpid());
template <int N>
Named Table<N>::named("a template's object");

inline std::vector<int> g_inline(7, getpid());
inline Named &of_function() {
    static Named made("a function's object");
    return made;
}
thread_local Named t_object("a thread's object");

static void of_thread(int number) {
    t_object.name += std::to_string(number);
    usleep(100);
    CHECK(t_object.name ==
          "a thread's object of " + std::to_string(g_self) + std::to_string(number));
}

static void look(int round) {
    for (const int value : Table<5>::values)
        CHECK(value == g_self + round);
    for (const int value : g_inline)
        CHECK(value == g_self + round);
    g_object.check("a global object");
    Table<3>::named.check("a template's object");
    of_function().check("a function's object");
    CHECK(g_map.size() == static_cast<std::size_t>(round));
    CHECK(Table<3>::next() == 1000 * g_self + 2 * round + 1);
    CHECK(Table<3>::next() == 1000 * g_self + 2 * round + 2);
    try {
        const Named local("a local object");
        throw std::runtime_error(local.name);
    } catch (const std::exception &error) {
        CHECK(error.what() == "a local object of " + std::to_string(g_self));
    }
    const Counted &base = g_object;
    CHECK(dynamic_cast<const Named *>(&base) == &g_object);
}

int main(int argc, char **argv) {
    CHECK(argc == 2 && g_self == getpid());
    for (int round = 0; round < 40; ++round) {
        look(round);
        for (int &value : Table<5>::values)
            ++value;
        for (int &value : g_inline)
            ++value;
        g_map[std::to_string(round)] = std::make_unique<Named>("in a map");
        usleep(500); // others do the same meanwhile
    }
    std::vector<std::thread> threads;
    const int before = g_alive;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back(of_thread, i);
        threads.back().join(); // its object is gone
        CHECK(g_alive == before);
    }
    std::cout << "rank in C++, process " << g_self << "\n"; // lost unless its buffer is written
    g_first.code = std::stoi(argv[1]);
    return 3; // what the destructor exchanges
}

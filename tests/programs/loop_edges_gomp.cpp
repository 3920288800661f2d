// SPDX-License-Identifier: Apache-2.0
// build: compiler=gcc
// test: # stock libgomp goes wrong where chunk times step passes the end of its type
// GCC's entry points for loops, called as its code calls them, for loops of long and unsigned long
// long at the edges of these types: every schedule, both signs of the step, no iterations, chunks
// of all sizes, and taskloops (OpenMP 5.2, 11.5 and 12.6).
#include "loop_edges.h"

typedef unsigned long long Ull;

extern "C" {
#define LOOP(name)                                                                                 \
    bool GOMP_loop_##name##_start(long, long, long, long, long *, long *);                         \
    bool GOMP_loop_##name##_next(long *, long *);                                                  \
    bool GOMP_loop_ull_##name##_start(bool, Ull, Ull, Ull, Ull, Ull *, Ull *);                     \
    bool GOMP_loop_ull_##name##_next(Ull *, Ull *);
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP(ordered_static)
LOOP(ordered_dynamic)
LOOP(ordered_guided)
bool GOMP_loop_runtime_next(long *, long *);
bool GOMP_loop_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ull_start(bool, Ull, Ull, Ull, long, Ull, Ull *, Ull *, uintptr_t *, void **);
void GOMP_loop_end_nowait(void);
#define PARALLEL_LOOP(name)                                                                        \
    void GOMP_parallel_loop_##name(void (*)(void *), void *, unsigned, long, long, long, long,     \
                                   unsigned);
PARALLEL_LOOP(static)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
void GOMP_taskloop(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,
                   unsigned long, int, long, long, long);
void GOMP_taskloop_ull(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,
                       unsigned long, int, Ull, Ull, Ull);
}

enum How { kNames, kStart, kCombined }; // which family of entry points

// The bounds are exclusive here; Loop's upper is the bound itself.
template <class T>
struct Case {
    Loop<T> loop; // up to, and without, `upper`
    How how;
    int kind; // an index of kSchedules
    T chunk;

    Wide count() const {
        const Wide distance = Wide{loop.upper} - loop.lower;
        const Wide step = loop.step;
        return (step > 0) == (distance > 0) && distance != 0
                   ? (distance + step + (step > 0 ? -1 : 1)) / step
                   : 0;
    }
    Wide size() const { return std::max<Wide>(chunk, 1); }
    Wide pieces() const { return (count() + size() - 1) / size(); }
    void operator()() const;
    bool start(T *, T *) const;
    bool next(T *, T *) const;
    // What the compiled loop does between two bounds.
    Piece piece(T begin, T end) const {
        const Wide step = loop.step;
        return loop.piece(begin, Wide{end} + (step > 0 ? -1 : 1));
    }
};

template <class T>
struct Schedule {
    const char *name;
    Cut cut;
    bool (*start)(const Case<T> &, T *, T *);
    bool (*next)(T *, T *);
    long number; // for GOMP_loop_start; 0: none
};

#define SCHEDULE(name, cut, number)                                                                \
    Schedule<long> {                                                                               \
        #name, cut,                                                                                \
            [](const Case<long> &c, long *begin, long *end) {                                      \
                return GOMP_loop_##name##_start(c.loop.lower, c.loop.upper, c.loop.step, c.chunk,  \
                                                begin, end);                                       \
            },                                                                                     \
            GOMP_loop_##name##_next, number                                                        \
    }
#define SCHEDULE_ULL(name, cut, number)                                                            \
    Schedule<Ull> {                                                                                \
        #name, cut,                                                                                \
            [](const Case<Ull> &c, Ull *begin, Ull *end) {                                         \
                return GOMP_loop_ull_##name##_start(c.loop.step > 0, c.loop.lower, c.loop.upper,   \
                                                    static_cast<Ull>(c.loop.step), c.chunk, begin, \
                                                    end);                                          \
            },                                                                                     \
            GOMP_loop_ull_##name##_next, number                                                    \
    }
#define SCHEDULES(S)                                                                               \
    {S(static, Cut::round_robin, 1),                                                               \
     S(dynamic, Cut::chunks, 2 | 0x80000000L),                                                     \
     S(guided, Cut::at_least, 3 | 0x80000000L),                                                    \
     S(nonmonotonic_dynamic, Cut::chunks, 2),                                                      \
     S(nonmonotonic_guided, Cut::at_least, 3),                                                     \
     S(ordered_static, Cut::round_robin, 0),                                                       \
     S(ordered_dynamic, Cut::chunks, 0),                                                           \
     S(ordered_guided, Cut::at_least, 0)}
static const std::vector<Schedule<long>> long_schedules SCHEDULES(SCHEDULE);
static const std::vector<Schedule<Ull>> ull_schedules SCHEDULES(SCHEDULE_ULL);
static const std::vector<Schedule<long>> &schedules(long) {
    return long_schedules;
}
static const std::vector<Schedule<Ull>> &schedules(Ull) {
    return ull_schedules;
}

template <class T>
void Case<T>::operator()() const {
    std::fprintf(stderr, "%s %lld .. %lld by %lld, %s, family %d, chunk %lld:",
                 std::is_signed_v<T> ? "long" : "ull", static_cast<long long>(loop.lower),
                 static_cast<long long>(loop.upper), static_cast<long long>(loop.step),
                 schedules(T{})[kind].name, how, static_cast<long long>(chunk));
}

static bool general_start(const Case<long> &c, long number, long *begin, long *end) {
    return GOMP_loop_start(c.loop.lower, c.loop.upper, c.loop.step, number, c.chunk, begin, end,
                           nullptr, nullptr);
}
static bool general_start(const Case<Ull> &c, long number, Ull *begin, Ull *end) {
    return GOMP_loop_ull_start(c.loop.step > 0, c.loop.lower, c.loop.upper,
                               static_cast<Ull>(c.loop.step), number, c.chunk, begin, end, nullptr,
                               nullptr);
}

template <class T>
static void run(const Case<T> &c, Member &member) {
    const Schedule<T> &schedule = schedules(T{})[c.kind];
    T begin = 0, end = 0;
    bool more = c.how == kStart      ? general_start(c, schedule.number, &begin, &end)
                : c.how == kCombined ? schedule.next(&begin, &end)
                                     : schedule.start(c, &begin, &end);
    for (; more; more = schedule.next(&begin, &end))
        member.got(c.piece(begin, end));
    GOMP_loop_end_nowait();
}

template <class T>
static void check(const Case<T> &c, const std::vector<Member> &members) {
    Cut cut = schedules(T{})[c.kind].cut;
    if (cut == Cut::round_robin && c.chunk == 0)
        cut = Cut::even;
    if (members.size() == 1)
        cut = Cut::any; // all at once is in order, too
    check_pieces(members, c.count(), cut, c.size(), false, c);
}

template <class T>
using Cases = std::vector<Case<T>>;

template <class T>
static void in_parallel(const Cases<T> &cases, int threads) {
    std::vector<std::vector<Member>> members(cases.size(), std::vector<Member>(threads));
#pragma omp parallel num_threads(threads)
    for (std::size_t i = 0; i < cases.size(); ++i)
        run(cases[i], members[i][omp_get_thread_num()]);
    for (std::size_t i = 0; i < cases.size(); ++i)
        check(cases[i], members[i]);
}

// parallel for, in one call.
static void combined(const Case<long> &c, int threads) {
    struct Shared {
        const Case<long> &c;
        std::vector<Member> members;
    } shared{c, std::vector<Member>(threads)};
    const auto body = [](void *data) {
        auto &all = *static_cast<Shared *>(data);
        run(all.c, all.members[omp_get_thread_num()]);
    };
    const auto function = c.kind == 0   ? GOMP_parallel_loop_static
                          : c.kind == 3 ? GOMP_parallel_loop_nonmonotonic_dynamic
                                        : GOMP_parallel_loop_nonmonotonic_guided;
    function(body, &shared, threads, c.loop.lower, c.loop.upper, c.loop.step, c.chunk, 0);
    check(c, shared.members);
}

template <class T>
static Cases<T> cases_of(How how) {
    Cases<T> cases;
    each_loop<T>([&](const Loop<T> &loop) {
        for (const auto chunk : edge_chunks<std::make_signed_t<T>>())
            for (int kind = 0; kind < static_cast<int>(schedules(T{}).size()); ++kind) {
                const Schedule<T> &schedule = schedules(T{})[kind];
                const Case<T> c{loop, how, kind, static_cast<T>(chunk)};
                if ((chunk == 0 && schedule.cut != Cut::round_robin) ||
                    (how == kStart && schedule.number == 0) ||
                    (how == kCombined && kind != 0 && kind != 3 && kind != 4))
                    continue;
                if (c.pieces() <= 64 || chunk == 0 || (schedule.cut == Cut::at_least && chunk > 3))
                    cases.push_back(c);
            }
    });
    return cases;
}

// schedule(runtime), and with its modifiers, where GCC calls GOMP_loop_start.
static void runtime_schedules(int threads) {
    omp_set_schedule(omp_sched_dynamic, 3);
    const long runtime[] = {0, 0 | 0x80000000L, 4}; // none, monotonic, nonmonotonic
    for (const long number : runtime) {
        const Case<long> c{{0, 100, 1}, kStart, 1, 3};
        std::vector<Member> members(threads);
#pragma omp parallel num_threads(threads)
        {
            long begin = 0, end = 0;
            bool more = general_start(c, number, &begin, &end);
            for (; more; more = GOMP_loop_runtime_next(&begin, &end))
                members[omp_get_thread_num()].got(c.piece(begin, end));
            GOMP_loop_end_nowait();
        }
        check(c, members);
    }
}

// ---- taskloop ----------------------------------------------------------------------------------

enum Flags { kUp = 1 << 8, kGrainsize = 1 << 9, kIf = 1 << 10, kStrict = 1 << 14 };

template <class T>
struct Bounds {
    T begin, end;
};
template <class T>
static std::vector<Bounds<T>> noted;

template <class T>
static void note(void *data) {
#pragma omp critical
    noted<T>.push_back(*static_cast<Bounds<T> *>(data));
}

template <class T>
static void taskloop(const Case<T> &c, unsigned flags, unsigned long value) {
    noted<T>.clear();
    Bounds<T> data{};
    if constexpr (std::is_signed_v<T>)
        GOMP_taskloop(note<T>, &data, nullptr, sizeof data, alignof(Bounds<T>), flags | kIf, value,
                      0, c.loop.lower, c.loop.upper, c.loop.step);
    else
        GOMP_taskloop_ull(note<T>, &data, nullptr, sizeof data, alignof(Bounds<T>),
                          flags | kIf | (c.loop.step > 0 ? kUp : 0), value, 0, c.loop.lower,
                          c.loop.upper, static_cast<Ull>(c.loop.step));
    std::vector<Member> members(1);
    for (const Bounds<T> &piece : noted<T>)
        members[0].got(c.piece(piece.begin, piece.end));
    const Cut cut = flags & kStrict                                   ? Cut::chunks
                    : (flags & kGrainsize) && Wide{value} < c.count() ? Cut::at_least
                                                                      : Cut::any;
    check_pieces(members, c.count(), cut, Wide{value}, false, [&] {
        c();
        std::fprintf(stderr, " (a taskloop, %x %lu)", flags, value);
    });
}

template <class T>
static void each_taskloop() {
    each_loop<T>([](const Loop<T> &loop) {
        const Case<T> c{loop, kNames, 0, 0};
        for (const unsigned long tasks : {0ul, 1ul, 7ul})
            taskloop(c, 0, tasks);
        for (const unsigned long grain : {1ul, 3ul, 1ul << 62, 1ul << 63, ~0ul})
            if (c.count() / grain <= 16) {
                taskloop(c, kGrainsize, grain);
                taskloop(c, kGrainsize | kStrict, grain);
            }
    });
}

int main() {
    const int threads = check_threads();
    for (const How how : {kNames, kStart}) {
        in_parallel(cases_of<long>(how), threads);
        in_parallel(cases_of<Ull>(how), threads);
    }
    const Cases<long> cases = cases_of<long>(kCombined);
    for (std::size_t i = 0; i < cases.size(); i += 7)
        combined(cases[i], threads);
    runtime_schedules(threads);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        each_taskloop<long>();
        each_taskloop<Ull>();
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// build: compiler=clang
// test: # stock libomp goes wrong where a chunk's or a thread's bounds pass the end of their type
// LLVM's entry points for loops, called as compilers' code calls them, for loops at the edges of
// the four types that they know: every schedule, both signs of the step, no iterations, chunks of
// all sizes, in parallel regions and in leagues, and taskloops (OpenMP 5.2, 11.5 to 11.7 and 12.6).
#include "loop_edges.h"

extern "C" {
#include "kmp_tasks.h"
void __kmpc_for_static_fini(void *, int);
struct LoopTask { // kmp_task_t of a taskloop
    Task task;
    std::uint64_t lower, upper;
    std::int64_t step;
    int last;
};
void __kmpc_taskloop(void *, int, Task *, int, std::uint64_t *, std::uint64_t *, std::int64_t, int,
                     int, std::uint64_t, void *);
}

static struct {
    int reserved, flags, more, size;
    const char *source;
} here{0, 2 | 512, 0, 22, ";loop_edges;main;1;1;;"};

template <class T>
struct Abi;
#define ABI(suffix, T, S)                                                                          \
    extern "C" {                                                                                   \
    void __kmpc_for_static_init_##suffix(void *, int, int, int *, T *, T *, S *, S, S);            \
    void __kmpc_dist_for_static_init_##suffix(void *, int, int, int *, T *, T *, T *, S *, S, S);  \
    void __kmpc_dispatch_init_##suffix(void *, int, int, T, T, S, S);                              \
    void __kmpc_dist_dispatch_init_##suffix(void *, int, int, int *, T, T, S, S);                  \
    int __kmpc_dispatch_next_##suffix(void *, int, int *, T *, T *, S *);                          \
    }                                                                                              \
    template <>                                                                                    \
    struct Abi<T> {                                                                                \
        static constexpr auto name = #suffix;                                                      \
        static constexpr auto static_init = __kmpc_for_static_init_##suffix;                       \
        static constexpr auto dist_for_static_init = __kmpc_dist_for_static_init_##suffix;         \
        static constexpr auto dispatch_init = __kmpc_dispatch_init_##suffix;                       \
        static constexpr auto dist_dispatch_init = __kmpc_dist_dispatch_init_##suffix;             \
        static constexpr auto dispatch_next = __kmpc_dispatch_next_##suffix;                       \
    };
ABI(4, std::int32_t, std::int32_t)
ABI(4u, std::uint32_t, std::int32_t)
ABI(8, std::int64_t, std::int64_t)
ABI(8u, std::uint64_t, std::int64_t)

enum Schedule { // kmp's numbers
    kStaticChunked = 33,
    kStatic = 34,
    kDynamic = 35,
    kGuided = 36,
    kTrapezoidal = 39,
    kOrderedStaticChunked = 65,
    kOrderedStatic = 66,
    kOrderedDynamic = 67,
    kOrderedGuided = 68,
    kDistributeChunked = 91,
    kDistribute = 92,
    kMonotonic = 1 << 29,
    kNonmonotonic = 1 << 30,
};

static int gtid() {
    return __kmpc_global_thread_num(&here);
}

template <class T>
struct Case {
    using S = std::make_signed_t<T>;
    Loop<T> loop;
    int schedule;
    S chunk;

    void operator()() const {
        std::fprintf(stderr, "_%s %lld .. %lld by %lld, schedule %x, chunk %lld:", Abi<T>::name,
                     static_cast<long long>(loop.lower), static_cast<long long>(loop.upper),
                     static_cast<long long>(loop.step), static_cast<unsigned>(schedule),
                     static_cast<long long>(chunk));
    }
    bool chunked() const { return schedule == kStaticChunked || schedule == kDistributeChunked; }
    Wide size() const { return std::max<Wide>(chunk, 1); }
    Wide pieces() const { return (loop.count() + size() - 1) / size(); }

    // LLVM's runtime counts modulo 2^n.
    bool can_be_counted() const {
        return loop.count() <= Wide{std::numeric_limits<std::make_unsigned_t<T>>::max()};
    }
    // Can compiled code with one piece after the other, `members` apart, run it? Its own counter
    // must not pass the end of the type.
    bool can_be_compiled(int members) const {
        const Wide beyond =
            chunked() && pieces() > members ? (pieces() - 1 + members) * size() : loop.count();
        return can_be_counted() && (!chunked() || (pieces() <= 64 && loop.has(loop.value(beyond))));
    }
};

// As clang's code compares: the pieces of *lower .. *upper, and `stride` further.
template <class T>
static void run_static(const Case<T> &c, T lower, T upper, T bound, std::make_signed_t<T> stride,
                       Member &member) {
    const bool up = c.loop.step > 0;
    for (;;) {
        if (up ? upper > bound : upper < bound)
            upper = bound;
        if (up ? lower > upper : lower < upper)
            return;
        if (!member.got(c.loop.piece(lower, upper)) || !c.chunked())
            return;
        lower = static_cast<T>(static_cast<Wide>(lower) + stride);
        upper = static_cast<T>(static_cast<Wide>(upper) + stride);
    }
}

// All cases in one region: nothing but the loops themselves keeps the members together.
template <class T>
using Cases = std::vector<Case<T>>;

template <class T, class Run, class Check>
static void in_parallel(const Cases<T> &cases, int threads, Run run, Check check) {
    std::vector<std::vector<Member>> members(cases.size(), std::vector<Member>(threads));
#pragma omp parallel num_threads(threads)
    for (std::size_t i = 0; i < cases.size(); ++i)
        run(cases[i], gtid(), members[i][omp_get_thread_num()]);
    for (std::size_t i = 0; i < cases.size(); ++i)
        check(cases[i], members[i]);
}

template <class T>
static void parallel_static(const Cases<T> &cases, int threads) {
    in_parallel<T>(
        cases, threads,
        [](const Case<T> &c, int thread, Member &member) {
            T lower = c.loop.lower, upper = c.loop.upper;
            std::make_signed_t<T> stride = 1;
            Abi<T>::static_init(&here, thread, c.schedule, &member.last, &lower, &upper, &stride,
                                c.loop.step, c.chunk);
            run_static(c, lower, upper, c.loop.upper, stride, member);
            __kmpc_for_static_fini(&here, thread);
        },
        [](const Case<T> &c, const std::vector<Member> &members) {
            check_pieces(members, c.loop.count(), c.chunked() ? Cut::round_robin : Cut::even,
                         c.size(), true, c);
        });
}

// As flang's code counts: upper - lower + 1 iterations, modulo 2^n, of a loop 0 .. count - 1.
template <class T>
static void parallel_counted(T count, int schedule, std::make_signed_t<T> chunk, int threads) {
    const Case<T> c{{0, static_cast<T>(count - 1), 1}, schedule, chunk};
    std::vector<Member> members(threads);
#pragma omp parallel num_threads(threads)
    {
        Member &member = members[omp_get_thread_num()];
        T lower = 0, upper = static_cast<T>(count - 1);
        std::make_signed_t<T> stride = 1;
        const int thread = gtid();
        Abi<T>::static_init(&here, thread, schedule, &member.last, &lower, &upper, &stride, 1,
                            chunk);
        const T length = upper - lower + 1;
        if (!c.chunked() && length != 0)
            member.got({lower, Wide{lower} + length});
        else if (c.chunked() && lower < count) {
            const T distance = count - lower, each = static_cast<T>(stride);
            const T more = distance <= each ? 0 : (distance - 1) / each;
            for (T i = 0; i <= more; ++i) {
                const T first = lower + i * each;
                member.got({first, Wide{first} + std::min<T>(length, count - first)});
            }
        }
        __kmpc_for_static_fini(&here, thread);
    }
    check_pieces(members, count, c.chunked() ? Cut::round_robin : Cut::even, c.size(), count != 0,
                 c);
}

template <class T>
static void take_pieces(const Case<T> &c, int thread, Member &member) {
    T lower = 0, upper = 0;
    std::make_signed_t<T> step = 0;
    while (Abi<T>::dispatch_next(&here, thread, &member.last, &lower, &upper, &step)) {
        CHECK(step == c.loop.step);
        member.got(c.loop.piece(lower, upper));
    }
}

static Cut cut_of(int schedule, int threads) {
    if (schedule == (kDynamic | kNonmonotonic) && threads == 1)
        return Cut::any; // all at once is in order, too
    switch (schedule & ~(kMonotonic | kNonmonotonic)) {
    case kStatic:
    case kOrderedStatic:
        return Cut::even;
    case kStaticChunked:
    case kOrderedStaticChunked:
        return Cut::round_robin;
    case kDynamic:
    case kOrderedDynamic:
        return Cut::chunks;
    case kGuided:
    case kOrderedGuided:
        return Cut::at_least;
    }
    return Cut::any;
}

template <class T>
static void parallel_dispatch(const Cases<T> &cases, int threads) {
    in_parallel<T>(
        cases, threads,
        [](const Case<T> &c, int thread, Member &member) {
            Abi<T>::dispatch_init(&here, thread, c.schedule, c.loop.lower, c.loop.upper,
                                  c.loop.step, c.chunk);
            take_pieces(c, thread, member);
        },
        [](const Case<T> &c, const std::vector<Member> &members) {
            check_pieces(members, c.loop.count(),
                         cut_of(c.schedule, static_cast<int>(members.size())), c.size(), true, c);
        });
}

// distribute, and distribute parallel for, in a league of `teams` with `threads` threads each.
enum class League { distribute, parallel_static, parallel_dispatch };

template <class T>
static void run_in_league(League kind, const Case<T> &c, Member &member) {
    T lower = c.loop.lower, upper = c.loop.upper, bound = upper;
    std::make_signed_t<T> stride = 1;
    const int thread = gtid();
    if (kind == League::parallel_dispatch) {
        int last_team = 0;
        Abi<T>::dist_dispatch_init(&here, thread, c.schedule, &last_team, lower, upper, c.loop.step,
                                   c.chunk);
        return take_pieces(c, thread, member);
    }
    if (kind == League::distribute)
        Abi<T>::static_init(&here, thread, c.schedule, &member.last, &lower, &upper, &stride,
                            c.loop.step, c.chunk);
    else
        Abi<T>::dist_for_static_init(&here, thread, c.schedule, &member.last, &lower, &upper,
                                     &bound, &stride, c.loop.step, c.chunk);
    run_static(c, lower, upper, bound, stride, member);
    __kmpc_for_static_fini(&here, thread);
}

template <class T>
static void league(League kind, const Cases<T> &cases, int teams, int threads) {
    std::vector<std::vector<Member>> members(cases.size(), std::vector<Member>(teams * threads));
#pragma omp teams num_teams(teams) thread_limit(threads)
    {
        const int first = omp_get_team_num() * threads;
        const auto run_all = [&](int thread) {
            for (std::size_t i = 0; i < cases.size(); ++i)
                run_in_league(kind, cases[i], members[i][first + thread]);
        };
        if (kind == League::distribute) {
            run_all(0);
        } else {
#pragma omp parallel num_threads(threads)
            run_all(omp_get_thread_num());
        }
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case<T> &c = cases[i];
        const Cut cut = kind != League::distribute ? Cut::any
                        : c.chunked()              ? Cut::round_robin
                                                   : Cut::even;
        check_pieces(members[i], c.loop.count(), cut, c.size(), kind != League::parallel_dispatch,
                     c);
    }
}

template <class T>
static void each_static(int threads) {
    Cases<T> alone, teams;
    each_loop<T>([&](const Loop<T> &loop) {
        for (const auto chunk : edge_chunks<std::make_signed_t<T>>()) {
            Case<T> c{loop, chunk ? kStaticChunked : kStatic, chunk};
            if (c.can_be_compiled(threads))
                alone.push_back(c);
            c.schedule = chunk ? kDistributeChunked : kDistribute;
            if (c.can_be_compiled(2))
                teams.push_back(c);
        }
    });
    parallel_static(alone, threads);
    league(League::distribute, teams, 2, 1);
}

// Few bounds are enough where a piece is handed out at a time.
template <class T>
static void each_dispatch(int threads) {
    using S = std::make_signed_t<T>;
    using Limits = std::numeric_limits<T>;
    const T bounds[] = {Limits::min(), static_cast<T>(Limits::min() + 9), Limits::max() / 2,
                        Limits::max() - 9, Limits::max()};
    Cases<T> alone, shared, dispatched;
    const auto add = [&](const Loop<T> &loop, S chunk) {
        Case<T> c{loop, 0, chunk};
        if (!c.can_be_counted())
            return;
        for (const int schedule :
             {int{kStaticChunked}, int{kStatic}, kDynamic | kMonotonic, kDynamic | kNonmonotonic,
              int{kGuided}, int{kTrapezoidal}, int{kOrderedStaticChunked}, int{kOrderedStatic},
              int{kOrderedDynamic}, int{kOrderedGuided}}) {
            c.schedule = schedule;
            const Cut cut = cut_of(schedule, threads);
            if (c.pieces() <= 64 || cut == Cut::even || (cut == Cut::at_least && chunk > 3))
                alone.push_back(c);
        }
        c.schedule = kDynamic;
        if (c.pieces() <= 64)
            dispatched.push_back(c);
        c.schedule = chunk ? kStaticChunked : kStatic;
        if (c.can_be_compiled(1))
            shared.push_back(c);
    };
    for (const T lower : bounds)
        for (const T upper : bounds)
            for (const S step : edge_steps<S>())
                for (const S chunk : edge_chunks<S>())
                    add({lower, upper, step}, chunk);
    parallel_dispatch(alone, threads);
    league(League::parallel_static, shared, 2, 2);
    league(League::parallel_dispatch, dispatched, 2, 2);
}

template <class T>
static void each_type(int threads) {
    each_static<T>(threads);
    each_dispatch<T>(threads);
}

template <class T>
static void each_counted(int threads) {
    using S = std::make_signed_t<T>;
    for (const T count :
         {T{0}, T{1}, T{2}, T{3}, T{7}, T{8}, T{9}, T{100},
          static_cast<T>(std::numeric_limits<T>::max() - 1), std::numeric_limits<T>::max()})
        for (const S chunk : edge_chunks<S>())
            if (chunk == 0 || Wide{count} / chunk <= 200)
                parallel_counted<T>(count, chunk ? kStaticChunked : kStatic, chunk, threads);
}

// ---- taskloop ----------------------------------------------------------------------------------

struct Noted {
    std::uint64_t lower, upper;
};
static std::vector<Noted> noted;

static int note(int, Task *task) {
    const auto *loop = reinterpret_cast<const LoopTask *>(task);
#pragma omp critical
    noted.push_back({loop->lower, loop->upper});
    return 0;
}

enum Sizing { kDefault, kGrainsize, kTasks };

template <class T>
static void taskloop(const Loop<T> &loop, Sizing sizing, std::uint64_t value) {
    noted.clear();
    auto *task = reinterpret_cast<LoopTask *>(
        __kmpc_omp_task_alloc(&here, gtid(), 1, sizeof(LoopTask), 0, note));
    task->lower = static_cast<std::uint64_t>(loop.lower);
    task->upper = static_cast<std::uint64_t>(loop.upper);
    task->step = loop.step;
    __kmpc_taskloop(&here, gtid(), &task->task, 1, &task->lower, &task->upper, loop.step, 0, sizing,
                    value, nullptr);
    std::vector<Member> members(1);
    for (const Noted &piece : noted)
        members[0].got(loop.piece(static_cast<T>(piece.lower), static_cast<T>(piece.upper)));
    const bool grains = sizing == kGrainsize && value < static_cast<std::uint64_t>(loop.count());
    check_pieces(members, loop.count(), grains ? Cut::at_least : Cut::any, static_cast<Wide>(value),
                 false, [&] {
                     std::fprintf(stderr, "taskloop %lld .. %lld by %lld, %d %llu:",
                                  static_cast<long long>(loop.lower),
                                  static_cast<long long>(loop.upper),
                                  static_cast<long long>(loop.step), sizing,
                                  static_cast<unsigned long long>(value));
                 });
}

template <class T>
static void each_taskloop() {
    each_loop<T>([](const Loop<T> &loop) {
        // The compiler's tasks test whether the loop is empty; here they do not.
        const Wide count = loop.count();
        if (count == 0 || count > Wide{~0ull})
            return;
        taskloop(loop, kDefault, 0);
        for (const std::uint64_t tasks : {1ull, 7ull})
            taskloop(loop, kTasks, tasks);
        for (const std::uint64_t grain : {1ull, 3ull, 1ull << 62, 1ull << 63, ~0ull})
            if (count / grain <= 16)
                taskloop(loop, kGrainsize, grain);
    });
}

int main() {
    const int threads = check_threads();
    each_type<std::int32_t>(threads);
    each_type<std::uint32_t>(threads);
    each_type<std::int64_t>(threads);
    each_type<std::uint64_t>(threads);
    each_counted<std::uint32_t>(threads);
    each_counted<std::uint64_t>(threads);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        each_taskloop<std::int64_t>();
        each_taskloop<std::uint64_t>();
    }
    return 0;
}

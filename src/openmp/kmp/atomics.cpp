// SPDX-License-Identifier: Apache-2.0
// __kmpc_atomic_*: what compilers of LLVM's ABI, Intel's above all, call for `atomic` (OpenMP 5.2,
// 15.8.4). A name says a type, an operation and a form: `_cpt` captures the value from before or
// after, `_rev` has the operands the other way round, `_fp` (Intel's) and `_float8` have a wider
// right operand, in whose type they compute.
//
// What the processor changes in one piece is changed by compare and exchange; other types share one
// lock, also with __kmpc_atomic_start. Reads and writes of a type do as its updates do.
#include "openmp/kmp/kmp.h"
#include "openmp/sync/sync.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;

namespace {

using Quad = __float128;
using Complex4 = __complex__ float;
using Complex8 = __complex__ double;
using Complex10 = __complex__ long double;
typedef __complex__ float Complex16 __attribute__((mode(TC))); // of two Quads

// ---- operations: the wider operand's type is the result's ---------------------------------------

// Integers wrap around, as the atomic operations of C do.
#define SENNIT_RING(name, operation)                                                               \
    struct op_##name {                                                                             \
        template <class A, class B>                                                                \
        static auto of(A a, B b) {                                                                 \
            if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)                          \
                return static_cast<std::uint64_t>(a) operation static_cast<std::uint64_t>(b);      \
            else                                                                                   \
                return a operation b;                                                              \
        }                                                                                          \
    };
SENNIT_RING(add, +)
SENNIT_RING(sub, -)
SENNIT_RING(mul, *)

#define SENNIT_OPERATION(name, result)                                                             \
    struct op_##name {                                                                             \
        template <class A, class B>                                                                \
        static auto of(A a, B b) {                                                                 \
            return result;                                                                         \
        }                                                                                          \
    };
SENNIT_OPERATION(div, a / b)
SENNIT_OPERATION(min, a > b ? b : a)
SENNIT_OPERATION(max, a < b ? b : a)
SENNIT_OPERATION(shl, a << b)
SENNIT_OPERATION(shr, a >> b)
SENNIT_OPERATION(andb, (a & b))
SENNIT_OPERATION(orb, a | b)
SENNIT_OPERATION(xor, a ^ b)
SENNIT_OPERATION(eqv, a ^ ~b)
SENNIT_OPERATION(andl, (a && b))
SENNIT_OPERATION(orl, a || b)
using op_neqv = op_xor;

template <class Operation>
struct Reversed {
    template <class A, class B>
    static auto of(A a, B b) {
        return Operation::of(b, a);
    }
};

struct Replace {
    template <class A, class B>
    static B of(A, B b) {
        return b;
    }
};

// ---- access -------------------------------------------------------------------------------------

template <class T>
constexpr bool kInOnePiece = sizeof(T) <= 8 && alignof(T) == sizeof(T);

template <class T>
struct Change {
    T before;
    T after;
    T captured(int after_it) const { return after_it ? after : before; }
};

template <class T, class Next>
Change<T> change(T *place, Next next) {
    Change<T> done;
    if constexpr (kInOnePiece<T>) {
        __atomic_load(place, &done.before, __ATOMIC_RELAXED);
        do
            done.after = next(done.before);
        while (!__atomic_compare_exchange(place, &done.before, &done.after, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    } else {
        omp::atomic_mutex().lock();
        done.before = *place;
        done.after = next(done.before);
        *place = done.after;
        omp::atomic_mutex().unlock();
    }
    return done;
}

template <class Operation, class T, class R>
Change<T> update(T *place, R value) {
    return change(place, [=](T old) { return static_cast<T>(Operation::of(old, value)); });
}

template <class T>
T load(T *place) {
    T value;
    if constexpr (kInOnePiece<T>) {
        __atomic_load(place, &value, __ATOMIC_SEQ_CST);
    } else {
        omp::atomic_mutex().lock();
        value = *place;
        omp::atomic_mutex().unlock();
    }
    return value;
}

template <class T>
struct Swap {
    bool done;
    T before;
};
template <class T>
Swap<T> compare_and_swap(T *place, T expected, T desired) {
    const bool done = __atomic_compare_exchange_n(place, &expected, desired, false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return {done, expected};
}

} // namespace

// ---- the families -------------------------------------------------------------------------------

// How a captured value comes back: as the result, or (two floats) at an address.
#define SENNIT_RETURN_VALUE(name, T, R, ...)                                                       \
    KMP_API T __kmpc_atomic_##name(Ident *, Gtid, T *place, R value, int after_it) {               \
        return update<__VA_ARGS__>(place, value).captured(after_it);                               \
    }
#define SENNIT_STORE_VALUE(name, T, R, ...)                                                        \
    KMP_API void __kmpc_atomic_##name(Ident *, Gtid, T *place, R value, T *out, int after_it) {    \
        *out = update<__VA_ARGS__>(place, value).captured(after_it);                               \
    }
#define SENNIT_NO_VALUE(name, T, R, ...)                                                           \
    KMP_API void __kmpc_atomic_##name(Ident *, Gtid, T *place, R value) {                          \
        update<__VA_ARGS__>(place, value);                                                         \
    }

#define SENNIT_UPDATE(type, T, op, CAPTURE)                                                        \
    SENNIT_NO_VALUE(type##_##op, T, T, op_##op)                                                    \
    CAPTURE(type##_##op##_cpt, T, T, op_##op)
#define SENNIT_REVERSE(type, T, op, CAPTURE)                                                       \
    SENNIT_NO_VALUE(type##_##op##_rev, T, T, Reversed<op_##op>)                                    \
    CAPTURE(type##_##op##_cpt_rev, T, T, Reversed<op_##op>)

#define SENNIT_ARITHMETIC(type, T, CAPTURE)                                                        \
    SENNIT_UPDATE(type, T, add, CAPTURE)                                                           \
    SENNIT_UPDATE(type, T, sub, CAPTURE)                                                           \
    SENNIT_UPDATE(type, T, mul, CAPTURE)                                                           \
    SENNIT_UPDATE(type, T, div, CAPTURE)                                                           \
    SENNIT_REVERSE(type, T, sub, CAPTURE)                                                          \
    SENNIT_REVERSE(type, T, div, CAPTURE)                                                          \
    KMP_API T __kmpc_atomic_##type##_rd(Ident *, Gtid, T *place) {                                 \
        return load(place);                                                                        \
    }                                                                                              \
    SENNIT_NO_VALUE(type##_wr, T, T, Replace)

#define SENNIT_EXCHANGE(type, T)                                                                   \
    KMP_API T __kmpc_atomic_##type##_swp(Ident *, Gtid, T *place, T value) {                       \
        return update<Replace>(place, value).before;                                               \
    }
#define SENNIT_ORDER(type, T)                                                                      \
    SENNIT_UPDATE(type, T, min, SENNIT_RETURN_VALUE)                                               \
    SENNIT_UPDATE(type, T, max, SENNIT_RETURN_VALUE)
#define SENNIT_BITS(type, T)                                                                       \
    SENNIT_UPDATE(type, T, andb, SENNIT_RETURN_VALUE)                                              \
    SENNIT_UPDATE(type, T, orb, SENNIT_RETURN_VALUE)                                               \
    SENNIT_UPDATE(type, T, xor, SENNIT_RETURN_VALUE)                                               \
    SENNIT_UPDATE(type, T, eqv, SENNIT_RETURN_VALUE)                                               \
    SENNIT_UPDATE(type, T, neqv, SENNIT_RETURN_VALUE)                                              \
    SENNIT_UPDATE(type, T, andl, SENNIT_RETURN_VALUE)                                              \
    SENNIT_UPDATE(type, T, orl, SENNIT_RETURN_VALUE)                                               \
    SENNIT_UPDATE(type, T, shl, SENNIT_RETURN_VALUE)                                               \
    SENNIT_REVERSE(type, T, shl, SENNIT_RETURN_VALUE)
// Where signed and unsigned integers differ.
#define SENNIT_SIGN(type, T)                                                                       \
    SENNIT_UPDATE(type, T, shr, SENNIT_RETURN_VALUE)                                               \
    SENNIT_REVERSE(type, T, shr, SENNIT_RETURN_VALUE)

#define SENNIT_WIDER(type, T, op)                                                                  \
    SENNIT_NO_VALUE(type##_##op##_fp, T, Quad, op_##op)                                            \
    SENNIT_RETURN_VALUE(type##_##op##_cpt_fp, T, Quad, op_##op)
#define SENNIT_WIDER_REVERSE(type, T, op)                                                          \
    SENNIT_NO_VALUE(type##_##op##_rev_fp, T, Quad, Reversed<op_##op>)                              \
    SENNIT_RETURN_VALUE(type##_##op##_cpt_rev_fp, T, Quad, Reversed<op_##op>)
#define SENNIT_QUADS(type, T)                                                                      \
    SENNIT_WIDER(type, T, add)                                                                     \
    SENNIT_WIDER(type, T, sub)                                                                     \
    SENNIT_WIDER(type, T, mul)                                                                     \
    SENNIT_WIDER(type, T, div)                                                                     \
    SENNIT_WIDER_REVERSE(type, T, sub)                                                             \
    SENNIT_WIDER_REVERSE(type, T, div)

#define SENNIT_INTEGER(bytes, T, U)                                                                \
    SENNIT_ARITHMETIC(fixed##bytes, T, SENNIT_RETURN_VALUE)                                        \
    SENNIT_EXCHANGE(fixed##bytes, T)                                                               \
    SENNIT_ORDER(fixed##bytes, T)                                                                  \
    SENNIT_BITS(fixed##bytes, T)                                                                   \
    SENNIT_SIGN(fixed##bytes, T)                                                                   \
    SENNIT_SIGN(fixed##bytes##u, U)                                                                \
    SENNIT_UPDATE(fixed##bytes##u, U, div, SENNIT_RETURN_VALUE)                                    \
    SENNIT_REVERSE(fixed##bytes##u, U, div, SENNIT_RETURN_VALUE)                                   \
    SENNIT_NO_VALUE(fixed##bytes##_mul_float8, T, double, op_mul)                                  \
    SENNIT_NO_VALUE(fixed##bytes##_div_float8, T, double, op_div)                                  \
    SENNIT_QUADS(fixed##bytes, T)                                                                  \
    SENNIT_QUADS(fixed##bytes##u, U)
SENNIT_INTEGER(1, std::int8_t, std::uint8_t)
SENNIT_INTEGER(2, std::int16_t, std::uint16_t)
SENNIT_INTEGER(4, std::int32_t, std::uint32_t)
SENNIT_INTEGER(8, std::int64_t, std::uint64_t)

#define SENNIT_REAL(type, T)                                                                       \
    SENNIT_ARITHMETIC(type, T, SENNIT_RETURN_VALUE)                                                \
    SENNIT_EXCHANGE(type, T)                                                                       \
    SENNIT_ORDER(type, T)
SENNIT_REAL(float4, float)
SENNIT_REAL(float8, double)
SENNIT_REAL(float10, long double)
SENNIT_REAL(float16, Quad)
SENNIT_QUADS(float4, float)
SENNIT_QUADS(float8, double)
SENNIT_QUADS(float10, long double)
SENNIT_NO_VALUE(float4_add_float8, float, double, op_add)
SENNIT_NO_VALUE(float4_sub_float8, float, double, op_sub)
SENNIT_NO_VALUE(float4_mul_float8, float, double, op_mul)
SENNIT_NO_VALUE(float4_div_float8, float, double, op_div)

SENNIT_ARITHMETIC(cmplx4, Complex4, SENNIT_STORE_VALUE)
KMP_API void __kmpc_atomic_cmplx4_swp(Ident *, Gtid, Complex4 *place, Complex4 value,
                                      Complex4 *out) {
    *out = update<Replace>(place, value).before;
}
SENNIT_NO_VALUE(cmplx4_add_cmplx8, Complex4, Complex8, op_add)
SENNIT_NO_VALUE(cmplx4_sub_cmplx8, Complex4, Complex8, op_sub)
SENNIT_NO_VALUE(cmplx4_mul_cmplx8, Complex4, Complex8, op_mul)
SENNIT_NO_VALUE(cmplx4_div_cmplx8, Complex4, Complex8, op_div)

#define SENNIT_COMPLEX(type, T)                                                                    \
    SENNIT_ARITHMETIC(type, T, SENNIT_RETURN_VALUE)                                                \
    SENNIT_EXCHANGE(type, T)
SENNIT_COMPLEX(cmplx8, Complex8)
SENNIT_COMPLEX(cmplx10, Complex10)
SENNIT_COMPLEX(cmplx16, Complex16)

// Any operation: compute(result, left, right) on objects of so many bytes.
#define SENNIT_COMPUTED(bytes, ...)                                                                \
    KMP_API void __kmpc_atomic_##bytes(Ident *, Gtid, void *place, void *value,                    \
                                       void (*compute)(void *, void *, void *)) {                  \
        change(static_cast<__VA_ARGS__ *>(place), [=](__VA_ARGS__ old) {                           \
            __VA_ARGS__ fresh;                                                                     \
            compute(&fresh, &old, value);                                                          \
            return fresh;                                                                          \
        });                                                                                        \
    }
namespace {
template <std::size_t bytes>
struct Bytes {
    unsigned char bytes_[bytes];
};
} // namespace
SENNIT_COMPUTED(1, std::uint8_t)
SENNIT_COMPUTED(2, std::uint16_t)
SENNIT_COMPUTED(4, std::uint32_t)
SENNIT_COMPUTED(8, std::uint64_t)
SENNIT_COMPUTED(10, Bytes<10>)
SENNIT_COMPUTED(16, Bytes<16>)
SENNIT_COMPUTED(20, Bytes<20>)
SENNIT_COMPUTED(32, Bytes<32>)

// atomic compare: `bool_` tells whether it stored, `val_` what was there; `_cpt` captures, `bool_`
// only what kept it from storing.
#define SENNIT_COMPARE(bytes, T)                                                                   \
    KMP_API bool __kmpc_atomic_bool_##bytes##_cas(Ident *, Gtid, T *place, T expected,             \
                                                  T desired) {                                     \
        return compare_and_swap(place, expected, desired).done;                                    \
    }                                                                                              \
    KMP_API T __kmpc_atomic_val_##bytes##_cas(Ident *, Gtid, T *place, T expected, T desired) {    \
        return compare_and_swap(place, expected, desired).before;                                  \
    }                                                                                              \
    KMP_API bool __kmpc_atomic_bool_##bytes##_cas_cpt(Ident *, Gtid, T *place, T expected,         \
                                                      T desired, T *captured) {                    \
        const Swap<T> swap = compare_and_swap(place, expected, desired);                           \
        if (!swap.done)                                                                            \
            *captured = swap.before;                                                               \
        return swap.done;                                                                          \
    }                                                                                              \
    KMP_API T __kmpc_atomic_val_##bytes##_cas_cpt(Ident *, Gtid, T *place, T expected, T desired,  \
                                                  T *captured) {                                   \
        const Swap<T> swap = compare_and_swap(place, expected, desired);                           \
        *captured = swap.done ? desired : swap.before;                                             \
        return swap.before;                                                                        \
    }
SENNIT_COMPARE(1, std::int8_t)
SENNIT_COMPARE(2, std::int16_t)
SENNIT_COMPARE(4, std::int32_t)
SENNIT_COMPARE(8, std::int64_t)

// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/reduction.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/crowd/broadcast.h"

namespace sennit::mpi {
namespace {

// The groups of datatypes of MPI 4.0, section 6.9.2, and what it allows with them.
enum Kind : unsigned {
    kInteger = 1,
    kFortranInteger = 2,
    kReal = 4,
    kLogical = 8,
    kComplex = 16,
    kByte = 32,
    kAddress = 64, // "multi-language types"
    kPair = 128,
};

struct Type {
    MPI_Datatype type; // one that the MPI lacks is MPI_DATATYPE_NULL
    unsigned kind;
};

// Those of most programs first. Open MPI's are addresses that are known when the program runs.
const Type kTypes[] = {
    {MPI_DOUBLE, kReal},
    {MPI_INT, kInteger},
    {MPI_LONG, kInteger},
    {MPI_FLOAT, kReal},
    {MPI_DOUBLE_PRECISION, kReal},
    {MPI_INTEGER, kFortranInteger},
    {MPI_REAL, kReal},
    {MPI_INT64_T, kInteger},
    {MPI_UINT64_T, kInteger},
    {MPI_UNSIGNED_LONG, kInteger},
    {MPI_LONG_LONG, kInteger},
    {MPI_UNSIGNED_LONG_LONG, kInteger},
    {MPI_UNSIGNED, kInteger},
    {MPI_INT32_T, kInteger},
    {MPI_UINT32_T, kInteger},
    {MPI_SHORT, kInteger},
    {MPI_UNSIGNED_SHORT, kInteger},
    {MPI_INT16_T, kInteger},
    {MPI_UINT16_T, kInteger},
    {MPI_SIGNED_CHAR, kInteger},
    {MPI_UNSIGNED_CHAR, kInteger},
    {MPI_INT8_T, kInteger},
    {MPI_UINT8_T, kInteger},
    {MPI_LONG_DOUBLE, kReal},
    {MPI_C_BOOL, kLogical},
    {MPI_LOGICAL, kLogical},
    {MPI_BYTE, kByte},
    {MPI_AINT, kAddress},
    {MPI_OFFSET, kAddress},
    {MPI_COUNT, kAddress},
    {MPI_C_FLOAT_COMPLEX, kComplex},
    {MPI_C_DOUBLE_COMPLEX, kComplex},
    {MPI_C_LONG_DOUBLE_COMPLEX, kComplex},
    {MPI_COMPLEX, kComplex},
    {MPI_DOUBLE_COMPLEX, kComplex},
    {MPI_INTEGER1, kFortranInteger},
    {MPI_INTEGER2, kFortranInteger},
    {MPI_INTEGER4, kFortranInteger},
    {MPI_INTEGER8, kFortranInteger},
    {MPI_REAL4, kReal},
    {MPI_REAL8, kReal},
    {MPI_FLOAT_INT, kPair},
    {MPI_DOUBLE_INT, kPair},
    {MPI_LONG_INT, kPair},
    {MPI_2INT, kPair},
    {MPI_SHORT_INT, kPair},
    {MPI_LONG_DOUBLE_INT, kPair},
    {MPI_2REAL, kPair},
    {MPI_2DOUBLE_PRECISION, kPair},
    {MPI_2INTEGER, kPair},
};
constexpr std::size_t kMostTypes = sizeof kTypes / sizeof *kTypes;

std::size_t g_extents[kMostTypes]; // written by learn_types(); 0: the MPI has no such type

struct Op {
    MPI_Op op;
    unsigned kinds;
};
constexpr unsigned kNumbers = kInteger | kFortranInteger | kReal | kAddress;
constexpr unsigned kBits = kInteger | kFortranInteger | kByte | kAddress;
const Op kOps[] = {
    {MPI_SUM, kNumbers | kComplex},
    {MPI_MAX, kNumbers},
    {MPI_MIN, kNumbers},
    {MPI_PROD, kNumbers | kComplex},
    {MPI_LAND, kInteger | kLogical},
    {MPI_LOR, kInteger | kLogical},
    {MPI_LXOR, kInteger | kLogical},
    {MPI_BAND, kBits},
    {MPI_BOR, kBits},
    {MPI_BXOR, kBits},
    {MPI_MAXLOC, kPair},
    {MPI_MINLOC, kPair},
};
constexpr std::uint32_t kNone = sizeof kOps / sizeof *kOps;

// Its place among them.
std::uint32_t number_of(MPI_Op op) {
    std::uint32_t i = 0;
    while (i < kNone && kOps[i].op != op)
        ++i;
    return i;
}

} // namespace

void Reduction::learn_types() {
    static constexpr auto get_extent = SENNIT_BARE(Type_get_extent);
    const Inside inside;
    for (std::size_t i = 0; i < kMostTypes; ++i) {
        MPI_Aint least = 0;
        MPI_Aint extent = 0;
        if (kTypes[i].type != MPI_DATATYPE_NULL &&
            get_extent(kTypes[i].type, &least, &extent) == MPI_SUCCESS && extent > 0)
            g_extents[i] = static_cast<std::size_t>(extent);
    }
}

bool Reduction::fits(std::size_t most) {
    known = look_up();
    return known && bytes <= most;
}

bool Reduction::look_up() {
    if (count <= 0)
        return false;
    if (!has_root() && !may_take_part(true))
        return false;
    for (std::size_t i = 0; i < kMostTypes; ++i) {
        if (kTypes[i].type != type)
            continue;
        bytes = static_cast<std::size_t>(count) * g_extents[i];
        const std::uint32_t of_op = number_of(op);
        return bytes != 0 && of_op != kNone && (kOps[of_op].kinds & kTypes[i].kind) != 0;
    }
    return false;
}

std::uint32_t Reduction::number() const {
    if (bytes == 0 && combines)
        return CallNumber::kBarrier;
    if (has_root())
        return CallNumber::of(CallNumber::kReduce + number_of(op), bytes, root);
    return CallNumber::of(combines ? number_of(op) : CallNumber::kExchange, bytes);
}

std::uint32_t Reduction::longer_number() const {
    return CallNumber::of_longer(number_of(op));
}

bool Reduction::combine(const void *a, void *b) const {
    static constexpr auto reduce = SENNIT_BARE(Reduce_local);
    return reduce(a, b, static_cast<int>(count), type, op) == MPI_SUCCESS;
}

} // namespace sennit::mpi

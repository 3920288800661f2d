// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/broadcast.h"

#include "base/spin.h"
#include "mpi/call/bare.h"
#include "mpi/crowd/crowd.h"
#include "mpi/crowd/length.h"

#include <cstring>

namespace sennit::mpi {

bool Broadcast::fits(std::size_t most) {
    if (count_ <= 0 || root_ < 0 || buffer_ == MPI_IN_PLACE || type_ == MPI_DATATYPE_NULL)
        return false;
    is_plain_ = is_common(type_);
    if (!is_plain_ && !is_accepted(type_))
        return false;
    const std::int64_t bytes = message_length(count_, type_);
    bytes_ = static_cast<std::size_t>(bytes);
    is_sound_ = bytes > 0 && (buffer_ || !is_plain_); // others may have addresses
    return is_sound_ && bytes_ <= most;
}

int Broadcast::pack(void *into, MPI_Comm comm) const {
    static constexpr auto pack = SENNIT_BARE(Pack);
    if (is_plain_) {
        std::memcpy(into, buffer_, bytes_);
        return MPI_SUCCESS;
    }
    return among_addresses([&](void *buffer, int count, MPI_Datatype type) {
        int end = 0;
        return pack(buffer, count, type, into, static_cast<int>(bytes_), &end, comm);
    });
}

int Broadcast::unpack(const void *from, std::size_t bytes, MPI_Comm comm) const {
    static constexpr auto unpack = SENNIT_BARE(Unpack);
    if (is_plain_) {
        copy_shared(buffer_, from, bytes);
        return MPI_SUCCESS;
    }
    return among_addresses([&](void *buffer, int count, MPI_Datatype type) {
        int begin = 0;
        return unpack(from, static_cast<int>(bytes), &begin, buffer, count, type, comm);
    });
}

// MPICH neither packs nor unpacks at MPI_BOTTOM. So the type begins as far below this object as
// the object is above MPI_BOTTOM.
template <class Copy>
int Broadcast::among_addresses(Copy copy) const {
    static constexpr auto shift = SENNIT_BARE(Type_create_hindexed);
    static constexpr auto commit = SENNIT_BARE(Type_commit);
    static constexpr auto free = SENNIT_BARE(Type_free);
    const int count = static_cast<int>(count_);
    if (buffer_)
        return copy(buffer_, count, type_);
    const MPI_Aint below = -reinterpret_cast<MPI_Aint>(this);
    MPI_Datatype shifted = MPI_DATATYPE_NULL;
    int error = shift(1, &count, &below, type_, &shifted);
    if (error != MPI_SUCCESS)
        return error;
    error = commit(&shifted);
    if (error == MPI_SUCCESS)
        error = copy(const_cast<Broadcast *>(this), 1, shifted);
    free(&shifted);
    return error;
}

// Open MPI does not mind a receiver that expects more.
int Broadcast::judge(std::size_t bytes) const {
#ifdef OPEN_MPI
    return bytes <= bytes_ ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
#else
    return bytes == bytes_ ? MPI_SUCCESS : bytes < bytes_ ? MPI_ERR_OTHER : MPI_ERR_TRUNCATE;
#endif
}

} // namespace sennit::mpi

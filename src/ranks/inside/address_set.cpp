// SPDX-License-Identifier: Apache-2.0
#include "ranks/inside/address_set.h"

#include "base/system_call.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace sennit::loader::inside {
namespace {

constexpr std::size_t kFirstSize = 4096;

// Null: there is none.
Range *grown(Range *old, std::size_t old_size, std::size_t size) {
    const long result =
        old ? system_call(SYS_mremap, reinterpret_cast<long>(old), static_cast<long>(old_size),
                          static_cast<long>(size), MREMAP_MAYMOVE, 0, 0)
            : system_call(SYS_mmap, 0, static_cast<long>(size), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return result > 0 ? reinterpret_cast<Range *>(result) : nullptr;
}

} // namespace

std::size_t AddressSet::find(std::uintptr_t address) const {
    return static_cast<std::size_t>(
        std::lower_bound(ranges_, ranges_ + count_, address,
                         [](const Range &range, std::uintptr_t at) { return range.high < at; }) -
        ranges_);
}

// For one range more.
bool AddressSet::has_room() {
    if (count_ < capacity_)
        return true;
    const std::size_t now = capacity_ * sizeof(Range);
    const std::size_t size = std::max(2 * now, kFirstSize);
    Range *const memory = grown(ranges_, now, size);
    if (!memory)
        return false;
    ranges_ = memory;
    capacity_ = size / sizeof(Range);
    return true;
}

void AddressSet::replace(std::size_t first, std::size_t last, const Range *by, std::size_t count) {
    std::memmove(ranges_ + first + count, ranges_ + last, (count_ - last) * sizeof(Range));
    std::copy(by, by + count, ranges_ + first);
    count_ = count_ - (last - first) + count;
}

void AddressSet::add(Range range) {
    if (range.empty() || !has_room())
        return;
    const std::size_t first = find(range.low);
    std::size_t last = first;
    for (; last < count_ && ranges_[last].low <= range.high; ++last)
        range = {std::min(range.low, ranges_[last].low), std::max(range.high, ranges_[last].high)};
    replace(first, last, &range, 1);
}

void AddressSet::remove(Range range) {
    if (range.empty() || count_ == 0)
        return;
    std::size_t first = find(range.low);
    if (first < count_ && ranges_[first].high == range.low) // it only touches
        ++first;
    Range left[2];
    std::size_t kept = 0;
    std::size_t last = first;
    for (; last < count_ && ranges_[last].low < range.high; ++last) {
        const Range before = {ranges_[last].low, range.low};
        const Range behind = {range.high, ranges_[last].high};
        if (!before.empty())
            left[kept++] = before;
        if (!behind.empty())
            left[kept++] = behind;
    }
    if (kept > last - first && !has_room())
        --kept;
    replace(first, last, left, kept);
}

void AddressSet::clear() {
    if (ranges_)
        system_call(SYS_munmap, reinterpret_cast<long>(ranges_),
                    static_cast<long>(capacity_ * sizeof(Range)), 0, 0, 0, 0);
    ranges_ = nullptr;
    count_ = capacity_ = 0;
}

Range AddressSet::first_gap(Range range) const {
    for (std::size_t at = find(range.low); at < count_ && !range.empty(); ++at) {
        if (ranges_[at].low > range.low)
            return {range.low, std::min(range.high, ranges_[at].low)};
        range.low = std::max(range.low, ranges_[at].high);
    }
    return range;
}

Range AddressSet::first_part(Range range) const {
    for (std::size_t at = find(range.low); at < count_ && ranges_[at].low < range.high; ++at)
        if (ranges_[at].high > range.low)
            return {std::max(range.low, ranges_[at].low), std::min(range.high, ranges_[at].high)};
    return {};
}

bool AddressSet::contains(Range range) const {
    return first_gap(range).empty();
}

} // namespace sennit::loader::inside

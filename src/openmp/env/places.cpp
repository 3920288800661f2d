// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/places.h"

#include "base/message.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <strings.h>

namespace sennit::omp {

// ---- sets and lists --------------------------------------------------------------------------

int CpuSet::count() const {
    int sum = 0;
    for (const unsigned long w : words_)
        sum += std::popcount(w);
    return sum;
}

int CpuSet::next(int cpu) const {
    for (int from = cpu + 1; from < kMost; from = (from / kBits + 1) * kBits) {
        const unsigned long rest = words_[word(from)] & ~(bit(from) - 1);
        if (rest != 0)
            return from / kBits * kBits + std::countr_zero(rest);
    }
    return -1;
}

bool CpuSet::intersects(const CpuSet &other) const {
    for (std::size_t i = 0; i < std::size(words_); ++i)
        if (words_[i] & other.words_[i])
            return true;
    return false;
}

void CpuSet::add(const CpuSet &other) {
    for (std::size_t i = 0; i < std::size(words_); ++i)
        words_[i] |= other.words_[i];
}

void CpuSet::keep(const CpuSet &other) {
    for (std::size_t i = 0; i < std::size(words_); ++i)
        words_[i] &= other.words_[i];
}

int PlaceList::find(const CpuSet &set) const {
    int place = 0;
    while (place < count() - 1 && !places_[place].intersects(set))
        ++place;
    return place;
}

void PlaceList::add(const CpuSet &place) {
    if (!places_.push(place))
        fatal("no memory for a list of %d places", count() + 1);
}

void PlaceList::remove(const CpuSet &place) {
    int kept = 0;
    for (int i = 0; i < count(); ++i)
        if (!(places_[i] == place))
            places_[kept++] = places_[i];
    shorten(kept);
}

void PlaceList::clear() {
    places_.release();
}

void PlaceList::shorten(int most) {
    places_.shorten(static_cast<std::size_t>(most));
}

void PlaceList::rotate(int places) {
    PlaceList turned;
    for (int i = 0; i < count(); ++i)
        turned.add(places_[(i + places) % count()]);
    for (int i = 0; i < count(); ++i)
        places_[i] = turned[i];
}

bool PlaceList::keep(const CpuSet &allowed) {
    bool dropped = false;
    int kept = 0;
    for (int i = 0; i < count(); ++i) {
        CpuSet place = places_[i];
        place.keep(allowed);
        dropped = dropped || !(place == places_[i]);
        if (!place.empty())
            places_[kept++] = place;
    }
    shorten(kept);
    return dropped;
}

void PlaceList::take_turns(const PlaceList &groups) {
    PlaceList sorted;
    for (int turn = 0; sorted.count() < count(); ++turn) {
        const int before = sorted.count();
        for (int group = 0; group < groups.count(); ++group) {
            int nth = turn;
            for (int i = 0; i < count(); ++i) {
                if (!places_[i].intersects(groups[group]) || nth-- > 0)
                    continue;
                sorted.add(places_[i]);
                break;
            }
        }
        if (sorted.count() == before)
            return; // places outside of all groups: leave the order as it is
    }
    for (int i = 0; i < count(); ++i)
        places_[i] = sorted[i];
}

void PlaceList::add_singles(const CpuSet &processors) {
    for (int cpu = processors.next(-1); cpu >= 0; cpu = processors.next(cpu)) {
        CpuSet one;
        one.add(cpu);
        add(one);
    }
}

// ---- syntax ----------------------------------------------------------------------------------

namespace {

// Reads tokens; blanks between them mean nothing.
class Scanner {
  public:
    explicit Scanner(const char *text) : at_(text) {}

    const char *position() {
        while (std::isspace(static_cast<unsigned char>(*at_)))
            ++at_;
        return at_;
    }
    bool at_end() { return *position() == '\0'; }
    bool take(char c) {
        if (*position() != c)
            return false;
        ++at_;
        return true;
    }
    bool take_number(long low, long high, int *number) {
        const char *start = position();
        if (!std::isdigit(static_cast<unsigned char>(*start)) && *start != '-' && *start != '+')
            return false;
        char *end = nullptr;
        errno = 0;
        const long value = std::strtol(start, &end, 10);
        if (end == start || errno != 0 || value < low || value > high)
            return false;
        *number = static_cast<int>(value);
        at_ = end;
        return true;
    }
    // A whole word, in any case.
    bool take_word(const char *word) {
        const std::size_t length = std::strlen(word);
        if (strncasecmp(position(), word, length) != 0)
            return false;
        const auto after = static_cast<unsigned char>(at_[length]);
        if (std::isalnum(after) || after == '_')
            return false;
        at_ += length;
        return true;
    }

  private:
    const char *at_;
};

const struct {
    const char *name;
    Level level;
} kLevels[] = {{"threads", Level::threads},
               {"cores", Level::cores},
               {"ll_caches", Level::ll_caches},
               {"numa_domains", Level::numa_domains},
               {"sockets", Level::sockets}};

constexpr int kLastCpu = CpuSet::kMost - 1;

// An interval's ":length:stride", both optional.
struct Interval {
    int length = 1;
    int stride = 1;
};
bool read_interval(Scanner &in, Interval &interval) {
    if (!in.take(':'))
        return true;
    if (!in.take_number(1, CpuSet::kMost, &interval.length))
        return false;
    return !in.take(':') || in.take_number(-kLastCpu, kLastCpu, &interval.stride);
}

// The processors of `place`, each `by` further; false when one falls off the end.
bool add_shifted(const CpuSet &place, long by, CpuSet &into) {
    for (int cpu = place.next(-1); cpu >= 0; cpu = place.next(cpu)) {
        const long moved = cpu + by;
        if (moved < 0 || moved > kLastCpu)
            return false;
        into.add(static_cast<int>(moved));
    }
    return true;
}

// res-list: what comes later excludes or adds, in the order of the text.
bool read_resources(Scanner &in, CpuSet &place) {
    do {
        const bool exclude = in.take('!');
        int cpu = 0;
        if (!in.take_number(0, kLastCpu, &cpu))
            return false;
        if (exclude) {
            place.remove(cpu);
            continue;
        }
        Interval interval;
        if (!read_interval(in, interval))
            return false;
        CpuSet one;
        one.add(cpu);
        for (int i = 0; i < interval.length; ++i)
            if (!add_shifted(one, static_cast<long>(i) * interval.stride, place))
                return false;
    } while (in.take(','));
    return !place.empty();
}

// place: {res-list} or one processor
bool read_place(Scanner &in, CpuSet &place) {
    if (in.take('{'))
        return read_resources(in, place) && in.take('}');
    int cpu = 0;
    if (!in.take_number(0, kLastCpu, &cpu))
        return false;
    place.add(cpu);
    return true;
}

bool read_places(Scanner &in, PlaceList &list) {
    do {
        const bool exclude = in.take('!');
        CpuSet place;
        if (!read_place(in, place))
            return false;
        if (exclude) {
            list.remove(place);
            continue;
        }
        Interval interval;
        if (!read_interval(in, interval) || list.count() + interval.length > CpuSet::kMost)
            return false;
        for (int i = 0; i < interval.length; ++i) {
            CpuSet shifted;
            if (!add_shifted(place, static_cast<long>(i) * interval.stride, shifted))
                return false;
            list.add(shifted);
        }
    } while (in.take(','));
    return in.at_end() && list.count() > 0;
}

bool read_abstract(Scanner &in, AbstractPlaces &abstract) {
    if (in.take('(') && !(in.take_number(1, CpuSet::kMost, &abstract.most) && in.take(')')))
        return false;
    return in.at_end();
}

bool read_cpu_list(Scanner &in, PlaceList &list) {
    do {
        int first = 0;
        if (!in.take_number(0, kLastCpu, &first))
            return false;
        int last = first;
        int stride = 1;
        if (in.take('-')) {
            if (!in.take_number(first, kLastCpu, &last))
                return false;
            if (in.take(':') && !in.take_number(1, kLastCpu, &stride))
                return false;
        }
        for (int cpu = first; cpu <= last && list.count() < CpuSet::kMost; cpu += stride) {
            CpuSet one;
            one.add(cpu);
            list.add(one);
        }
        in.take(',');
    } while (!in.at_end());
    return true;
}

} // namespace

const char *parse_places(const char *text, AbstractPlaces &abstract, PlaceList &list) {
    Scanner in(text);
    for (const auto &known : kLevels) {
        if (!in.take_word(known.name))
            continue;
        abstract.asked = true;
        abstract.level = known.level;
        return read_abstract(in, abstract) ? nullptr : in.position();
    }
    return read_places(in, list) ? nullptr : in.position();
}

const char *parse_cpu_list(const char *text, PlaceList &list) {
    Scanner in(text);
    return read_cpu_list(in, list) ? nullptr : in.position();
}

// proclist=[...]: what stands between the brackets goes to `list`. Behind them, or null where there
// is no such list, or too long a one.
static const char *take_proclist(const char *at, char (&list)[256]) {
    constexpr char kName[] = "proclist=[";
    constexpr std::size_t kLength = sizeof kName - 1;
    const char *end = std::strchr(at, ']');
    if (strncasecmp(at, kName, kLength) != 0 || !end)
        return nullptr;
    const int length = static_cast<int>(end - at - kLength);
    if (length >= static_cast<int>(sizeof list))
        return nullptr;
    std::snprintf(list, sizeof list, "%.*s", length, at + kLength);
    return end + 1;
}

KmpAffinity parse_kmp_affinity(const char *text) {
    constexpr int kScatter = 2; // turns at all levels
    enum { unnamed, none, compact, scatter, balanced, listed } type = unnamed;
    KmpAffinity result;
    int numbers[2] = {0, 0}; // permute, offset
    int count = 0;
    char word[64];
    for (const char *at = text; *at; at += *at == ',') {
        if (const char *list = take_proclist(at, result.processors)) {
            at = list;
            continue;
        }
        const std::size_t length = std::strcspn(at, ",");
        std::snprintf(word, sizeof word, "%.*s", static_cast<int>(length), at);
        at += length;
        Scanner in(word);
        if (in.take_word("reset")) {
            result.reset = true;
            continue;
        }
        if (in.at_end() || in.take_word("respect") || in.take_word("noverbose") ||
            in.take_word("warnings") || in.take_word("nowarnings") || in.take_word("noreset"))
            continue;
        bool known = true;
        if (in.take_word("none") || in.take_word("disabled"))
            type = none;
        else if (in.take_word("compact"))
            type = compact;
        else if (in.take_word("scatter"))
            type = scatter;
        else if (in.take_word("balanced"))
            type = balanced;
        else if (in.take_word("explicit"))
            type = listed;
        else if (in.take_word("granularity") && in.take('=')) {
            if (in.take_word("fine") || in.take_word("thread"))
                result.granularity = Level::threads;
            else if (in.take_word("core"))
                result.granularity = Level::cores;
            else if (in.take_word("ll_cache"))
                result.granularity = Level::ll_caches;
            else if (in.take_word("numa_domain"))
                result.granularity = Level::numa_domains;
            else if (in.take_word("socket"))
                result.granularity = Level::sockets;
            else
                known = false;
        } else {
            known = count < 2 && in.take_number(0, CpuSet::kMost, &numbers[count]);
            count += known;
        }
        if (!known || !in.at_end()) {
            const std::size_t used = std::strlen(result.unknown);
            std::snprintf(result.unknown + used, sizeof result.unknown - used, "%s%s",
                          used ? "," : "", word);
        }
    }
    if (type != listed)
        result.processors[0] = '\0';
    result.typed = type != unnamed;
    result.bind = type > none && (type != listed || result.processors[0] != '\0');
    result.spread = type == balanced;
    if (type == compact)
        result.permute = numbers[0];
    else if (type == scatter)
        result.permute = numbers[0] < kScatter ? kScatter - numbers[0] : 0;
    result.offset = numbers[1];
    return result;
}

bool HwSubset::has(Level level) const {
    return std::any_of(parts, parts + count, [&](const Part &part) { return part.level == level; });
}

void HwSubset::insert(const Part &part) {
    int at = count++;
    for (; at > 0 && parts[at - 1].level < part.level; --at)
        parts[at] = parts[at - 1];
    parts[at] = part;
}

const char *parse_hw_subset(const char *text, HwSubset &subset) {
    static const struct {
        const char *name;
        Level level;
    } kThings[] = {{"s", Level::sockets},
                   {"socket", Level::sockets},
                   {"sockets", Level::sockets},
                   {"n", Level::numa_domains},
                   {"numa", Level::numa_domains},
                   {"numa_domain", Level::numa_domains},
                   {"ll_cache", Level::ll_caches},
                   {"llc", Level::ll_caches},
                   {"c", Level::cores},
                   {"core", Level::cores},
                   {"cores", Level::cores},
                   {"t", Level::threads},
                   {"thread", Level::threads},
                   {"threads", Level::threads}};
    Scanner in(text);
    do {
        HwSubset::Part part{Level::threads, CpuSet::kMost, 0};
        if (!in.take('*'))
            in.take_number(1, CpuSet::kMost, &part.count);
        bool known = false;
        for (const auto &thing : kThings)
            if (!known && in.take_word(thing.name)) {
                part.level = thing.level;
                known = true;
            }
        if (!known || subset.has(part.level))
            return in.position();
        if (in.take('@') && !in.take_number(0, CpuSet::kMost, &part.offset))
            return in.position();
        subset.insert(part);
    } while (in.take(','));
    return in.at_end() ? nullptr : in.position();
}

bool parse_proc_bind(const char *text, BindList &list) {
    static const struct {
        const char *name;
        ProcBind policy;
    } kPolicies[] = {{"primary", ProcBind::primary},
                     {"master", ProcBind::primary},
                     {"close", ProcBind::close},
                     {"spread", ProcBind::spread}};
    Scanner in(text);
    BindList read;
    if (in.take_word("true") || in.take_word("false")) {
        Scanner again(text);
        read.policies[0] = again.take_word("true") ? ProcBind::true_ : ProcBind::false_;
    } else {
        read.count = 0;
        do {
            bool found = false;
            for (const auto &known : kPolicies) {
                if (read.count == BindList::kMost || !in.take_word(known.name))
                    continue;
                read.policies[read.count++] = known.policy;
                found = true;
                break;
            }
            if (!found)
                return false;
        } while (in.take(','));
    }
    if (!in.at_end())
        return false;
    list = read;
    return true;
}

// ---- assignment ------------------------------------------------------------------------------

namespace {

// `things` in order, cut into `parts`, all of the same size or, the first ones, larger by one.
class Cut {
  public:
    Cut(int things, int parts) : size_(things / parts), larger_(things % parts) {}
    int begin(int part) const { return part * size_ + (part < larger_ ? part : larger_); }
    int part_of(int thing) const {
        const int in_larger = larger_ * (size_ + 1);
        return thing < in_larger ? thing / (size_ + 1) : larger_ + (thing - in_larger) / size_;
    }

  private:
    int size_;
    int larger_;
};

} // namespace

Placement assign_place(ProcBind policy, const Placement &parent, int threads, int thread) {
    const int places = parent.count;
    const int own = parent.place - parent.first; // the encountering thread's, in the partition
    if (policy == ProcBind::primary || policy == ProcBind::false_ || places == 0)
        return parent;
    if (policy == ProcBind::spread && threads <= places) {
        // A part of the partition for each thread, which starts at its own place or the first one.
        const Cut cut(places, threads);
        const int part = (cut.part_of(own) + thread) % threads;
        const int begin = cut.begin(part);
        return {thread == 0 ? parent.place : parent.first + begin, parent.first + begin,
                cut.begin(part + 1) - begin};
    }
    // Threads with consecutive numbers share a place where there are more of them than places.
    const int step = threads <= places ? thread : Cut(threads, places).part_of(thread);
    const int place = parent.first + (own + step) % places;
    if (policy == ProcBind::spread)
        return {place, place, 1};
    return {place, parent.first, places};
}

} // namespace sennit::omp

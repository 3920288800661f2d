// SPDX-License-Identifier: Apache-2.0
// Routines about places, affinity and the environment (OpenMP 5.2, 18.3, 18.4, 18.15), for C and
// Fortran.
#include "openmp/api/api.h"

#include "base/message.h"
#include "openmp/env/affinity.h"
#include "openmp/env/display.h"
#include "openmp/team/placement.h"
#include "openmp/team/team.h"

#include <cstdlib>
#include <cstring>

using namespace sennit;

namespace {

// The caller may be the first to use the library.
const omp::PlaceList &list_of_places() {
    omp::here();
    return omp::place_list();
}

const omp::CpuSet *place_numbered(long place) {
    const omp::PlaceList &list = list_of_places();
    return place >= 0 && place < list.count() ? &list[static_cast<int>(place)] : nullptr;
}

int place_size(int number) {
    const omp::CpuSet *place = place_numbered(number);
    return place ? place->count() : 0;
}

template <class Integer>
void copy_place(long number, Integer *ids) {
    const omp::CpuSet *place = place_numbered(number);
    for (int cpu = -1; place && (cpu = place->next(cpu)) >= 0;)
        *ids++ = cpu;
}

// The caller's; without binding, the partition is the whole list.
omp::Placement placement() {
    if (!omp::bind_list().on())
        return {-1, 0, omp::place_list().count()};
    return omp::member_of(omp::here()).placement;
}

template <class Integer>
void copy_partition(Integer *numbers) {
    const omp::Placement own = placement();
    for (int i = 0; i < own.count; ++i)
        *numbers++ = own.first + i;
}

// bind-var of the current task: its policy for a region that it would start.
int proc_bind() {
    return static_cast<int>(omp::bind_list().at(omp::member_of(omp::here()).team->level));
}

} // namespace

SENNIT_GET(int, omp_get_proc_bind, proc_bind())
SENNIT_GET(int, omp_get_num_places, list_of_places().count())
SENNIT_GET(int, omp_get_place_num, placement().place)
SENNIT_GET(int, omp_get_partition_num_places, placement().count)
SENNIT_ASK(omp_get_place_num_procs, place_size)

SENNIT_API void omp_get_place_proc_ids(int place, int *ids) {
    copy_place(place, ids);
}
SENNIT_API void omp_get_place_proc_ids_(const int *place, int *ids) {
    copy_place(*place, ids);
}
SENNIT_API void omp_get_place_proc_ids_8_(const std::int64_t *place, std::int64_t *ids) {
    copy_place(*place, ids);
}
SENNIT_API void omp_get_partition_place_nums(int *numbers) {
    copy_partition(numbers);
}
SENNIT_API void omp_get_partition_place_nums_(int *numbers) {
    copy_partition(numbers);
}
SENNIT_API void omp_get_partition_place_nums_8_(std::int64_t *numbers) {
    copy_partition(numbers);
}

// ---- affinity-format-var ------------------------------------------------------------------------

namespace {

// Memory for a C string, for the life of this object.
class Characters {
  public:
    explicit Characters(std::size_t length) : text_(static_cast<char *>(std::malloc(length + 1))) {
        if (!text_)
            fatal("no memory for %zu characters of affinity information", length);
        text_[length] = '\0';
    }
    Characters(const char *fortran, std::size_t length) : Characters(length) {
        std::memcpy(text_, fortran, length);
    }
    Characters(const Characters &) = delete;
    Characters &operator=(const Characters &) = delete;
    ~Characters() { std::free(text_); }
    operator char *() const { return text_; }

  private:
    char *text_;
};

// A text into a Fortran string, padded with blanks.
void to_fortran(const char *text, char *buffer, std::size_t length) {
    const std::size_t used = strnlen(text, length);
    std::memcpy(buffer, text, used);
    std::memset(buffer + used, ' ', length - used);
}

} // namespace

using namespace sennit::omp;

SENNIT_API void omp_set_affinity_format(const char *format) {
    set_affinity_format(format, std::strlen(format));
}
SENNIT_API void ompc_set_affinity_format(const char *format) {
    set_affinity_format(format, std::strlen(format));
}
SENNIT_API void omp_set_affinity_format_(const char *format, std::size_t length) {
    set_affinity_format(format, length);
}

SENNIT_API std::size_t omp_get_affinity_format(char *buffer, std::size_t size) {
    char format[kMostAffinityFormat];
    copy_affinity_format(format);
    Text text(buffer, buffer ? size : 0);
    text.put(format);
    return text.length();
}
SENNIT_API std::size_t ompc_get_affinity_format(char *buffer, std::size_t size) {
    return omp_get_affinity_format(buffer, size);
}
SENNIT_API int omp_get_affinity_format_(char *buffer, std::size_t length) {
    char format[kMostAffinityFormat];
    copy_affinity_format(format);
    to_fortran(format, buffer, length);
    return static_cast<int>(std::strlen(format));
}

SENNIT_API void omp_display_affinity(const char *format) {
    print_affinity(format);
}
SENNIT_API void ompc_display_affinity(const char *format) {
    print_affinity(format);
}
SENNIT_API void omp_display_affinity_(const char *format, std::size_t length) {
    print_affinity(Characters(format, length));
}

SENNIT_API std::size_t omp_capture_affinity(char *buffer, std::size_t size, const char *format) {
    return capture_affinity(buffer, buffer ? size : 0, format);
}
SENNIT_API std::size_t ompc_capture_affinity(char *buffer, std::size_t size, const char *format) {
    return omp_capture_affinity(buffer, size, format);
}
SENNIT_API int omp_capture_affinity_(char *buffer, const char *format, std::size_t size,
                                     std::size_t length) {
    const Characters text(size); // has room for the end that a Fortran string lacks
    const std::size_t whole = capture_affinity(text, size + 1, Characters(format, length));
    to_fortran(text, buffer, size);
    return static_cast<int>(whole);
}

// ---- the environment ----------------------------------------------------------------------------

SENNIT_API void omp_display_env(int verbose) {
    display_environment(verbose != 0);
}
SENNIT_API void omp_display_env_(const int *verbose) {
    display_environment(*verbose != 0);
}
SENNIT_API void omp_display_env_8_(const std::int64_t *verbose) {
    display_environment(*verbose != 0);
}

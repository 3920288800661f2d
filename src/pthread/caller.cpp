// SPDX-License-Identifier: Apache-2.0
#include "pthread/caller.h"

#include "base/loaded_object.h"
#include "base/openmp_library.h"

#include <cstring>
#include <unwind.h>

namespace sennit::pthread {
namespace {

enum class Code { program, others, cxx_library, ours, unknown };

Code code_at(const void *address) {
    const link_map *const object = object_of(address);
    if (!object)
        return Code::unknown; // made at run time
    if (object == object_of(reinterpret_cast<const void *>(is_program_code)))
        return Code::ours;
    if (!*object->l_name)
        return Code::program;
    const char *const slash = std::strrchr(object->l_name, '/');
    const char *const name = slash ? slash + 1 : object->l_name;
    if (std::strncmp(name, "libstdc++.", 10) == 0 || std::strncmp(name, "libc++", 6) == 0)
        return Code::cxx_library;
    if (std::strncmp(name, "libsennit-balance-", 18) == 0) // made to be called in tasks
        return Code::program;
    return DynamicSection(*object).needs(is_openmp_library) ? Code::program : Code::others;
}

// The first frame above the C++ library's, and above ours, who look.
Code code_above_cxx_library() {
    Code code = Code::cxx_library;
    _Unwind_Backtrace(
        [](_Unwind_Context *frame, void *result) {
            auto &found = *static_cast<Code *>(result);
            found = code_at(reinterpret_cast<const void *>(_Unwind_GetIP(frame) - 1));
            return found == Code::cxx_library || found == Code::ours ? _URC_NO_REASON
                                                                     : _URC_END_OF_STACK;
        },
        &code);
    return code;
}

} // namespace

bool is_program_code(const void *return_address) {
    Code code = code_at(static_cast<const char *>(return_address) - 1);
    if (code == Code::cxx_library)
        code = code_above_cxx_library();
    return code == Code::program;
}

} // namespace sennit::pthread

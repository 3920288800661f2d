// SPDX-License-Identifier: Apache-2.0
#include "program/imports.h"

#include "base/loaded_object.h"
#include "program/names.h"

#include <cstring>
#include <initializer_list>

namespace sennit::program {
namespace {

bool is_system_library(const char *path) {
    const char *slash = std::strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (const char *known :
         {"libc.so", "libm.so", "ld-linux", "libdl.so", "libpthread.so", "librt.so", "libstdc++.so",
          "libgcc_s.so", "libgfortran.so", "libquadmath.so", "linux-vdso", "libgomp.so",
          "libomp.so", "libiomp5.so", "libsennit-omp.so"})
        if (std::strncmp(name, known, std::strlen(known)) == 0)
            return true;
    return false;
}

} // namespace

bool process_may_suspend() {
    return each_object([](const LoadedObject &object) {
               return !is_system_library(object.path()) &&
                      DynamicSection(object).imports(names().suspends);
           }) != 0;
}

} // namespace sennit::program

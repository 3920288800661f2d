/* SPDX-License-Identifier: Apache-2.0
 * lib/sennit-python: the program of a virtual rank that is a Python linked to fixed addresses. It
 * is that Python, from its shared library: SENNIT_PYTHON names it, argv[0] is the interpreter's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    const char *const path = getenv("SENNIT_PYTHON");
    /* Its symbols are for extension modules, which expect them in the program. */
    void *const library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*const run)(int, char **) =
        library ? (int (*)(int, char **))dlsym(library, "Py_BytesMain") : NULL;
    if (!run) {
        fprintf(stderr, "sennit: no Python: %s\n", path ? dlerror() : "started by hand");
        return 2;
    }
    unsetenv("SENNIT_PYTHON");
    return run(count, words);
}

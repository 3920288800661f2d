/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc -fPIE -pie
 * A pointer to a nested function is code on the stack: GNU C asks for an executable one. */
static int call(int (*function)(int)) {
    return function(1);
}

int main(int count, char **words) {
    (void)words;
    int add(int value) {
        return value + count;
    }
    int (*volatile function)(int) = add;
    return call(function) == count + 1 ? 0 : 1;
}

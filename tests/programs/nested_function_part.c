/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="not sanitized" -fPIC -- -shared
 * The library that sennit_nested_function_opened.c opens: GNU C, needs executable stacks.
 */
__attribute__((noinline)) static void apply(void (*function)(int), int argument) {
    function(argument);
}

int nested_sum(int n);
int nested_sum(int n) {
    int sum = n;
    void add(int x) {
        sum += x;
    }
    apply(add, 1);
    return sum;
}

/* SPDX-License-Identifier: Apache-2.0
 * build: out={bin}/{compiler}/libsuperlu_dist.so.part if="not sanitized" -fPIC -- -shared
 * A library with the name of one that counts on the order of iterations (sennit_loop_order.c).
 */
int nothing(void);
int nothing(void) {
    return 0;
}

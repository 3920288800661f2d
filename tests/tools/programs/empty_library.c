/* SPDX-License-Identifier: Apache-2.0
 * part: # of targets of CMakeLists.txt
 * A library that is only a name. */
int sennit_test_empty_library(void);
int sennit_test_empty_library(void) {
    return 0;
}

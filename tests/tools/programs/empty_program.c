/* SPDX-License-Identifier: Apache-2.0
 * part: # of targets of CMakeLists.txt
 * A program that does nothing but need the libraries it was linked with. */
int main(void) {
    return 0;
}

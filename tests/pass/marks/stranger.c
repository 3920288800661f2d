/* SPDX-License-Identifier: Apache-2.0
 * Compiled without the plug-in. */
void stranger(double *x);
void stranger(double *x) {
    x[0] = 1;
}

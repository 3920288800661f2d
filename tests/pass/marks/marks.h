/* SPDX-License-Identifier: Apache-2.0 */
void other_sends(double *x, int to);
void other_computes(double *x);
void other_recurses(double *x, int depth);

# SPDX-License-Identifier: Apache-2.0
"""A Poisson problem in two dimensions by conjugate gradients, with the rows divided among the ranks."""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # pylint: disable=wrong-import-position

n = 48
matrix = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
first, last = matrix.getOwnershipRange()
for row in range(first, last):
    x, y = divmod(row, n)
    matrix[row, row] = 4.0
    for column in [row - n] * (x > 0) + [row + n] * (x < n - 1) + [row - 1] * (y > 0) + [row + 1] * (y < n - 1):
        matrix[row, column] = -1.0
matrix.assemble()
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10)
solver.solve(right, solution)
PETSc.Sys.Print(f"iterations {solver.getIterationNumber()} norm {solution.norm():.8f}")

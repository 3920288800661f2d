# SPDX-License-Identifier: Apache-2.0
"""Random Fortran programs with blocking MPI calls: transformed by the plug-in they leave the same numbers.

Two ranks run the same procedures. Each sends short messages, computes, and receives them in any order: nothing waits for
ever. Columns of two arrays, parts of them and an array of integers are sent, received and computed with, in rows of calls
and in loops; what has been received is an index or a count of what follows. The untransformed program is the oracle.

usage: random_fortran.py MPI MPIFC SENNIT SEED PROGRAMS PROCEDURES
"""
import os
import random
import re
import subprocess
import sys
import tempfile

MPI, MPIFC, SENNIT = sys.argv[1:4]
SEED, PROGRAMS, PROCEDURES = map(int, sys.argv[4:7])
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
LIMIT = 240
ROWS, COLUMNS = 6, 5
DOUBLE, INTEGER = "MPI_DOUBLE_PRECISION", "MPI_INTEGER"


class Procedure:
    def __init__(self, number, dice):
        self.name, self.dice, self.lines = f"p{number}", dice, []
        self.tag, self.sent = 100 * number, []  # sent: (tag, most numbers, datatype)
        for _ in range(dice.randint(4, 12)):
            dice.choice([self.send, self.send, self.receive, self.receive, self.exchange, self.compute, self.compute,
                         self.compute, self.send_loop])()
        while self.sent:
            self.receive()
            if dice.random() < 0.3:
                self.compute()

    def column(self):
        return f"{self.dice.choice('ab')}(1, {self.dice.randint(1, COLUMNS)})"

    def place(self):
        """A buffer, and how many numbers it has."""
        kind = self.dice.random()
        if kind < 0.5:
            return self.column(), str(ROWS), DOUBLE
        if kind < 0.7:
            first = self.dice.randint(1, ROWS)
            return f"{self.dice.choice('ab')}({first}, {self.dice.randint(1, COLUMNS)})", str(ROWS + 1 - first), DOUBLE
        if kind < 0.85:
            return "c", "mod(abs(k(2)), 6) + 1" if self.dice.random() < 0.5 else str(ROWS), DOUBLE
        return "k", "2", INTEGER

    def room(self, most, datatype):
        """A buffer for so many numbers."""
        if datatype == INTEGER:
            return f"k({self.dice.randint(1, ROWS + 1 - most)})"
        return "c" if self.dice.random() < 0.2 else self.column()

    def ending(self):
        self.lines += ["if (ierr /= MPI_SUCCESS) stop 3"] * (self.dice.random() < 0.1)

    def send(self):
        buffer, count, datatype = self.place()
        self.tag += 1
        self.lines.append(f"call mpi_send({buffer}, {count}, {datatype}, other, {self.tag}, MPI_COMM_WORLD, ierr)")
        self.sent.append((self.tag, ROWS if datatype == DOUBLE else 2, datatype))
        self.ending()

    def send_loop(self):
        array, first = self.dice.choice("ab"), self.tag + 1
        self.lines += ["do j = 1, m", f"call mpi_send({array}(1, j), 6, {DOUBLE}, other, {self.tag} + j, MPI_COMM_WORLD, ierr)",
                       "end do"]
        self.tag += COLUMNS
        if self.dice.random() < 0.5:
            self.sent += [(tag, ROWS, DOUBLE) for tag in range(first, self.tag + 1)]
        else:
            array = self.dice.choice("ab")
            column = self.dice.choice(["j", "m + 1 - j", f"{self.dice.randint(1, COLUMNS)}"])
            self.compute()
            self.lines += ["do j = 1, m", f"call mpi_recv({array}(1, {column}), 6, {DOUBLE}, other, {first - 1} + j, MPI_COMM_WORLD, "
                           "MPI_STATUS_IGNORE, ierr)", "end do"]

    def status(self):
        return self.dice.choice(["MPI_STATUS_IGNORE", "MPI_STATUS_IGNORE", "status"])

    def end_receive(self, status):
        self.ending()
        if status == "status" and self.dice.random() < 0.7:
            self.lines.append("k(3) = k(3) + status(MPI_TAG)")

    def receive(self):
        if not self.sent:
            return
        tag, most, datatype = self.sent.pop(self.dice.randrange(len(self.sent)))
        status = self.status()
        self.lines.append(f"call mpi_recv({self.room(most, datatype)}, {most}, {datatype}, other, {tag}, MPI_COMM_WORLD, {status}, ierr)")
        self.end_receive(status)

    def exchange(self):
        self.tag += 1
        status, target = self.status(), self.column()
        source = self.column()
        if source == target:
            source = "c"
        self.lines.append(f"call mpi_sendrecv({source}, 6, {DOUBLE}, other, {self.tag}, {target}, 6, {DOUBLE}, other, {self.tag}, &\n"
                          f"        MPI_COMM_WORLD, {status}, ierr)")
        self.end_receive(status)

    def compute(self):
        one, two = self.dice.sample(range(1, COLUMNS + 1), 2)
        x, y = self.dice.choice(["ab", "ba", "aa", "bb"])
        self.lines += self.dice.choice([
            ["do i = 1, n", f"{x}(i, {one}) = mod({x}(i, {one}) + 3 * {y}(i, {two}) + i, 1009d0)", "end do"],
            ["do j = 1, m", "do i = 1, n", "b(i, j) = mod(a(i, j) + b(i, j), 1009d0)", "end do", "end do"],
            [f"{x}(:, {one}) = mod({y}(:, {two}) + 1, 1009d0)"],
            [f"{x}(2, {one}) = {y}(3, {two}) + 1"],
            ["c = mod(c + total, 1009d0)"],
            [f"total = mod(total + {x}(1, {one}), 1009d0)"],
            [f"k(1) = k(1) + int({x}(4, {one}))", "k(2) = mod(k(1), 97)"],
            [f"{x}(5, mod(abs(k(1)), m) + 1) = total"],
            [f"if ({x}(1, {one}) > 500) then", f"{y}(6, {two}) = 7", "end if"],
            [f"call mix({x}(1, {one}), c, n)"],
        ])

    def text(self):
        return "\n".join([f"subroutine {self.name}(a, b, k, n, m, other, total)", "    implicit none", "    include 'mpif.h'",
                          "    integer :: n, m, other, k(6), i, j, ierr, status(MPI_STATUS_SIZE)",
                          "    double precision :: a(n, m), b(n, m), c(6), total", "    c = 5", "    status = 0",
                          *("    " + line for line in self.lines), "    total = mod(total + sum(c), 1009d0)", "end subroutine", ""])


MIX = """subroutine mix(x, y, n)
    integer :: n, i
    double precision :: x(n), y(n)
    do i = 1, n
        x(i) = mod(x(i) + y(i) + i, 1009d0)
    end do
end subroutine
"""


def program(dice):
    calls = [line for i in range(1, PROCEDURES + 1) for line in (
        f"    call p{i}(a, b, k, 6, 5, 1 - rank, total)", f"    print '(a, i2, i4, 3i12, 6i9)', 'rank', rank, {i}, nint(sum(a)), "
        "nint(sum(b * a)), nint(total), k")]
    main = ["program random", "    implicit none", "    include 'mpif.h'", "    integer :: rank, ierr, i, k(6)",
            "    double precision :: a(6, 5), b(6, 5), total", "    call mpi_init(ierr)",
            "    call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)", "    a = reshape([(dble(mod(i * 37 + rank, 101)), i = 1, 30)], [6, 5])",
            "    b = reshape([(dble(mod(i * 53 + 7 * rank, 103)), i = 1, 30)], [6, 5])", "    k = [(i + rank, i = 1, 6)]",
            "    total = rank", *calls, "    call mpi_finalize(ierr)", "end program", ""]
    return "\n".join(main) + MIX + "".join(Procedure(i, dice).text() for i in range(1, PROCEDURES + 1))


def run(command):
    done = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
    assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-1500:])
    return done


def numbers(command):
    lines = sorted(re.findall(r"^ *rank.*$", run(command).stdout, re.MULTILINE))
    assert len(lines) == 2 * PROCEDURES, lines
    return lines


def main():
    places = re.findall(r"-[ILl]\S+", run([MPIFC, "-show"]).stdout)
    stock = [MPIFC.replace("mpif90", "mpiexec"), "-n", "2"] + ["--oversubscribe"] * (MPI == "openmpi")
    transformed = 0
    for seed in range(SEED, SEED + PROGRAMS):
        with tempfile.TemporaryDirectory() as folder:
            source, plain, other = (os.path.join(folder, name) for name in ("random.f90", "plain", "other"))
            text = program(random.Random(seed))
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            run(["flang-new-19", "-O2", source, *places, "-o", plain])
            done = run([SENNIT, "ftn", "flang-new-19", "-O2", "-Rpass=sennit", source, *places, "-o", other])
            transformed += len(set(re.findall(r":(\d+):\d+: remark", done.stderr)))
            wanted = numbers([*stock, plain])
            for command in ([*stock, other], [SENNIT, "run", "-n", "2", "--threads", "1", other]):
                found = numbers(command)
                assert found == wanted, f"seed {seed}\n{text}\n" + "\n".join(map(str, zip(wanted, found)))
    print(f"{PROGRAMS * PROCEDURES} procedures, {transformed} calls transformed")
    assert transformed > PROGRAMS


main()

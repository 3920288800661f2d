# SPDX-License-Identifier: Apache-2.0
# script: pass.random_fortran.{mpi} mpi=all if="SENNIT_FLANG and mpifc" timeout=1200 -- {mpi} {mpifc} {sennit} 1 2 6
"""Random Fortran programs with blocking MPI calls: transformed by the plug-in they leave the same numbers.

Many programs are one file and one job, each a procedure with a seed of its own; between them both ranks wait for each other, and
all data begins anew. A file is compiled plainly (-O0: what the source says) and with the plug-in. There are three kinds, file by file:

    calls    Both ranks send short messages, compute, and receive them in any order: nothing waits for ever. Columns of two
             arrays, parts of them and an array of integers are sent, received and computed with, in rows of calls and in loops;
             what has been received is an index or a count of what follows. Under the MPI's own launcher, too
    tasks    A task for each message, and some that compute; or a child of one, and its parent computes behind it. Both ranks
             make theirs in one order: nothing waits for ever where tasks are suspended
    undeferred  the same, most of them undeferred; compiled with -sennit-detach

A program that differs is made again alone, and printed.

usage: random_fortran.py MPI MPIFC SENNIT SEED FILES PROCEDURES [only=FILE[.PROCEDURE]]...
"""
import os
import random
import re
import subprocess
import sys
import tempfile

MPI, MPIFC, SENNIT = sys.argv[1:4]
SEED, FILES, PROCEDURES = map(int, sys.argv[4:7])
ONLY = [word[5:] for word in sys.argv[7:]]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
LIMIT = 600 # seconds for one command, on a busy machine
ROWS, COLUMNS = 6, 5
DOUBLE, INTEGER = "MPI_DOUBLE_PRECISION", "MPI_INTEGER"


class Calls:
    initialize, region, alone, options = "call mpi_init(ierr)", [], True, []

    def __init__(self, number, dice):
        self.number, self.name, self.dice, self.lines = number, f"p{number}", dice, []
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


class Tasks:
    initialize = "call mpi_init_thread(MPI_THREAD_MULTIPLE, i, ierr)"
    region, alone, options = ["!$omp parallel default(shared)", "!$omp single"], False, []
    modifiers = [""] * 6 + [" if(.false.)", " if(n > 5)", " final(.true.)", " final(n > 9)"]

    def __init__(self, number, dice):
        self.number, self.name, self.dice = number, f"p{number}", dice
        self.tag = 100 * number
        self.sides = ([], []) # of the ranks
        for _ in range(dice.randint(2, 8)):
            sender = dice.randrange(2)
            sends, receives = self.message()
            self.sides[sender].extend(sends)
            self.sides[1 - sender].extend(receives)
            for side in self.sides:
                if dice.random() < 0.3:
                    side += self.compute()

    def column(self):
        """A buffer, and the variable that depend clauses name for it: flang 19 knows no elements of arrays there."""
        array, number = self.dice.choice("ab"), self.dice.randint(1, COLUMNS)
        return f"{array}(1, {number})", f"d{array}{number}"

    def task(self, lines, inout, read=()):
        """Or a task whose child does it, and behind that what is right only if the child is complete."""
        if self.dice.random() < 0.25:
            form = self.dice.choice(["final(.true.)", "final(.true.)", "final(n > 5)", "wait", "group", "undeferred"])
            child = self.single(lines, [], extra=self.dice.choice([" if(.false.)", " if(n > 9)"]) if form == "undeferred" else None)
            child = {"wait": child + ["!$omp taskwait"], "group": ["!$omp taskgroup", *child, "!$omp end taskgroup"]}.get(form, child)
            behind = [line for name in sorted(set(inout)) if name != "dk" for line in (
                "do i = 1, n", f"{name[1]}(i, {name[2]}) = mod({name[1]}(i, {name[2]}) * 2 + i, 1009d0)", "end do")]
            return self.single(child + behind, inout, read, " " + form if "final" in form else "")
        return self.single(lines, inout, read)

    def single(self, lines, inout, read=(), extra=None):
        """With a private error code, of which only MPI's calls know, or not."""
        clauses = "private(i, j, request, status" + self.dice.choice([", ierr"] * 5 + [""]) + ")"
        clauses += f" depend(inout: {', '.join(sorted(set(inout)))})" if inout else ""
        read = sorted(set(read) - set(inout))
        clauses += f" depend(in: {', '.join(read)})" if read else ""
        clauses += self.dice.choice(self.modifiers) if extra is None else extra
        return ["!$omp task default(shared) &", f"!$omp {clauses}", *lines, "!$omp end task"]

    def work(self, column, other):
        return self.dice.choice([
            ["do i = 1, n", f"{column.replace('1,', 'i,')} = mod({column.replace('1,', 'i,')} * 3 + {other.replace('1,', 'i,')} + i, 1009d0)", "end do"],
            [f"{column.replace('1,', '2,')} = {other.replace('1,', '3,')} + 1"],
            [f"call mix({column}, {other}, n)"]])

    def compute(self):
        (one, here), (two, there) = self.column(), self.column()
        return self.task(self.work(one, two), [here], [there])

    def message(self):
        if self.dice.random() < 0.25:
            return self.columns()
        (source, sent), (target, received) = self.column(), self.column()
        self.tag += 1
        return self.send(source, sent), self.receive(target, received, self.tag)

    def send(self, buffer, name):
        name_of_call = self.dice.choice(["mpi_send"] * 5 + ["mpi_ssend"])
        call = f"call {name_of_call}({buffer}, 6, {DOUBLE}, other, {self.tag}, MPI_COMM_WORLD, ierr)"
        lines = self.dice.choice([
            [call], [call], self.work(buffer, buffer) + [call], [call] + self.work(buffer, buffer),
            [call, "if (ierr /= MPI_SUCCESS) stop 3"],
            [call.replace("mpi_ssend", "mpi_send").replace("mpi_send", "mpi_isend").replace("ierr)", "request, ierr)"),
             "call mpi_wait(request, MPI_STATUS_IGNORE, ierr)"]])
        return self.task(lines, [name])

    def receive(self, buffer, name, tag):
        status = self.dice.choice(["MPI_STATUS_IGNORE", "MPI_STATUS_IGNORE", "status"])
        call = f"call mpi_recv({buffer}, 6, {DOUBLE}, other, {tag}, MPI_COMM_WORLD, {status}, ierr)"
        lines = self.dice.choice([
            [call], [call], [call], self.work(buffer, buffer) + [call], [call] + self.work(buffer, buffer),
            [call.replace("mpi_recv", "mpi_irecv").replace(status + ", ierr)", "request, ierr)"), f"call mpi_wait(request, {status}, ierr)"]])
        if status == "status" and self.dice.random() < 0.6:
            return self.task(lines + ["k(3) = k(3) + status(MPI_TAG)"], [name, "dk"])
        return self.task(lines, [name])

    def columns(self):
        """All of an array, by one task; received column by column."""
        array, first = self.dice.choice("ab"), self.tag + 1
        names = [f"d{array}{i}" for i in range(1, COLUMNS + 1)]
        loop = ["do j = 1, m", f"call mpi_send({array}(1, j), 6, {DOUBLE}, other, {self.tag} + j, MPI_COMM_WORLD, ierr)", "end do"]
        row = [f"call mpi_send({array}(1, {i}), 6, {DOUBLE}, other, {self.tag + i}, MPI_COMM_WORLD, ierr)" for i in range(1, COLUMNS + 1)]
        self.tag += COLUMNS
        receives = []
        for tag in range(first, self.tag + 1):
            receives += self.receive(*self.column(), tag)
        return self.task(self.dice.choice([loop, row, row + [f"{array}(1, 1) = 1"]]), names), receives

    def text(self):
        names = ", ".join(f"d{array}{i}" for array in "ab" for i in range(1, COLUMNS + 1))
        return "\n".join([f"subroutine {self.name}(a, b, k, n, m, other, total)", "    implicit none", "    include 'mpif.h'",
                          "    integer :: n, m, other, k(6), i, j, ierr, request, status(MPI_STATUS_SIZE)",
                          f"    integer :: dk, {names}", "    double precision :: a(n, m), b(n, m), total",
                          "    if (other == 1) then", *("    " + line for line in self.sides[0]), "    else",
                          *("    " + line for line in self.sides[1]), "    end if", "    !$omp taskwait", "end subroutine", ""])


class Undeferred(Tasks):
    options = ["-sennit-detach"]
    modifiers = [" if(.false.)"] * 4 + [" if(n > 9)", ""]


MIX = """subroutine mix(x, y, n)
    integer :: n, i
    double precision :: x(n), y(n)
    do i = 1, n
        x(i) = mod(x(i) + y(i) + i, 1009d0)
    end do
end subroutine
"""


def file_of(procedures):
    kind = procedures[0]
    calls = []
    for one in procedures:
        calls += ["a = reshape([(dble(mod(i * 37 + rank, 101)), i = 1, 30)], [6, 5])",
                  "b = reshape([(dble(mod(i * 53 + 7 * rank, 103)), i = 1, 30)], [6, 5])", "k = [(i + rank, i = 1, 6)]", "total = rank",
                  *kind.region, f"call {one.name}(a, b, k, 6, 5, 1 - rank, total)", *(f"!$omp end {line.split()[1]}" for line in reversed(kind.region)),
                  f"print '(a, i5, i2, 3i12, 6i9)', 'program', {one.number}, rank, nint(sum(a)), nint(sum(b * a)), nint(total), k",
                  "flush(6)", "call mpi_barrier(MPI_COMM_WORLD, ierr)"]
    main = ["program random", "implicit none", "include 'mpif.h'", "integer :: rank, ierr, i, k(6)",
            "double precision :: a(6, 5), b(6, 5), total", kind.initialize, "call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)",
            *calls, "call mpi_finalize(ierr)", "end program", ""]
    return "\n".join(main) + MIX + "".join(one.text() for one in procedures)


def built(command):
    done = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
    assert done.returncode == 0, (command, done.stdout[-500:], done.stderr[-1500:])
    return done


def numbers(command):
    """{(program, rank): numbers} of those that came to their end, and what went wrong."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT, timeout=LIMIT, check=False)
        out, how = done.stdout, f"exit code {done.returncode}: {done.stderr[-1000:]}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        out, how = (late.stdout or b"").decode(), f"no end in {LIMIT} seconds"
    return {(int(number), int(rank)): line for number, rank, line in re.findall(r"^ *program +(\d+) +(\d)(.*)$", out, re.MULTILINE)}, how


def compare(procedures, chaos, folder):
    """The number of the first program that differs, and how; and how many calls are transformed."""
    source, plain, other = (os.path.join(folder, name) for name in ("random.f90", "plain", "other"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(file_of(procedures))
    places = re.findall(r"-[ILl]\S+", built([MPIFC, "-show"]).stdout)
    built(["flang-new-19", "-O0", "-w", "-fopenmp", source, *places, "-o", plain])
    done = built([SENNIT, "ftn", "flang-new-19", "-O2", "-w", "-fopenmp", "-Rpass=sennit", *procedures[0].options, source, *places, "-o", other])
    stock = [MPIFC.replace("mpif90", "mpiexec"), "-n", "2"] + ["--oversubscribe"] * (MPI == "openmpi")
    sennit = ["env", "SENNIT_CHAOS=" + chaos, SENNIT, "run", "-n", "2", "--threads", "2"]
    alone = procedures[0].alone
    wanted, how = numbers([*(stock if alone else sennit), plain])
    assert not how and len(wanted) == 2 * len(procedures), ("the plain program fails", how, len(wanted))
    transformed = len(set(re.findall(r":(\d+):\d+: remark", done.stderr)))
    assert not procedures[0].options or "does not hold up the creator" in done.stderr, "no task is detached"
    for command in ([*stock, other],) * alone + ([*sennit, other],):
        found, how = numbers(command)
        for key in sorted(wanted):
            if found.get(key) != wanted[key]:
                return key[0], how or f"{wanted[key]}\n{found.get(key)}", transformed
        if how:
            return procedures[-1].number, how, transformed
    return None, "", transformed


def check(number, index, folder):
    dice = random.Random(f"{SEED}.{number}")
    chaos = dice.choice(["off", f"seed:{SEED},latency:100,order"])
    kind = (Calls, Tasks, Undeferred)[number % 3]
    procedures = [kind(i, random.Random(f"{SEED}.{number}.{i}")) for i in ([index] if index else range(1, PROCEDURES + 1))]
    at, how, transformed = compare(procedures, chaos, folder)
    if at is None:
        return 0, transformed
    guilty = [one for one in procedures if one.number == at]
    alone = any(compare(guilty, chaos, folder)[1] for _ in range(3))
    print(f"DIFFERENCE: seed {SEED}, only={number}.{at}, chaos {chaos}: {how}\n{guilty[0].text()}"
          f"{'alone, too' if alone else 'alone it does not differ'}\n", flush=True)
    return 1, transformed


def main():
    wrong, transformed, programs = 0, 0, 0
    for which in ONLY or map(str, range(FILES)):
        number, index = (which.split(".") + ["0"])[:2]
        with tempfile.TemporaryDirectory() as folder:
            of_file = check(int(number), int(index), folder)
        assert of_file[1] > PROCEDURES or index != "0", of_file
        wrong, transformed, programs = wrong + of_file[0], transformed + of_file[1], programs + (1 if index != "0" else PROCEDURES)
    print(f"{programs} Fortran programs on {MPI}, seed {SEED}: {transformed} calls transformed; {wrong or 'no'} files differ")
    sys.exit(wrong > 0)


main()

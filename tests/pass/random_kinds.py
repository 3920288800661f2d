# SPDX-License-Identifier: Apache-2.0
"""The kinds of random MPI programs (random_programs.py). A program is a list of steps: what each rank does in it, as C text.

    tasks         a task for each message, made in the order of the list: nothing can deadlock where tasks are suspended. Some are
                  undeferred, or children of tasks that compute behind them; loops of tasks, too
    rows          each step goes one way, or to and fro; messages are received in a row or in a loop, with other work in between
                  that may touch their buffers
    windows       more of it: loops, triangles, tables of places, conditions, copies and early ends, behind the messages, too
    loops         static loops between the messages, which threads may take from each other (--split loops)
    collectives   collective calls of all ranks, in rows and in loops, compiled with -sennit-collectives
    undeferred    undeferred tasks that send and receive, or a taskwait with dependences and an exchange behind it, between tasks
                  that compute; some messages have the same envelope. The program is right without the if clauses, but for that, and
                  is compiled with -sennit-detach
    earlier       computation in front of the messages, too, and receives under conditions; what is received is there as soon as
                  its receive is started

How a message is sent and received is drawn from forms that the plug-in transforms and from forms that it must refuse. A program
may be made of some of its steps only.
"""
import re

BUFFERS, LONGEST, PLACES = 6, 12000, 64
TABLES = 4 # of the loops

HEAD = f"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum {{ BUFFERS = {BUFFERS}, LONGEST = {LONGEST}, PLACES = {PLACES} }};
static double fixed[BUFFERS][LONGEST];
double *b[BUFFERS];
double fixed_too[8];
volatile int zero;
static int rank;
static double lone[2][LONGEST], own_table[PLACES], *kept;
static int places[PLACES];
int state[4];
/* Whoever calls it does not know what it does. */
__attribute__((noinline)) static void stranger(void) {{
    double *volatile any = b[1];
    any[3] = any[3] * 0.5 + any[40];
    __asm__ volatile("" ::: "memory");
}}
__attribute__((noinline)) void blend(double *x, const double *y, int n) {{
    for (int k = 0; k < n; ++k)
        x[k] = x[k] * 0.5 + y[k] * 0.25;
}}
static void mix(double *x, int n, double c) {{
#pragma clang loop vectorize(disable) unroll(disable)
    for (int k = 0; k < n; ++k)
        x[k] = x[k] * 0.5 + c + k;
}}
"""
MAIN = """
int main(int argc, char **argv) {{
    {initialize}
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < BUFFERS; ++i)
        b[i] = fixed[i];
    for (int i = 0; i < PLACES; ++i)
        places[i] = i * 29 % PLACES;
    void (*const programs[])(void) = {{{names}}};
    setvbuf(stdout, NULL, _IOLBF, 0); /* which program it was that did not end */
    for (int p = 0; p < (int)(sizeof programs / sizeof *programs); ++p) {{
        for (int i = 0; i < BUFFERS; ++i)
            for (int k = 0; k < LONGEST; ++k)
                lone[i % 2][k] = b[i][k] = rank * 1000 + i * 10 + k % 7;
        memset(fixed_too, 0, sizeof fixed_too);
        memset(own_table, 0, sizeof own_table);
        {region}
        programs[p]();
        double sum = 0;
        for (int i = 0; i < 8; ++i)
            sum = sum * 0.999 + fixed_too[i];
        for (int i = 0; i < PLACES; ++i)
            sum = sum * 0.999 + own_table[i];
        for (int i = 0; i < BUFFERS; ++i)
            for (int k = 0; k < LONGEST; ++k)
                sum = sum * 0.999 + b[i][k] + lone[i % 2][k];
        double sums[3] = {{0, 0, 0}};
        /* Of all, by all: or a receive from any source would take a message of the next program. */
        MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.17g %.17g %.17g\\n", p, sums[0], sums[1], sums[2]);
    }}
    MPI_Finalize();
    return 0;
}}
"""


def between_two(sides, dice, ranks):
    """What each rank does, of what one and the other side of a pair do."""
    if ranks == 2:
        return sides
    pair = dice.sample(range(ranks), 2)
    found = [""] * ranks
    for (me, peer), side in zip((pair, pair[::-1]), sides):
        found[me] = side.replace("1 - rank", str(peer))
    return found


def body_of(steps, ranks):
    """Each rank's side of all steps, one after the other."""
    text = ""
    for rank in range(ranks):
        text += (f"if (rank == {rank}) {{" if rank < ranks - 1 else "{") + "\n" + "".join(step[rank] for step in steps)
        text += "} else " if rank < ranks - 1 else "}\n"
    return text


class Program:
    def __init__(self, dice, name, ranks):
        self.dice = dice
        self.name = name
        self.ranks = ranks
        self.steps = self.draw()

    def draw(self):
        raise NotImplementedError

    def text(self, steps):
        raise NotImplementedError


class TaskProgram(Program):
    tag = 0

    def task(self, access, buffers, body):
        if self.dice.random() < 0.3:
            return self.parent(sorted(set(buffers)), body)
        return self.directive(self.depend(access, buffers), body)

    def depend(self, access, buffers):
        return " ".join(f"depend({access}: b[{i}][0])" for i in sorted(set(buffers)))

    def directive(self, clauses, body, tied=False):
        extra = self.dice.choice(["", "", "", "if(0)", "if(zero)", "if(!zero)", "final(1)", "final(zero)", "untied", "mergeable",
                                  "mergeable if(0)", "priority(1)"])
        if tied and extra == "untied": # clang 19 crashes at a taskgroup in an untied task
            extra = ""
        return f"#pragma omp task {clauses} {extra}\n{{ {body} }}\n"

    def parent(self, buffers, body):
        """A task whose child does it, and behind that what is right only if the child is complete."""
        form = self.dice.choice(["final", "final", "final", "final loop", "undeferred", "wait", "group", "loop", "undeferred loop"])
        if "loop" in form:
            extra = self.dice.choice(["", "mergeable", "untied"])
            if "undeferred" in form:
                extra += self.dice.choice([" if(0)", " if(taskloop: zero)"])
            elif "final" in form:
                extra += " nogroup"
            child = f"#pragma omp taskloop num_tasks(1) {extra}\nfor (int l = 0; l < 1; ++l) {{ {body} }}\n"
        elif form == "undeferred":
            child = f"#pragma omp task {self.dice.choice(['if(0)', 'if(zero)', 'if(0) mergeable'])}\n{{ {body} }}\n"
        elif form == "final" and self.dice.random() < 0.4: # all of its descendants are included
            child = self.directive("", "\n" + self.directive("", body))
        else:
            child = self.directive("", body)
        child = {"wait": f"{child}#pragma omp taskwait\n", "group": f"#pragma omp taskgroup\n{{\n{child}}}\n"}.get(form, child)
        clauses = self.depend("inout", buffers)
        behind = "".join(f"mix(b[{i}], {self.dice.choice([1, 8, 50])}, {self.dice.randrange(9)});" for i in buffers)
        if "final" in form:
            return f"#pragma omp task {clauses} {self.dice.choice(['final(1)', 'final(!zero)', 'final(1) mergeable'])}\n{{\n{child}{behind} }}\n"
        return self.directive(clauses, f"\n{child}{behind}", tied=form == "group")

    def all(self, begin, i):
        """A message and one to nobody, waited for together."""
        nobody = f"MPI_Isend(b[{i}], 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[1]);"
        return (f"MPI_Request r[2]; {begin} {nobody} MPI_Waitall({self.dice.choice(['2', 'zero + 2'])}, r, "
                f"{self.dice.choice(['MPI_STATUSES_IGNORE', '(MPI_Status[2]){0}'])});")

    def send(self, i, n, tag):
        call = f"MPI_Send(b[{i}], {n}, MPI_DOUBLE, 1 - rank, {tag}, MPI_COMM_WORLD);"
        c = self.dice.randrange(9)
        form = self.dice.choice(["plain", "plain", "pointer", "pointer", "before", "after", "copy", "error", "sync", "wait", "all"])
        if form == "plain":
            return self.task("in", [i], call)
        if form == "pointer":
            return f"{{ double *x = b[{i}]; " + "\n" + self.task("in", [i], call.replace(f"b[{i}]", "x")) + "}\n"
        if form == "before":
            return self.task("inout", [i], f"mix(b[{i}], {n}, {c}); {call}")
        if form == "after":
            return self.task("inout", [i], f"{call} mix(b[{i}], {n}, {c});")
        if form == "copy":
            return self.task("in", [i], f"double own[8]; memcpy(own, b[{i}], sizeof own); "
                             + call.replace(f"b[{i}]", "own").replace(f" {n},", f" {min(n, 8)},"))
        if form == "wait":
            return self.task("in", [i], "MPI_Request r; " + call.replace("MPI_Send", "MPI_Isend").replace(");", ", &r);")
                             + f" MPI_Wait(&r, {self.dice.choice(['MPI_STATUS_IGNORE', '&(MPI_Status){0}'])});")
        if form == "all":
            return self.task("in", [i], self.all(call.replace("MPI_Send", "MPI_Isend").replace(");", ", &r[0]);"), i))
        if form == "error":
            return self.task("inout", [i], f"b[{i}][0] += 1 + {call}")
        return self.task("in", [i], call.replace("Send", "Ssend"))

    def receive(self, i, n, tag):
        call = f"MPI_Recv(b[{i}], {n}, MPI_DOUBLE, 1 - rank, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        status = call.replace("MPI_STATUS_IGNORE", "&s")
        form = self.dice.choice(["plain", "plain", "pointer", "unread", "read", "after", "any", "wait", "wait after", "all", "all after"])
        if "all" in form:
            body = self.all(call.replace("MPI_Recv", "MPI_Irecv").replace("MPI_STATUS_IGNORE", "&r[0]"), i)
            return self.task("inout", [i], body + (f" mix(b[{i}], {n}, 4);" if "after" in form else ""))
        if "wait" in form:
            body = ("MPI_Request r; " + call.replace("MPI_Recv", "MPI_Irecv").replace("MPI_STATUS_IGNORE", "&r")
                    + " MPI_Wait(&r, MPI_STATUS_IGNORE);")
            return self.task("inout", [i], body + (f" mix(b[{i}], {n}, 4);" if "after" in form else ""))
        if form == "plain":
            return self.task("inout", [i], call)
        if form == "pointer":
            return f"{{ double *x = b[{i}]; " + "\n" + self.task("inout", [i], call.replace(f"b[{i}]", "x")) + "}\n"
        if form == "unread":
            return self.task("inout", [i], f"MPI_Status s; {status}")
        if form == "read":
            return self.task("inout", [i], f"MPI_Status s; {status} b[{i}][0] += s.MPI_TAG;")
        if form == "after":
            return self.task("inout", [i], f"{call} mix(b[{i}], {n}, 3);")
        return self.task("inout", [i], f"MPI_Status s; {status.replace('1 - rank', 'MPI_ANY_SOURCE')} "
                         f"b[{i}][1] += s.MPI_SOURCE;")

    def several(self, n):
        """Sends of one task or of the creator, in a row or in a loop; a task for each receive."""
        count = self.dice.randint(2, 4)
        first = self.dice.randrange(BUFFERS)
        which = [(first + k) % BUFFERS for k in range(count)]
        arguments = f"{n}, MPI_DOUBLE, 1 - rank, {self.tag} + k, MPI_COMM_WORLD"
        if self.dice.random() < 0.5:
            body = f"for (int k = 0; k < {count}; ++k) MPI_Send(b[({first} + k) % BUFFERS], {arguments});"
        else:
            body = " ".join(f"MPI_Send(b[{i}], {arguments.replace('+ k', f'+ {k}')});" for k, i in enumerate(which))
        if self.dice.random() < 0.5:
            body += f" MPI_Send(b[{first}], 1, MPI_DOUBLE, 1 - rank, {self.tag + count}, MPI_COMM_WORLD);"
            which.append(first)
        if self.dice.random() < 0.3:
            body += f" mix(b[{first}], {n}, 2);"
        sends = self.task("inout", which, body)
        if self.dice.random() < 0.3: # by the creator itself, when all that was before is over
            sends = f"#pragma omp taskwait\n{body}\n"
        receives, all_tasks = "", range(len(which))
        if self.dice.random() < 0.3: # those of the row by the tasks of a loop
            to = [(first + k) % BUFFERS for k in range(count)]
            loop = (f"#pragma omp taskloop grainsize(1) {self.dice.choice(['', 'if(0)', 'if(zero)', 'final(1)', 'mergeable'])}\n"
                    f"for (int k = 0; k < {count}; ++k)\n"
                    f"MPI_Recv(b[({first} + k) % BUFFERS], {arguments}, MPI_STATUS_IGNORE);\n")
            receives, all_tasks = self.directive(self.depend("inout", to), f"\n{loop}mix(b[{first}], {n}, 5);"), range(count, len(which))
        for k in all_tasks:
            receives += self.receive(self.dice.randrange(BUFFERS), n if k < count else 1, self.tag + k)
        self.tag += len(which)
        return sends, receives

    def step(self):
        n = self.dice.choice([1, 8, 200, 3000, LONGEST])
        if self.dice.random() < 0.3:
            sends, receives = self.several(n)
        else:
            sends = self.send(self.dice.randrange(BUFFERS), n, self.tag)
            receives = self.receive(self.dice.randrange(BUFFERS), n, self.tag)
            self.tag += 1
        sides = (sends, receives) if self.dice.random() < 0.5 else (receives, sends)
        return between_two(sides, self.dice, self.ranks)

    def draw(self):
        return [self.step() for _ in range(self.dice.randint(1, 8))]

    def text(self, steps):
        return f"static void {self.name}(void) {{\n{body_of(steps, self.ranks)}}}\n"


class UndeferredProgram(TaskProgram):
    """What the creator touches behind such a task is an array that the compiler knows, or it waits first."""

    def directive(self, clauses, body, tied=False):
        extra = self.dice.choice(["if(0)"] * 4 + ["if(zero)", "if(0) mergeable", "if(0) priority(1)", "if(0) untied", "if(0) final(zero)"])
        if "own[" in body: # clang 19 aligns an array of an untied task to 16 bytes where it is not
            extra = extra.replace("untied", "")
        return f"#pragma omp task {clauses} {extra}\n{{ {body} }}\n"

    def task(self, access, buffers, body):
        text = self.directive(self.depend(access, buffers), body)
        # No task: the creator waits for the buffers and exchanges them.
        if re.fullmatch(r"MPI_(Send|Ssend|Recv)\([^;]*;", body) and self.dice.random() < 0.4:
            text = self.told(access, buffers, body)
        if self.dice.random() < 0.3:
            text = text.replace("b[", "fixed[")
        return text + self.behind(buffers[0])

    def told(self, access, buffers, body):
        """The peer is in a variable that tasks only read, or in one that a task writes for which the taskwait waits. Or the call is in
        a branch or a loop."""
        form, text = self.dice.choice(["", "", "known", "told", "branch", "loop"]), ""
        if form == "branch":
            body = f"if (known[1])\n{body}"
        elif form == "loop":
            body = f"for (int l = 0; l < known[1]; ++l)\n{body}"
        elif form == "known":
            body = body.replace("1 - rank", "known[1 - rank]")
        elif form == "told":
            text = f"#pragma omp task {self.depend('inout', buffers)} shared(told)\ntold = 1 - rank;\n"
            body = body.replace("1 - rank", "told")
        return f"{text}#pragma omp taskwait {self.depend(access, buffers)}\n{body}\n"

    def behind(self, i):
        """What the creator does then, or others."""
        n, c, j = self.dice.choice([1, 20, 3000]), self.dice.randrange(9), self.dice.randrange(BUFFERS)
        form = self.dice.choice(["", "", "", "work", "work", "blend", "look", "wait"])
        work = {"work": f"#pragma omp task {self.depend('inout', [i])}\nmix(b[{i}], {n}, {c});\n",
                "look": f"#pragma omp task if(0) {self.depend('inout', [i]).replace('b[', 'fixed[')}\n"
                        f"MPI_Send(fixed[{i}], 0, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);\nmix(fixed[{i}], {n}, {c});\n",
                "wait": f"#pragma omp taskwait {self.dice.choice(['', self.depend('inout', [i])])}\nmix(b[{i}], {n}, {c});\n"}
        if form == "blend" and i != j:
            return f"#pragma omp task {self.depend('in', [j])} {self.depend('inout', [i])}\nblend(b[{i}], b[{j}], {n});\n"
        return work.get(form, "")

    def receive(self, i, n, tag):
        text = super().receive(i, n, tag)
        return text if self.ranks == 2 else text.replace("MPI_ANY_SOURCE", "1 - rank")

    def exchange(self, n, tag):
        i, j = self.dice.sample(range(BUFFERS), 2)
        call = (f"MPI_Sendrecv(b[{i}], {n}, MPI_DOUBLE, 1 - rank, {tag}, b[{j}], {n}, MPI_DOUBLE, 1 - rank, {tag}, MPI_COMM_WORLD, "
                "MPI_STATUS_IGNORE);")
        clauses = f"{self.depend('in', [i])} {self.depend('inout', [j])}"
        if self.dice.random() < 0.4:
            return f"#pragma omp taskwait {clauses}\n{call}\n" + self.behind(j)
        return self.directive(clauses, call) + self.behind(j)

    def step(self):
        n, tag = self.dice.choice([1, 8, 200, 3000, LONGEST]), self.dice.choice([0, 1, self.tag])
        self.tag += 1
        if self.dice.random() < 0.2:
            sides = self.exchange(n, tag), self.exchange(n, tag)
        else:
            sides = (self.send(self.dice.randrange(BUFFERS), n, tag), self.receive(self.dice.randrange(BUFFERS), n, tag))
        return between_two(sides if self.dice.random() < 0.5 else sides[::-1], self.dice, self.ranks)

    def draw(self):
        self.static = self.dice.choice(["static ", ""])
        return [self.step() for _ in range(self.dice.randint(2, 14))]

    def text(self, steps):
        variables = (f"{self.static}int told, known[3];\ntold = -1000;\nfor (int k = 0; k < 3; ++k)\nknown[k] = k + zero;\n"
                     "#pragma omp task shared(known)\nif (known[2] != 2) abort();\n")
        end = "" if self.static else "#pragma omp taskwait\n"
        return f"static void {self.name}(void) {{\n{variables}{body_of(steps, self.ranks)}{end}}}\n"


class SerialProgram(Program):
    near = 0 # of the buffers: that of the last messages, where what is between them matters

    def between(self, buffer, n):
        """What a rank does between two messages."""
        form = self.dice.choice(["", "", "", "", "read", "write", "mix", "table", "other"])
        i, k = self.dice.randrange(BUFFERS), self.dice.randrange(n)
        return {"": "", "read": f"sum += b[{i}][{k}];", "write": f"b[{i}][{k}] += sum;", "other": f"fixed_too[{k % 8}] += k + {i};",
                "mix": f"mix(b[{i}], {n}, 1);", "table": f"b[{i}] = b[{i}] + 0 * {k};"}[form] + " "

    def side(self, sends, n, count, tag):
        """`count` messages of up to n numbers, which all go one way."""
        call = "MPI_Send(PLACE, LENGTH, MPI_DOUBLE, 1 - rank, TAG, MPI_COMM_WORLD);"
        before, after = "", ""
        if not sends:
            status = self.dice.choice(["MPI_STATUS_IGNORE"] * 3 + ["&s", "&u"])
            source = self.dice.choice(["1 - rank", "1 - rank", "MPI_ANY_SOURCE"])
            wild = self.dice.choice(["TAG", "TAG", "MPI_ANY_TAG"])
            if self.ranks > 2 and wild == "MPI_ANY_TAG":
                source = "1 - rank" # a third one's next message may be there already
            call = f"MPI_Recv(PLACE, LENGTH, MPI_DOUBLE, {source}, {wild}, MPI_COMM_WORLD, {status});"
            before = {"&s": "MPI_Status s; ", "&u": "MPI_Status u; "}.get(status, "")
            if status == "&s":
                after = " sum += s.MPI_TAG;"
                if self.dice.random() < 0.5: # after the last one, or after each
                    call, after = call + after, ""
        first, stride = self.dice.randrange(BUFFERS), self.dice.choice([0, 0, n // 2, n, 1])
        self.near = first
        stride = min(stride, (LONGEST - n) // count)
        if self.dice.random() < 0.5:
            at = self.dice.choice([f"b[{first}] + k * {stride}", f"b[({first} + k) % BUFFERS]", f"b[({first} + k) % BUFFERS] + {stride}"])
            body = call.replace("PLACE", at).replace("LENGTH", str(n)).replace(" TAG", f" {tag} + k")
            loop = f"for (int k = 0; k < {self.dice.choice(['', 'zero + '])}{count}; ++k) {{ {self.between(first, n)}{body} {self.between(first, n)}}}"
            return f"{{ {before}{loop}{after} }}\n"
        text = "const int k = zero; "
        for k in range(count):
            i = self.dice.choice([first, (first + k) % BUFFERS])
            text += call.replace("PLACE", f"b[{i}] + {k * stride}").replace("LENGTH", str(n)).replace(" TAG", f" {tag + k}")
            text += " " + self.between(first, n)
        return f"{{ {before}{text}{after} }}\n"

    def exchange(self, n, tag):
        i, to = self.dice.randrange(BUFFERS), self.dice.randrange(1, BUFFERS)
        self.near = (i + to) % BUFFERS
        status = self.dice.choice(["MPI_STATUS_IGNORE", "MPI_STATUS_IGNORE", "&s"])
        return (f"{{ const int k = zero; MPI_Status s; s.MPI_TAG = 0; {self.between(i, n)} MPI_Sendrecv(b[{i}], {n}, MPI_DOUBLE, 1 - rank, {tag}, "
                f"b[{(i + to) % BUFFERS}], {n}, MPI_DOUBLE, {self.dice.choice(['1 - rank', 'MPI_ANY_SOURCE'])}, {tag}, "
                f"MPI_COMM_WORLD, {status}); {self.between(i, n)} {'sum += s.MPI_TAG;' if status == '&s' else ''} }}\n")

    def round(self, tag):
        if self.dice.random() < 0.2:
            n = self.dice.choice([1, 8, 200, 3000])
            return ["".join(self.exchange(n, tag + k) for k in range(3)) for _ in (0, 1)]
        n, count = self.dice.choice([1, 8, 200, 3000]), self.dice.randint(1, 5)
        if self.dice.random() < 0.2:
            n, count = 8, 40 # more than are under way at a time
        text = {True: self.side(True, n, count, tag), False: self.side(False, n, count, tag)}
        if self.dice.random() < 0.6:
            first = self.dice.random() < 0.5
            return [text[first], text[not first]]
        # To and fro: both send first where messages are so short that no send waits for its receive.
        back = {True: self.side(True, 8, count, tag + 50), False: self.side(False, 8, count, tag + 50)}
        if n <= 8:
            return [text[True] + back[False], back[True] + text[False]]
        return [text[True] + back[False], text[False] + back[True]]

    def step(self, tag):
        return between_two(self.round(tag), self.dice, self.ranks)

    def draw(self):
        return [self.step(100 * i) for i in range(self.dice.choice([1, 1, 2, 2, 3, 4]))]

    def text(self, steps):
        return f"static void {self.name}(void) {{\ndouble sum = 0;\n{body_of(steps, self.ranks)}b[0][0] += sum;\n}}\n"


class LoopProgram(SerialProgram):
    """Static loops of which an iteration leaves the same whoever runs it, and some of which that is not so: they must be left
    alone. Sums are of whole numbers, so their order does not matter."""

    def access(self, table, index):
        return f"t[{table}][{index}]"

    def iteration(self, table, index):
        """Of one iteration: it may write its own place in a table, and read all of the others."""
        other = (table + self.dice.randrange(1, TABLES)) % TABLES
        own, c = self.access(table, index), self.dice.randrange(50)
        far = self.access(other, f"((unsigned long)({index}) * {self.dice.choice([1, 7, 31])} + {c}) % ITEMS")
        return self.dice.choice([
            f"{own} = ({own} * 3 + {c}) % 1009;",
            f"{own} += {far};",
            f"for (int k = 0; k < (int)(({index}) % 97); ++k) {own} += k ^ {c};",
            f"if (({index}) % 5 == {c % 5}) {{ {own} ^= {far}; }} else {{ {own} -= 1; }}",
            f"{{ long x = {far}; for (int k = 0; k < {c}; ++k) x = (x * 5 + k) % 1013; {own} = x; }}",
            f"{own} += grown({far});"])

    def loop(self, table, extra=""):
        """The loop itself, behind its directive."""
        n, step = self.dice.choice([0, 1, 5, 100, 700, 700]), self.dice.choice([1, 1, 2, 7])
        kind, end = self.dice.choice(["int", "long", "unsigned", "unsigned long"]), f"{n}" if self.dice.random() < 0.5 else f"(zero + {n})"
        body = " ".join(self.iteration(table, "i") for _ in range(self.dice.randint(1, 2)))
        sum_up = "total += " + self.access(table, "i") + ";"
        if self.dice.random() < 0.25:
            return f"for ({kind} i = ({kind}){n} + 3; i > 3; --i) {{ {body} {sum_up} {extra} }}"
        return f"for ({kind} i = {self.dice.choice([0, 3])}; i < ({kind}){end}; i += {step}) {{ {body} {sum_up} {extra} }}"

    def schedule(self):
        return self.dice.choice(["", "", "", "", " schedule(static)", f" schedule(static, {self.dice.choice([1, 3, 16])})", " schedule(dynamic, 3)"])

    def alone(self):
        return f"#pragma omp parallel for reduction(+ : total){self.schedule()}\n{self.loop(self.dice.randrange(TABLES))}\n"

    def square(self):
        table, rows, width = self.dice.randrange(TABLES), self.dice.choice([1, 10, 27]), self.dice.choice([1, 13, 25])
        index = f"i * {width} + j"
        return (f"#pragma omp parallel for collapse(2) reduction(+ : total){self.schedule()}\nfor (int i = 0; i < {rows}; ++i) for (int j = 0; j < {width}; ++j) "
                f"{{ {self.iteration(table, index)} total += {self.access(table, index)}; }}\n")

    def several(self):
        """In one region: with barriers in between, or without where the loops have nothing to do with each other."""
        loops = "".join(f"#pragma omp for reduction(+ : total){self.schedule()}\n{self.loop(self.dice.randrange(TABLES))}\n"
                        + self.dice.choice(["", "", "#pragma omp single\ntotal += 1;\n", "#pragma omp barrier\n"])
                        for _ in range(self.dice.randint(2, 4)))
        return f"#pragma omp parallel\n{{\n{loops}}}\n"

    def same_shares(self):
        """Two loops of as many iterations: a thread finds in the second what it has left in the first (OpenMP 5.2, 11.5.3)."""
        n, schedule = self.dice.choice([5, 100, 700]), self.dice.choice(["static", "static, 4"])
        table = self.dice.randrange(TABLES)
        return (f"#pragma omp parallel\n{{\n#pragma omp for schedule({schedule}) nowait\n"
                f"for (int i = 0; i < {n}; ++i) {{ {self.iteration(table, 'i')} who[i] = omp_get_thread_num(); }}\n"
                f"#pragma omp for schedule({schedule}) reduction(+ : total)\n"
                f"for (int i = 0; i < {n}; ++i) total += {self.access(table, 'i')} + 100000 * (who[i] != omp_get_thread_num());\n}}\n")

    def own_data(self):
        """Threads count for themselves."""
        loop = self.loop(self.dice.randrange(TABLES), "own += 1 + i % 3;").replace("total +=", "own +=")
        return f"#pragma omp parallel\n{{\nown = 0;\n#pragma omp for\n{loop}\n#pragma omp atomic\ntotal += own;\n}}\n"

    def last(self):
        n, table = self.dice.choice([1, 100, 700]), self.dice.randrange(TABLES)
        return (f"{{ long last = 0, first = {n};\n#pragma omp parallel for lastprivate(last) firstprivate(first)\n"
                f"for (int i = 0; i < {n}; ++i) {{ {self.iteration(table, 'i')} last = {self.access(table, 'i')} + first; }}\ntotal += last; }}\n")

    def step(self, tag):
        form = self.dice.choice([None] + [self.alone] * 3 + [self.square, self.several, self.several, self.same_shares, self.own_data, self.last])
        return super().step(tag) if form is None else [form() for _ in range(self.ranks)]

    def draw(self):
        return [self.step(100 * i) for i in range(self.dice.choice([1, 2, 3, 4, 5]))]

    def text(self, steps):
        return (f"static void {self.name}(void) {{\ndouble sum = 0;\nlong total = rank;\nfor (int i = 0; i < TABLES; ++i) for (int k = 0; k < ITEMS; ++k) "
                f"t[i][k] = (rank * 31 + i * 7 + k) % 101;\n{body_of(steps, self.ranks)}"
                "for (int i = 0; i < TABLES; ++i) for (int k = 0; k < ITEMS; ++k) b[i][k] += t[i][k] % 1009;\nb[0][0] += sum + total % 100003;\n}\n")


class WindowProgram(SerialProgram):
    """Each round is a function of its own. What follows a message may touch its buffer, or end the function."""

    def __init__(self, dice, name, ranks):
        self.functions = []
        super().__init__(dice, name, ranks)

    def place(self, length):
        """Somewhere in the memory that messages use, with that many numbers behind."""
        if self.dice.random() < 0.4:
            return f"b[{self.near}] + {self.dice.randrange(8)}"
        name = self.dice.choice([f"b[{self.dice.randrange(BUFFERS)}]", f"fixed[{self.dice.randrange(BUFFERS)}]", "lone[0]", "lone[1]", "x", "y"])
        return f"{name} + {self.dice.randrange(self.dice.choice([20, max(1, min(4000, LONGEST - length))]))}"

    def bound(self, n):
        return self.dice.choice([f"{n}", f"z + {n}", f"(long)z + {n}"])

    def walk(self):
        n, steps = self.dice.choice([0, 1, 20, 300]), (self.dice.choice([1, 1, 2, 5]), self.dice.choice([1, 1, 3]))
        to, source = (self.place(step * (n + 1)) for step in steps)
        kind, back = self.dice.choice(["int", "long", "unsigned", "unsigned long"]), self.dice.random() < 0.2
        k = f"({n} - k)" if back else "k"
        body = {"copy": f"({to})[{k} * {steps[0]}] = ({source})[k * {steps[1]}] * 0.5 + {n};", "add": f"sum += ({source})[{k} * {steps[1]}];",
                "fill": f"({to})[{k} * {steps[0]}] = k;"}[self.dice.choice(["copy", "copy", "add", "fill"])]
        if self.dice.random() < 0.15: # it begins anew
            body = body.replace(f"{k} * {steps[0]}", f"(unsigned char)({k} * {steps[0]} + {self.dice.randrange(256)})")
        if self.dice.random() < 0.2:
            body = f"if (k % 3 == 1) {{ {body} }}"
        if self.dice.random() < 0.15:
            body += f" if (k == {self.dice.choice([2, n + 7])}) stranger();"
        if self.dice.random() < 0.1:
            body += " if (sum > 1e300) break;"
        return f"for ({kind} k = 0; k < ({kind})({self.bound(n)}); ++k) {{ {body} }}"

    def table(self):
        rows, width, used = self.dice.choice([0, 1, 4, 10]), self.dice.choice([8, 50]), self.dice.choice([1, 6, 8])
        to, source = self.place((rows + 3) * width), self.place((rows + 3) * width)
        kind, end = self.dice.choice(["int", "long"]), self.dice.choice([f"{used}", f"z + {used}", "r"])
        width = self.dice.choice([f"{width}", f"({width} + z)"])
        return (f"for ({kind} r = 1; r < {self.bound(rows)} + 1; ++r) for ({kind} k = 0; k < {end}; ++k) "
                f"({to})[r * {width} + k] = ({source})[(r - 1) * {width} + k] * 0.25 + ({source})[(r + 1) * {width} + k] * 0.25;")

    def triangle(self):
        """The inner loops go as far as the outer ones are: part of a square, or of a cube."""
        n, width = self.dice.choice([0, 1, 5, 12]), self.dice.choice([12, 50])
        to, source = self.place((n + 2) * width), self.place((n + 2) * width)
        kind, end = self.dice.choice(["int", "int", "long", "unsigned"]), self.bound(n)
        inner = self.dice.choice(["k = 0; k < r; ++k", f"k = r; k < {end}; ++k", f"k = r + 1; k < {end}; ++k", "k = 0; k < 2 * r; ++k", "k = r; k > 0; --k"])
        index, other = self.dice.choice([("r", "k"), ("k", "r")])
        body = self.dice.choice([f"({to})[{index} * {width} + {other}] = ({source})[{index} * {width} + {other} + 1] * 0.5 + 1;",
                                 f"sum += ({source})[{index} * {width} + {other}];"])
        if self.dice.random() < 0.2:
            body = f"for ({kind} q = 0; q < k; ++q) {{ {body.replace(f' * {width}', f' + q + 3')} }}"
        if self.dice.random() < 0.2:
            body += " if (sum > 1e300) break;"
        return f"for ({kind} r = 0; r < ({kind})({end}); ++r) for ({kind} {inner}) {{ {body} }}"

    def lookup(self):
        """Where it goes is known to the table only."""
        n, name = self.dice.choice([1, 20, 64]), self.dice.choice(["own_table", "own_table", "fixed_too", f"fixed[{self.dice.randrange(BUFFERS)}]", f"b[{self.near}]"])
        index = "places[k] % 8" if name == "fixed_too" else "places[k]"
        body = self.dice.choice([f"{name}[{index}] += k;", f"sum += {name}[{index}];", f"{name}[{index}] = ({self.place(64)})[k] * 0.5;"])
        return f"for (int k = 0; k < {self.bound(n)}; ++k) {{ {body} }}"

    def library(self):
        one, other = self.place(20), self.place(20)
        return self.dice.choice([f"sum += memcmp({one}, {other}, {self.dice.choice(['16', '16 + z'])}) > 0;",
                                 f"kept = realloc(kept, 160 + 8 * z); kept[z + 3] = {self.dice.randrange(9)}; sum += kept[z + 3];",
                                 f"{{ int me; MPI_Comm_rank(MPI_COMM_WORLD, &me); *({self.place(1)}) += me; }}"])

    def block(self):
        n = self.dice.choice([0, 1, 64, 1000])
        to, source = self.place(n), self.place(n)
        size = f"{n} * sizeof(double)" if self.dice.random() < 0.5 else f"(z + {n}ul) * sizeof(double)"
        return self.dice.choice([f"memmove({to}, {source}, {size});", f"memset({to}, 0, {size});"])

    def compute(self, depth=0):
        form = self.dice.choice(["walk"] * 4 + ["table"] * 3 + ["triangle"] * 3 + ["lookup"] * 2
                                + ["block", "one", "one", "if", "if", "stranger", "mix", "blend", "times", "library"])
        if form == "if" and depth < 2:
            return f"if ({self.dice.choice(['z', '!z', 'sum < 0', 'rank'])}) {{ {self.compute(depth + 1)} }} else {{ {self.compute(depth + 1)} }}"
        if form == "times" and depth < 2:
            return f"for (int s{depth} = 0; s{depth} < z + 2; ++s{depth}) {{ {self.compute(depth + 1)} {self.compute(depth + 1)} }}"
        if form == "one":
            return self.dice.choice([f"sum += *({self.place(1)});", f"*({self.place(1)}) = {self.dice.randrange(9)};"])
        return {"table": self.table, "triangle": self.triangle, "lookup": self.lookup, "library": self.library, "block": self.block, "stranger": lambda: "stranger();",
                "blend": lambda: f"blend({self.place(50)}, {self.place(50)}, 50);", "mix": lambda: f"mix({self.place(50)}, 50, 2);"}.get(form, self.walk)()

    def between(self, buffer, n):
        return " ".join(self.compute() for _ in range(self.dice.choice([0, 0, 0, 0, 1, 1, 2]))) + " "

    def in_front(self):
        return ""

    def function(self, text):
        """The messages, and computation that ends in one place or another."""
        name = f"{self.name}_{len(self.functions)}"
        text = self.in_front() + text.replace("b[", self.dice.choice(["b[", "fixed["])) # one object, or who knows
        if self.dice.random() < 0.2:
            text = f"if (!z) {{ {text} }} else {{ {self.compute()} }}"
        for _ in range(self.dice.randrange(3)):
            text += f"\n{self.compute()}"
            if self.dice.random() < 0.25:
                text += f"\nif ({self.dice.choice(['z', '!z', 'sum > 0'])}) return sum;"
        x, y = (f"fixed[{self.dice.randrange(BUFFERS)}]" for _ in "xy")
        self.functions.append(f"__attribute__((noinline)) static double {name}(double *x, double *y) {{\nconst int z = zero;\ndouble sum = 0;\n"
                              f"{self.compute() if self.dice.random() < 0.3 else ''}\n{text}\nreturn sum;\n}}\n")
        return f"sum += {name}({x}, {y});\n"

    def step(self, tag):
        return [self.function(side) if side else "" for side in super().step(tag)]

    def text(self, steps):
        main = super().text(steps)
        return "".join(text for i, text in enumerate(self.functions) if f"{self.name}_{i}(" in main) + main


class HoistProgram(WindowProgram):
    """Receives that may be started before what is in front of them, unless that touches their buffers. Some are under conditions:
    those that hold, and others under some that do not."""

    def side(self, sends, n, count, tag):
        text = super().side(sends, n, count, tag)
        if sends or self.dice.random() < 0.4:
            return text
        yes, no = ["!z", "z < 3", "state[1] == 0", "rank >= z", "1 / (z + 1)"], ["z", "z > 3", "state[2]", "state[z] > 1", "rank > 9"]

        def under_a_condition(call):
            found = f"if ({self.dice.choice(yes)}) {{ {call[0]} }}" if self.dice.random() < 0.7 else call[0]
            if self.dice.random() < 0.3:
                found = f"if ({self.dice.choice(yes)}) {{ {found} }} else {{ {self.compute(2)} }}"
            if self.dice.random() < 0.4:
                found = (f"if ({self.dice.choice(no)}) {{ MPI_Recv({self.place(8)}, 8, MPI_DOUBLE, 1 - rank, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }} "
                         + found)
            return found
        return re.sub(r"MPI_Recv\([^;]*;", under_a_condition, text)

    def in_front(self):
        return "".join(self.compute() + "\n" for _ in range(self.dice.randint(1, 2)))


class CollectiveProgram(WindowProgram):
    """All ranks run the same functions. Nothing is summed up by more than two: the order of sums is MPI's."""

    def operation(self):
        return self.dice.choice(["MPI_MAX", "MPI_MIN"] + ["MPI_SUM"] * (self.ranks == 2))

    def call(self, offset=""):
        n, root = self.dice.choice([1, 8, 200, 1500]), self.dice.randrange(self.ranks)
        one, other = (f"b[{i}] + {self.dice.choice([0, 0, 3, 700])}{offset}" for i in self.dice.sample(range(BUFFERS), 2))
        way, behind = f"{n}, MPI_DOUBLE, {self.operation()}", "MPI_COMM_WORLD);"
        return self.dice.choice([
            f"MPI_Bcast({one}, {n}, MPI_DOUBLE, {root}, {behind}", f"MPI_Bcast({one}, {n}, MPI_DOUBLE, {root}, {behind}",
            f"MPI_Allreduce({one}, {other}, {way}, {behind}", f"MPI_Allreduce(MPI_IN_PLACE, {one}, {way}, {behind}",
            f"MPI_Reduce({one}, {other}, {way}, {root}, {behind}", f"MPI_Barrier({behind}",
            f"MPI_Gather({one}, {n}, MPI_DOUBLE, {other}, {n}, MPI_DOUBLE, {root}, {behind}",
            f"MPI_Allgather({one}, {n}, MPI_DOUBLE, {other}, {n}, MPI_DOUBLE, {behind}",
            f"MPI_Scatter({one}, {n}, MPI_DOUBLE, {other}, {n}, MPI_DOUBLE, {root}, {behind}",
            f"{{ double s = sum; MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, {self.operation()}, {behind} sum += s; }}"])

    def row(self):
        if self.dice.random() < 0.2:
            return (f"for (int k = 0; k < {self.dice.choice(['', 'z + '])}{self.dice.randint(2, 4)}; ++k) "
                    f"{{ {self.call(' + k * ' + str(self.dice.choice([0, 1, 2000])))} {self.between(0, 1)}}}\n")
        return "".join(f"{self.call()} {self.between(0, 1)}\n" for _ in range(self.dice.randint(1, 6)))

    def step(self, tag):
        return super().step(tag) if self.dice.random() < 0.2 else [self.function(self.row())] * self.ranks


LOOPS_HEAD = f"""
#include <omp.h>
enum {{ TABLES = {TABLES}, ITEMS = 710 }};
static long t[TABLES][ITEMS];
static int who[ITEMS];
static long own;
#pragma omp threadprivate(own)
static long grown(long x) {{ return x < 0 ? -x % 17 : x % 19; }}
"""
THREADS = "int provided;\n    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);"
KINDS = (
    ("tasks", TaskProgram, {"initialize": THREADS, "region": "_Pragma(\"omp parallel\") _Pragma(\"omp single\")"}),
    ("rows", SerialProgram, {}),
    # Nothing moves before it is waited for: a buffer that is touched too early has wrong numbers, always.
    ("windows", WindowProgram, {"head": '#include "lazy.h"\n'}),
    ("loops", LoopProgram, {"head": LOOPS_HEAD, "run": ["--split", "loops"]}),
    ("collectives", CollectiveProgram, {"head": '#define LAZY_COLLECTIVES\n#include "lazy.h"\n', "compile": ["-sennit-collectives"]}),
    # A receive is complete when it is started.
    ("earlier", HoistProgram, {"head": '#include "eager.h"\n'}),
    ("undeferred", UndeferredProgram, {"initialize": THREADS, "region": "_Pragma(\"omp parallel\") _Pragma(\"omp single\")",
                                       "compile": ["-sennit-detach"]}),
)


def file_of(words, programs):
    """The text of a file of (program, steps of it)."""
    words = {"head": "", "initialize": "MPI_Init(&argc, &argv);", "region": "", **words}
    return (words["head"] + HEAD + "".join(program.text(steps) for program, steps in programs)
            + MAIN.format(names=", ".join(program.name for program, _ in programs), **words))

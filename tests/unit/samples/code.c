/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions for code_test.cpp, which says which of them send. Built with and without a PLT. */
int MPI_Send(int x);
int MPI_Recv(int x);
int mpi_isend_(int *x);

int sample_computes(int x);
int sample_receives(int x);
int sample_sends(int x);
int sample_sends_at_the_end(int x);
int sample_sends_in_fortran(int x);
int sample_sends_below(int x);
int sample_sends_far_below(int x);
int (*sample_names_a_send(int x))(int);
int sample_recurses(int x);

static volatile int g_value;

int sample_computes(int x) {
    for (int i = 0; i < x; ++i)
        g_value += i;
    return g_value;
}
int sample_receives(int x) {
    return MPI_Recv(x) + 1;
}
int sample_sends(int x) {
    g_value = MPI_Send(x) + 1;
    return 0;
}
int sample_sends_at_the_end(int x) {
    return MPI_Send(x + 1);
}
#ifdef __x86_64__
/* As clang compiles a call at the end of a branch. */
int sample_sends_in_a_branch(int x);
__attribute__((visibility("hidden"), used)) int sample_branch(int x) {
    return MPI_Send(x + 2) + 1;
}
__asm__(".globl sample_sends_in_a_branch\n"
        ".type sample_sends_in_a_branch, @function\n"
        "sample_sends_in_a_branch:\n"
        ".cfi_startproc\n"
        "test %edi, %edi\n"
        "jne sample_branch\n"
        "xor %eax, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size sample_sends_in_a_branch, . - sample_sends_in_a_branch\n");
#endif
int sample_sends_in_fortran(int x) {
    return mpi_isend_(&x) + 1;
}

#define LEVEL(name, calls)                                                                         \
    __attribute__((noinline)) static int name(int x) {                                             \
        g_value = x;                                                                               \
        return calls(x) + 1;                                                                       \
    }
LEVEL(level1, MPI_Send)
LEVEL(level2, level1)
LEVEL(level3, level2)
LEVEL(level4, level3)

int sample_sends_below(int x) {
    return level2(x) + 1;
}
int sample_sends_far_below(int x) {
    return level4(x) + 1;
}
/* It does not call it. */
int (*sample_names_a_send(int x))(int) {
    g_value = x;
    return MPI_Send;
}
int sample_recurses(int x) {
    g_value += x;
    return x > 0 ? sample_recurses(g_value) + sample_computes(x) : x;
}

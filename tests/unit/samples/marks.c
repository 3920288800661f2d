/* SPDX-License-Identifier: Apache-2.0
 *
 * An object in which one file was compiled with marks, and others without: for marks_test.cpp. */
int MPI_Send(int x);
int sample_marked(int x);
int sample_of_another_file(int x);
int sample_calls_nothing(int x);

static volatile int g_value;

__attribute__((used)) static int marked_here(int x) {
    return x + g_value;
}
int sample_marked(int x) __attribute__((alias("marked_here"))); /* others could replace it */
int sample_of_another_file(int x) {
    g_value = MPI_Send(x) + 1;
    return 0;
}
int sample_calls_nothing(int x) {
    return g_value = x;
}

__asm__(".pushsection .note.sennit, \"a\", @note\n"
        ".balign 4\n"
        ".long 7, 4, 0x53454e44\n"
        ".asciz \"Sennit\"\n"
        ".balign 4\n"
        ".long marked_here - .\n"
        ".popsection\n");

// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/call.h"

#if defined(__x86_64__)

// The registers that a function keeps (System V ABI, 3.2.1), in the order of their places.
#define SAVE                                                                                       \
    "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"                      \
    "sub $8, %rsp\n stmxcsr (%rsp)\n fnstcw 4(%rsp)\n"
// A `ret` would be predicted wrong: the call before it was another flow's.
#define LOAD_REGISTERS                                                                             \
    "add $8, %rsp\n"                                                                               \
    "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n pop %rcx\n jmp *%rcx\n"
#define LOAD_CONTROL "ldmxcsr (%rsp)\n fldcw 4(%rsp)\n"
#define LOAD LOAD_CONTROL LOAD_REGISTERS
// From where the registers are saved, in rsp, to the place in rsi. What the control of floating
// point was is compared, for to load it takes longer. `more` runs in between.
#define SWITCH(more)                                                                               \
    SAVE "mov %rsp, (%rdi)\n mov (%rsp), %eax\n movzwl 4(%rsp), %ecx\n mov %rsi, %rsp\n" more      \
         "cmp (%rsp), %eax\n jne 1f\n cmp 4(%rsp), %cx\n jne 1f\n" LOAD_REGISTERS "1:\n" LOAD
#define FUNCTION(name)                                                                             \
    ".globl " #name "\n .type " #name ", @function\n .p2align 4\n" #name ":\n endbr64\n"
#define SIGRETURN "mov $15, %eax\n syscall\n"

asm(".pushsection .text.sennit_virt, \"ax\", @progbits\n"
    // clang-format off
    FUNCTION(sennit_virt_switch)
        SWITCH("wrfsbase %rdx\n")
    FUNCTION(sennit_virt_step_back)
        SWITCH("")
    FUNCTION(sennit_virt_leave)
        "mov %rdi, %rsp\n wrfsbase %rsi\n" LOAD
    FUNCTION(sennit_virt_park)
        SAVE "mov %rsp, (%rdi)\n mov %rsi, %rsp\n mov %rcx, %rdi\n call *%rdx\n"
        "mov %rax, %rsp\n" LOAD
    ".globl sennit_virt_calls_begin\n sennit_virt_calls_begin:\n"
    FUNCTION(sennit_virt_resume)
        SAVE "mov %rsp, (%rdi)\n mov %rsi, %rsp\n wrfsbase %rdx\n" SIGRETURN "ud2\n"
    FUNCTION(sennit_virt_return)
        "mov %rdi, %rsp\n" SIGRETURN "ud2\n"
    FUNCTION(sennit_virt_restorer)
        SIGRETURN "ud2\n"
    FUNCTION(sennit_virt_call)
        "mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n"
        "mov %r8, %r10\n mov %r9, %r8\n mov 8(%rsp), %r9\n syscall\n ret\n"
    ".globl sennit_virt_calls_end\n sennit_virt_calls_end:\n"
                         // clang-format on
                         ".popsection\n");

#endif

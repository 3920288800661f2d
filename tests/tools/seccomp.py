# SPDX-License-Identifier: Apache-2.0
"""System calls that are denied to a started command and all that it starts, as containers and old
kernels do. x86-64 only."""
import ctypes
import errno
import os
import platform

# The table of the kernel's headers, as far as tests need it.
NUMBERS = {
    "sched_yield": 24, "mremap": 25, "madvise": 28, "getrlimit": 97, "flock": 73,
    "rt_sigtimedwait": 128, "rt_tgsigqueueinfo": 297, "sigaltstack": 131, "setpriority": 141,
    "sched_setscheduler": 144, "prctl": 157, "sched_setaffinity": 203, "sched_getaffinity": 204,
    "timer_create": 222, "clock_nanosleep": 230, "tgkill": 234, "mbind": 237, "get_mempolicy": 239,
    "set_robust_list": 273, "fallocate": 285, "timerfd_create": 283, "signalfd4": 289, "eventfd2": 290,
    "perf_event_open": 298, "prlimit64": 302, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "sched_setattr": 314, "sched_getattr": 315, "getrandom": 318, "memfd_create": 319,
    "userfaultfd": 323, "membarrier": 324, "copy_file_range": 326, "statx": 332, "rseq": 334,
    "pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "clone3": 435,
    "close_range": 436, "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439, "futex_waitv": 449,
}

_LOAD, _EQUALS, _END = 0x20, 0x15, 0x06  # of a word of struct seccomp_data
_REFUSED, _ALLOWED = 0x00050000, 0x7fff0000


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("if_true", ctypes.c_uint8), ("if_false", ctypes.c_uint8),
                ("value", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("code", ctypes.POINTER(_Instruction))]


def is_possible():
    return platform.machine() == "x86_64"


def _install(code):
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_filter, filter_mode = 38, 22, 2
    array = (_Instruction * len(code))(*code)
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or \
            libc.prctl(set_filter, filter_mode, ctypes.byref(_Program(len(code), array)), 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def deny(names, error):
    """For this process from now on: these calls fail with the error."""
    code = [(_LOAD, 0, 0, 0)]
    for name in names:
        code += [(_EQUALS, 0, 1, NUMBERS[name]), (_END, 0, 0, _REFUSED | error)]
    _install(code + [(_END, 0, 0, _ALLOWED)])


def deny_first_argument(name, argument, error):
    """The call, with that as its first argument."""
    _install([(_LOAD, 0, 0, 0), (_EQUALS, 0, 3, NUMBERS[name]), (_LOAD, 0, 0, 16),
              (_EQUALS, 0, 1, argument), (_END, 0, 0, _REFUSED | error), (_END, 0, 0, _ALLOWED)])


if __name__ == "__main__":  # seccomp.py NAME[,NAME...] ENOSYS|EPERM COMMAND...
    import sys
    deny(sys.argv[1].split(","), getattr(errno, sys.argv[2]))
    os.execvp(sys.argv[3], sys.argv[3:])

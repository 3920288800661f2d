/* SPDX-License-Identifier: Apache-2.0
 * The calls of stat: before glibc 2.33 they were inline functions, which named the form of the
 * structure. As libc_floor.c, but not in libsennit-rank.so, which stands in front of stat. */
#include <sys/stat.h>

#if __GLIBC_PREREQ(2, 33)
#ifdef __x86_64__
enum { VERSION = 1 };
#else
enum { VERSION = 0 };
#endif
int __xstat(int version, const char *path, struct stat *result);
int __lxstat(int version, const char *path, struct stat *result);
int __fxstat(int version, int file, struct stat *result);
int __fxstat64(int version, int file, struct stat64 *result);
int __fxstatat(int version, int folder, const char *path, struct stat *result, int flags);

int stat(const char *path, struct stat *result) {
    return __xstat(VERSION, path, result);
}
int lstat(const char *path, struct stat *result) {
    return __lxstat(VERSION, path, result);
}
int fstat(int file, struct stat *result) {
    return __fxstat(VERSION, file, result);
}
int fstat64(int file, struct stat64 *result) {
    return __fxstat64(VERSION, file, result);
}
int fstatat(int folder, const char *path, struct stat *result, int flags) {
    return __fxstatat(VERSION, folder, path, result, flags);
}
#endif

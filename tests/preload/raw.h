/* SPDX-License-Identifier: MIT */
/* System calls by the instruction, which no library can see. */
#ifndef RAW_H
#define RAW_H

#include <sys/syscall.h>

/* What the kernel returns: negative is -errno. */
static inline long raw_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;

    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
    return number;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

#endif

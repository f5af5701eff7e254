/* SPDX-License-Identifier: MIT */
/* The library. */
#include "woven.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int8_t narrow(int8_t a, uint8_t b, int16_t c, uint16_t d)
{
    return (int8_t)(a + b + c + d);
}

int64_t wide(int32_t a, uint32_t b, int64_t c, uint64_t d)
{
    return a + (int64_t)b + c + (int64_t)d;
}

float single(float a, double b)
{
    return (float)(a * b);
}

long double longest(long double a)
{
    return a / 3;
}

_Bool truth(_Bool a)
{
    return !a;
}

void nothing(void) {}

struct pair swap(struct pair pair)
{
    return (struct pair){pair.second, pair.first};
}

struct mixed mixed(struct mixed value, int factor)
{
    value.number *= factor;
    value.part *= (float)factor;
    value.pair.first *= factor;
    value.pair.second *= factor;
    memcpy(value.letters, "abc", 4);
    return value;
}

int many(int a, int b, int c, int d, int e, int f, int g, int h, double i, double j, double k, double l, double m,
         double n, double o, double p, double q, int r)
{
    return a - b + c - d + e - f + g - h + (int)(i - j + k - l + m - n + o - p + q) + r;
}

int call_back(int (*callback)(int), int n)
{
    int all = 0;

    for (int i = 0; i < n; i++)
        all += callback(i);
    return all;
}

const char *text(const char *text, char *buffer, size_t size)
{
    snprintf(buffer, size, "<%s>", text ? text : "nothing");
    return buffer;
}

int sum(int count, ...)
{
    va_list list;
    int all = 0;

    va_start(list, count);
    while (count--)
        all += va_arg(list, int);
    va_end(list);
    return all;
}

/* A function that calls itself does so directly, whatever the linkage table says: so two take
 * turns. */
static __attribute__((noinline)) int again(int depth)
{
    return 1 + outer(depth - 1);
}

int outer(int depth)
{
    return depth ? again(depth) : 0;
}

int fails(void)
{
    errno = ENOTBLK;
    return -1;
}

int versioned_old(void)
{
    return 1;
}

int versioned_new(void)
{
    return 2;
}
__asm__(".symver versioned_old, versioned@WOVEN_1");
__asm__(".symver versioned_new, versioned@@WOVEN_2");

int jumps(void *where, int value)
{
    longjmp(where, value);
}

int variable = 3;

/* SPDX-License-Identifier: MIT */
/* A library whose functions are woven: arguments and results of every kind. */
#ifndef WOVEN_H
#define WOVEN_H

#include <stddef.h>
#include <stdint.h>

struct pair {
    double first, second;
};
struct mixed {
    int32_t number;
    float part;
    struct pair pair;
    char letters[4];
};

int8_t narrow(int8_t a, uint8_t b, int16_t c, uint16_t d);
int64_t wide(int32_t a, uint32_t b, int64_t c, uint64_t d);
float single(float a, double b);
long double longest(long double a);
_Bool truth(_Bool a);
void nothing(void);
struct pair swap(struct pair pair);
struct mixed mixed(struct mixed value, int factor);
int many(int a, int b, int c, int d, int e, int f, int g, int h, double i, double j, double k, double l, double m,
         double n, double o, double p, double q, int r);
int call_back(int (*callback)(int), int n);
const char *text(const char *text, char *buffer, size_t size);
int sum(int count, ...);
int outer(int depth); /* calls itself through the library's own linkage table */
int fails(void);      /* sets errno */
int versioned(void);
int jumps(void *where, int value);

#endif

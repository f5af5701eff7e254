/* SPDX-License-Identifier: MIT */
/* preload/text.c against the C library: every small size, alignment and overlap, and some large
 * ones. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define memcpy  own_memcpy
#define memmove own_memmove
#define memset  own_memset
#define memcmp  own_memcmp
#define memchr  own_memchr
#define strlen  own_strlen
#define strnlen own_strnlen
#define strcmp  own_strcmp
#define strncmp own_strncmp
#define strchr  own_strchr
#define strrchr own_strrchr
#define strcspn own_strcspn
#define strstr  own_strstr
#include "os/text.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strcspn
#undef strstr

enum { ROOM = 1 << 16, FEW = 200 };

static unsigned wrong, compared;
static uint8_t source[ROOM], ours[ROOM], theirs[ROOM];
static char *page_end; /* behind it no access is allowed */

static void same(int condition, const char *what, size_t size)
{
    compared++;
    if (condition)
        return;
    if (wrong++ < 20)
        printf("FAILED  %s, %zu\n", what, size);
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static void fill(void)
{
    for (size_t i = 0; i < ROOM; i++)
        ours[i] = theirs[i] = source[i] = (uint8_t)rand();
}

static void copies(size_t size, size_t from, size_t to)
{
    fill();
    own_memcpy(ours + to, source + from, size);
    memcpy(theirs + to, source + from, size);
    same(!memcmp(ours, theirs, ROOM), "memcpy", size);
    own_memmove(ours + to, ours + from, size);
    memmove(theirs + to, theirs + from, size);
    same(!memcmp(ours, theirs, ROOM), "memmove", size);
    own_memset(ours + to, (int)(size + 200), size);
    memset(theirs + to, (int)(size + 200), size);
    same(!memcmp(ours, theirs, ROOM), "memset", size);
}

static void all_copies(void)
{
    for (size_t size = 0; size < FEW; size++)
        for (size_t shift = 0; shift < 40; shift += 1 + size / 20)
            copies(size, 20 + shift / 2, shift);
    for (int i = 0; i < 300; i++) {
        size_t size = (size_t)rand() % (ROOM / 2);

        copies(size, (size_t)rand() % (ROOM / 2), (size_t)rand() % (ROOM / 2));
    }
}

/* Texts of few letters, so that they are alike for long; at the end of a page, so that reading on
 * would be found out. */
static void texts(size_t size)
{
    char *one = page_end - size - 1, other[FEW + 1], part[3] = {(char)('a' + rand() % 3), (char)('a' + rand() % 3), 0};
    size_t at = (size_t)rand() % (size + 1);

    for (size_t i = 0; i < size; i++)
        one[i] = (char)('a' + (rand() % 8 ? 0 : rand() % 3));
    one[size] = 0;
    strcpy(other, one);
    if (rand() % 2)
        other[at] = (char)rand();
    same(own_strlen(one) == strlen(one), "strlen", size);
    same(own_strnlen(one, at) == strnlen(one, at), "strnlen", size);
    same(sign(own_strcmp(one, other)) == sign(strcmp(one, other)), "strcmp", size);
    same(sign(own_strncmp(one, other, at)) == sign(strncmp(one, other, at)), "strncmp", size);
    same(sign(own_memcmp(one, other, size + 1)) == sign(memcmp(one, other, size + 1)), "memcmp", size);
    same(own_memchr(one, 'b', size) == memchr(one, 'b', size), "memchr", size);
    same(own_memchr(one, 'b', at) == memchr(one, 'b', at), "memchr", at);
    same(own_memchr(one + at, 'b', size - at) == memchr(one + at, 'b', size - at), "memchr", size - at);
    same(own_strnlen(one, SIZE_MAX) == size, "strnlen", size);
    same(sign(own_memcmp(one, other, at)) == sign(memcmp(one, other, at)), "memcmp", at);
    for (int letter = 0; letter < 256; letter += letter ? 1 : 'a') {
        same(own_strchr(one, letter) == strchr(one, letter), "strchr", size);
        same(own_strrchr(one, letter) == strrchr(one, letter), "strrchr", size);
    }
    same(own_strcspn(one, part) == strcspn(one, part), "strcspn", size);
    same(own_strcspn(one, "") == strcspn(one, ""), "strcspn", size);
    same(own_strstr(one, part) == strstr(one, part), "strstr", size);
    same(own_strstr(one, other + at) == strstr(one, other + at), "strstr", size);
    same(own_strstr(one, "") == one, "strstr", size);
}

int main(void)
{
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
        return 2;
    page_end = pages + 4096;
    all_copies();
    for (int i = 0; i < 20; i++)
        for (size_t size = 0; size < FEW; size++)
            texts(size);
    printf("%u comparisons, %u differences\n", compared, wrong);
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT */
/* Owns how a name becomes a pattern. */
#include "base/glob.h"

#include <stdlib.h>
#include <string.h>

size_t dft_glob_escape(char *to, const char *bytes, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        if (bytes[i] && strchr("*?[!\\", bytes[i]))
            to[n++] = '\\';
        to[n++] = bytes[i];
    }
    return n;
}

char *dft_glob_of_name(const char *name)
{
    size_t length = strlen(name);
    char *pattern = malloc(2 * length + 1);

    if (!pattern)
        return NULL;
    pattern[dft_glob_escape(pattern, name, length)] = '\0';
    for (char *comma = pattern; (comma = strchr(comma, ','));)
        *comma = '?';
    return pattern;
}

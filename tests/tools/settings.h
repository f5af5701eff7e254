/* Settings of the programs that make traces: "name=number" arguments. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdlib.h>
#include <string.h>

struct setting {
    const char *name;
    long *value;
};

/* Returns 0, or -1: none has this name. */
static inline int setting_set(const struct setting *list, size_t count, const char *argument)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(list[i].name);

        if (strncmp(argument, list[i].name, n) || argument[n] != '=')
            continue;
        *list[i].value = atol(argument + n + 1);
        return 0;
    }
    return -1;
}

#endif

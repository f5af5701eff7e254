/* SPDX-License-Identifier: MIT */
/* Decides how far a text of the program can be read. */
#include "os/reading.h"

#include <errno.h>
#include <string.h>

#include "os/sys.h"

#define PAGE ((uintptr_t)4096) /* the smallest size of a page */

int dft_reading_is_done(int err)
{
    return err == ENOENT || err == EACCES || err == EEXIST || err == ENOTDIR || err == EISDIR || err == ELOOP ||
           err == ENODATA;
}

int dft_reading_find(struct dft_text *text, const char *at, uint32_t most)
{
    *text = (struct dft_text){at, 0};
    while (text->length < most) {
        uintptr_t next = (uintptr_t)at + text->length;
        uint32_t capacity = (uint32_t)(PAGE - next % PAGE), n;

        if (!dft_sys_can_read((const void *)(next & ~(uintptr_t)7))) /* NOLINT: an address of the program */
            return -1;
        if (capacity > most - text->length)
            capacity = most - text->length;
        n = (uint32_t)strnlen(at + text->length, capacity);
        text->length += n;
        if (n < capacity)
            break;
    }
    return 0;
}

int dft_reading_path(struct dft_text *text, const char *path, int done)
{
    *text = (struct dft_text){path, 0};
    if (!path)
        return 0;
    if (!done)
        return dft_reading_find(text, path, DFT_PATH_MAX);
    text->length = (uint32_t)strnlen(path, DFT_PATH_MAX);
    return 0;
}

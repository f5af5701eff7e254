/* SPDX-License-Identifier: MIT */
/* Patches for traces and live files: see patches.h. */
#include "patches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/crc32c.h"
#include "format/format.h"
#include "format/crc32c.h"

#define ROOM (256u << 10)

struct file {
    uint8_t original[ROOM], bytes[ROOM];
    size_t size, used;
};

static struct file files[2]; /* trace, live */

static void load(struct file *file, const char *path)
{
    FILE *stream = fopen(path, "rb");

    if (!stream || !(file->size = fread(file->original, 1, ROOM / 2, stream))) {
        perror(path);
        exit(2);
    }
    fclose(stream);
}

enum how { OVERWRITE, CUT, ZEROS, INSERT, TAKE_OUT, REPEAT, ADD, ONES };

/* What begins at `from` begins at `to`; what falls out is lost. */
static void shift(struct file *file, size_t from, size_t to)
{
    size_t tail = file->used - from;

    if (to > ROOM)
        to = ROOM;
    if (to + tail > ROOM)
        tail = ROOM - to;
    memmove(file->bytes + to, file->bytes + from, tail);
    file->used = to + tail;
}

static void apply(struct file *file, enum how how, size_t at, size_t n, const uint8_t *bytes)
{
    size_t left, many;

    if (!file->used)
        return;
    at %= file->used;
    left = file->used - at;
    many = 16 * n < left ? 16 * n : left;
    n = n < left ? n : left;
    if (file->used + many > ROOM)
        return;
    switch (how) {
    case OVERWRITE:
        memcpy(file->bytes + at, bytes, n);
        break;
    case CUT:
        file->used = at;
        break;
    case ZEROS:
        memset(file->bytes + at, 0, many);
        break;
    case INSERT:
        shift(file, at, at + n);
        memcpy(file->bytes + at, bytes, n);
        break;
    case TAKE_OUT:
        shift(file, at + many, at);
        break;
    case REPEAT:
        shift(file, at, at + many);
        break;
    case ADD:
        for (size_t i = 0; i < n; i++)
            file->bytes[at + i] = (uint8_t)(file->bytes[at + i] + bytes[i]);
        break;
    case ONES:
        memset(file->bytes + at, 0xff, n);
        break;
    }
}

static int has_bytes(enum how how)
{
    return how == OVERWRITE || how == INSERT || how == ADD;
}

/* Right checksums wherever there is a header. */
static void set_checksums(struct file *file)
{
    for (size_t at = 0; at + sizeof(struct dft_block_header) <= file->used; at++) {
        struct dft_block_header header;
        size_t left = file->used - at - sizeof header;

        memcpy(&header, file->bytes + at, sizeof header);
        if (header.magic != DFT_BLOCK_MAGIC || header.stored > left)
            continue;
        header.payload_crc = dft_crc32c(0, file->bytes + at + sizeof header, header.stored);
        header.header_crc = 0;
        header.header_crc = dft_crc32c(0, &header, sizeof header);
        memcpy(file->bytes + at, &header, sizeof header);
    }
}

void patches_apply(const uint8_t *data, size_t size, struct patched *patched)
{
    int leave = 0;

    if (!files[0].size) {
        load(&files[0], DFT_TEMPLATE "/t1-0.dft");
        load(&files[1], DFT_TEMPLATE "/t1-0.dft.live");
    }
    for (int i = 0; i < 2; i++) {
        memcpy(files[i].bytes, files[i].original, files[i].size);
        files[i].used = files[i].size;
    }
    while (size >= 4) {
        enum how how = (enum how)(data[0] >> 1 & 7);
        size_t n = data[3];

        if (has_bytes(how) && n > size - 4)
            n = size - 4;
        leave |= data[0] >> 7;
        apply(&files[data[0] & 1], how, data[1] | (size_t)data[2] << 8, n, data + 4);
        if (!has_bytes(how))
            n = 0;
        data += 4 + n;
        size -= 4 + n;
    }
    if (!leave)
        set_checksums(&files[0]);
    *patched = (struct patched){files[0].bytes, files[1].bytes, files[0].used, files[1].used};
}

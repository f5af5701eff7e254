/* SPDX-License-Identifier: MIT */
/* The law on real traces: the rows that the library made while a program ran, merged, equal the
 * rows made here from the events in the same files, integer for integer. Prints one line a file;
 * exit code 1 when any differs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "format/block.h"
#include "format/decode.h"

struct online {
    const char *path;
    struct dft_decoder *decoder;
    struct dft_table *from_rows, *from_events;
    uint64_t interval_ns, events;
};

static int online_fail(const struct online *online, const char *what)
{
    printf("%s: %s\n", online->path, what);
    return -1;
}

static char *online_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0)
        bytes = malloc((size_t)size);
    if (bytes) {
        rewind(file);
        *length = fread(bytes, 1, (size_t)size, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

static int online_merge_rows(struct online *online, const struct dft_block_header *header, const void *payload)
{
    struct dft_buckets buckets;
    const char *why;

    if (dft_decode_buckets(online->decoder, header, payload, &buckets, &why))
        return online_fail(online, why);
    if (!online->from_rows) {
        online->interval_ns = buckets.interval_ns;
        online->from_rows = dft_table_create(buckets.interval_ns, 0);
    }
    if (!online->from_rows || buckets.interval_ns != online->interval_ns)
        return online_fail(online, "rows of different intervals");
    for (uint32_t i = 0; i < buckets.count; i++)
        if (dft_table_merge(online->from_rows, &buckets.rows[i]))
            return online_fail(online, "a row was refused");
    return 0;
}

static int online_add_events(struct online *online, const struct dft_block_header *header, const void *payload)
{
    struct dft_batch batch;
    uint32_t position = 0;
    const char *why;

    if (dft_decode_events(online->decoder, header, payload, &batch, &why))
        return online_fail(online, why);
    online->events += batch.count;
    if (dft_table_add(online->from_events, &batch, &position))
        return online_fail(online, "events were refused");
    return 0;
}

/* Goes over all blocks of one type. */
static int online_walk(struct online *online, const char *bytes, size_t length, enum dft_block_type type)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    size_t offset = 0, found;
    int rc = 0;

    while (!rc && dft_block_next(bytes, length, &offset, &header, &found, &skipped)) {
        const char *payload = bytes + found + sizeof(header);

        if (header.type == type)
            rc = type == DFT_BLOCK_BUCKETS ? online_merge_rows(online, &header, payload)
                                           : online_add_events(online, &header, payload);
    }
    return skipped.damaged ? online_fail(online, skipped.reason) : rc;
}

static int online_compare(struct online *online)
{
    struct dft_row *a, *b;
    uint32_t na, nb;
    const char *why;

    if (dft_table_rows(online->from_rows, &a, &na) || dft_table_rows(online->from_events, &b, &nb))
        return online_fail(online, "no memory");
    why = model_difference(a, na, b, nb, 0);
    if (why)
        return online_fail(online, why);
    printf("%s: %llu events, %u rows, equal\n", online->path, (unsigned long long)online->events, na);
    return 0;
}

static int online_check(const char *path)
{
    struct online online = {.path = path, .decoder = dft_decoder_create()};
    size_t length = 0;
    char *bytes = online_read(path, &length);
    int rc = -1;

    if (!online.decoder || !bytes) {
        online_fail(&online, "cannot be read");
        goto out;
    }
    rc = online_walk(&online, bytes, length, DFT_BLOCK_BUCKETS);
    if (rc)
        goto out;
    if (!online.from_rows) {
        rc = online_fail(&online, "has no rows");
        goto out;
    }
    online.from_events = dft_table_create(online.interval_ns, DFT_KEEP_HISTOGRAMS);
    rc = online.from_events ? online_walk(&online, bytes, length, DFT_BLOCK_EVENTS) : -1;
    if (!rc)
        rc = online_compare(&online);
out:
    free(bytes);
    dft_table_destroy(online.from_rows);
    dft_table_destroy(online.from_events);
    dft_decoder_destroy(online.decoder);
    return rc;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;

    for (int i = 1; i < argc; i++)
        failed |= online_check(argv[i]) != 0;
    return failed;
}

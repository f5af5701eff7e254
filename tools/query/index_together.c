/* SPDX-License-Identifier: MIT */
/* The file beside the indexes that is of all traces together: reading and writing. */
#include "query/index_together.h"

#include <errno.h>
#include <stdlib.h>

#include "source/source_inside.h"

#define VERSION UINT64_C(1) /* of what query_together.c writes */

struct dft_together *dft_source_together(struct dft_source *source)
{
    return &source->together;
}

int dft_together_key(const struct dft_source *source, struct dft_index_key *key)
{
    return dft_beside_key(source, VERSION, key);
}

/* Is every block whole? Or -ENOMEM. */
static int is_whole(const struct dft_together *together)
{
    struct dft_decoder *decoder = dft_decoder_create();
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets buckets;
    size_t offset = 0, found;
    const char *why;
    int rc = decoder ? 1 : -ENOMEM;

    while (rc == 1 && dft_block_next(together->bytes, together->length, &offset, &header, &found, &skipped))
        if (header.type != DFT_BLOCK_BUCKETS ||
            dft_decode_buckets(decoder, &header, together->bytes + found + sizeof header, &buckets, &why))
            rc = 0;
    dft_decoder_destroy(decoder);
    return rc == 1 ? !skipped.damaged && !skipped.bytes && !skipped.holes : rc;
}

int dft_together_read(const struct dft_source *source, const struct dft_index_key *key, struct dft_together *together)
{
    char *path = dft_beside_path(source, "together");
    struct dft_pfw_counts counts;
    int rc = path ? dft_beside_read(path, key, DFT_TOGETHER_BYTES, &counts, &together->bytes, &together->length) : 0;
    int keep = rc == 1 && !counts.not_kept;

    free(path);
    if (keep)
        rc = is_whole(together);
    if (keep && rc == 1)
        return 1;
    free(together->bytes);
    together->bytes = NULL;
    together->length = 0;
    return rc;
}

void dft_together_write(const struct dft_source *source, const struct dft_index_key *key,
                        const struct dft_together *together)
{
    struct dft_pfw_counts counts = {.not_kept = !together->bytes};
    char *path = dft_beside_path(source, "together");

    if (path)
        dft_beside_write(path, key, &counts, together->bytes, together->bytes ? together->length : 0);
    free(path);
}

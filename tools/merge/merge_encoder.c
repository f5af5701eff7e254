/* SPDX-License-Identifier: MIT */
/* Makes encoders for merge, and collects texts of names that must come along. */
#include "merge/merge_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "intake/source_read.h"
#include "format/decode.h"
#include "format/encode.h"

struct dft_encoder *dft_merge_encoder(void)
{
    void *memory = mmap(NULL, dft_encoder_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : dft_encoder_init(memory);
}

void dft_merge_encoder_free(struct dft_encoder *encoder)
{
    if (encoder)
        munmap(encoder, dft_encoder_bytes());
}

/* Encodes the texts of names in a COVERED block. Returns the number of bytes, or -errno. *text is
 * valid until the encoder is used again. The number is 0 when the block has no such texts, or
 * cannot be read, which is noted. */
static long names_of(struct dft_reader *reader, struct dft_encoder *encoder, const struct dft_block *block,
                     const void **text)
{
    struct dft_block_header header;
    const struct dft_name *names;
    const void *payload;
    struct dft_name *list;
    const char *reason;
    uint32_t count = 0, n = 0;
    long length = 0;

    if (block->state != DFT_BLOCK_COVERED || (block->type != DFT_BLOCK_EVENTS && block->type != DFT_BLOCK_BUCKETS) ||
        dft_reader_block(reader, block, &header, &payload) ||
        dft_decode_names(dft_reader_decoder(reader), &header, payload, &names, &count, &reason))
        return 0;
    list = malloc((count + 1u) * sizeof *list);
    if (!list)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (names[i].text.bytes)
            list[n++] = names[i];
    if (n)
        length = dft_encode_names(encoder, 0, list, n, text);
    free(list);
    return length;
}

int dft_merge_covered_names(struct dft_archive *archive, struct dft_reader *reader, struct dft_encoder *encoder,
                            const struct dft_block *block)
{
    const void *text;
    long length = names_of(reader, encoder, block, &text);

    return length > 0 ? dft_archive_put(archive, text, (size_t)length) : (int)length;
}

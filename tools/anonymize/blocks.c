/* SPDX-License-Identifier: MIT */
/* Blocks without names. Columns of numbers are copied as they are. */
#include "anonymize/blocks.h"

#include <errno.h>
#include <string.h>

#include "anonymize/names.h"
#include "anonymize/records.h"
#include "format/hash.h"

#define REGION_KEY "\0region" /* its value may be the id of a name */

/* A key of a DFTracer trace is made from the path of its file. The upper bits stay, and with them the
 * order of processes. */
uint64_t dft_anonymizer_key(struct dft_anonymizer *anonymizer, uint64_t key)
{
    const uint64_t low = (UINT64_C(1) << 40) - 1;

    return key ? (key & ~low) | (dft_hashes_number(&anonymizer->texts.words, key) & low) : 0;
}

/* --- what columns ask ------------------------------------------------------------------------- */

static int name_of(void *context, uint64_t id, struct dft_text text, uint64_t *other)
{
    struct dft_anonymizer *anonymizer = context;
    int rc = dft_anonymizer_id(anonymizer, id, other);

    (void)text; /* the source has it, too */
    return rc ? rc : dft_anonymizer_refer(anonymizer, id, *other);
}

static int call_of(void *context, struct dft_text text, struct dft_text *other)
{
    struct dft_anonymizer *anonymizer = context;
    int rc = dft_anonymizer_name(anonymizer, text);

    *other = (struct dft_text){anonymizer->text.bytes, (uint32_t)anonymizer->text.length};
    return rc;
}

static int arg_of(void *context, struct dft_arg *arg)
{
    struct dft_anonymizer *anonymizer = context;
    struct dft_long_text *text = &anonymizer->text;
    uint64_t other;
    int rc = 0;

    if (arg->type == DFT_ARG_INT && arg->key == dft_name_id(REGION_KEY, sizeof REGION_KEY - 1)) {
        if (dft_names_text(dft_source_names_table(anonymizer->source), (uint64_t)arg->i).bytes) {
            rc = name_of(anonymizer, (uint64_t)arg->i, (struct dft_text){NULL, 0}, &other);
            arg->i = (int64_t)other;
        }
    } else if (arg->type == DFT_ARG_STRING) {
        text->length = 0;
        dft_texts_any(&anonymizer->texts, arg->s, text);
        arg->s = (struct dft_text){text->bytes, (uint32_t)text->length};
        rc = text->rc;
    }
    return rc;
}

static uint64_t process_of(void *context, uint64_t key)
{
    return dft_anonymizer_key(context, key);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A text that is longer than before may make a block too large for the format: then its texts go. */
static long rewrite(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                    const void **block, const char **reason)
{
    struct dft_rewriting rewriting = {anonymizer, name_of, call_of, call_of, arg_of, process_of, 0};
    uint64_t unknown = 0;
    long length = dft_rewrite_block(anonymizer->decoder, anonymizer->encoder, header, payload, &rewriting, block,
                                    &unknown, reason);

    if (length == -E2BIG) {
        rewriting.without_texts = 1;
        unknown = 0;
        length = dft_rewrite_block(anonymizer->decoder, anonymizer->encoder, header, payload, &rewriting, block,
                                   &unknown, reason);
        anonymizer->without_texts += length > 0;
    }
    anonymizer->unknown += unknown;
    return length;
}

static long rewrite_end(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                        const void **block, const char **reason)
{
    struct dft_end end;
    int rc = dft_decode_end(anonymizer->decoder, header, payload, &end, reason);

    if (!rc)
        rc = dft_anonymizer_lines(anonymizer, end.unmet);
    if (rc)
        return rc;
    end.key = dft_anonymizer_key(anonymizer, end.key);
    end.unmet = (struct dft_text){anonymizer->text.bytes, (uint32_t)anonymizer->text.length};
    return dft_encode_end(anonymizer->encoder, &end, block);
}

static long rewrite_group(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                          const void **block, const char **reason)
{
    struct dft_group_record group;
    int rc = dft_decode_group(anonymizer->decoder, header, payload, &group, reason);

    if (!rc)
        rc = dft_anonymizer_lines(anonymizer, group.name);
    if (rc)
        return rc;
    group.name = (struct dft_text){anonymizer->text.bytes, (uint32_t)anonymizer->text.length};
    group.rules.length = 0;
    return dft_encode_group(anonymizer->encoder, &group, block);
}

int dft_anonymizer_block(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                         int (*put)(void *context, const void *block, size_t length), void *context)
{
    const char *reason = "larger than the format allows";
    const void *block = NULL;
    long length;

    anonymizer->reason = NULL;
    switch (header->type) {
    case DFT_BLOCK_EVENTS:
    case DFT_BLOCK_BUCKETS:
    case DFT_BLOCK_COUNTERS:
    case DFT_BLOCK_CLOCK:
        length = rewrite(anonymizer, header, payload, &block, &reason);
        break;
    case DFT_BLOCK_END:
        length = rewrite_end(anonymizer, header, payload, &block, &reason);
        break;
    case DFT_BLOCK_GROUP:
        length = rewrite_group(anonymizer, header, payload, &block, &reason);
        break;
    default:
        return 0;
    }
    if (length == -EBADMSG || length == -E2BIG || length == -EINVAL) {
        anonymizer->reason = reason;
        return 0;
    }
    return length < 0 ? (int)length : put(context, block, (size_t)length);
}

/* SPDX-License-Identifier: MIT */
/* Chunks of texts: a dictionary, or each text where most are different. */
#include "parquet/chunk_texts.h"

#include <errno.h>

#include "parquet/encode.h"
#include "parquet/encode_runs.h"
#include "parquet/mend.h"
#include "parquet/page.h"

#define DICTIONARY_BYTES (16u << 20) /* readers hold all of it */

struct texts {
    struct dft_parquet *file;
    struct dft_parquet_chunk *chunk;
    const struct dft_text *texts;
    const uint32_t *codes;
    uint32_t ntexts, rows;
    uint32_t *places; /* positions in the dictionary, by code; UINT32_MAX: not in use */
    uint32_t known;
    const struct dft_text **entries; /* the texts in use, in the order in which they come */
    uint64_t entry_bytes, all_bytes; /* of these, and of the texts of all rows */
    unsigned width;                  /* of an index; 0: there is no dictionary */
};

/* --- which texts are in use ------------------------------------------------------------------- */

static int find_used(struct texts *texts)
{
    uint32_t *places = dft_parquet_scratch(&texts->file->places, texts->ntexts, sizeof *places);
    uint64_t nulls = 0;

    texts->places = places;
    texts->entries = dft_parquet_scratch(&texts->file->entries, texts->ntexts, sizeof *texts->entries);
    if (!places || !texts->entries)
        return -ENOMEM;
    memset(places, 0xff, texts->ntexts * sizeof *places);
    for (uint32_t i = 0; i < texts->rows; i++) {
        uint32_t code = texts->codes[i];

        if (code == DFT_CODE_NULL) {
            nulls++;
            continue;
        }
        texts->all_bytes += 4 + texts->texts[code].length;
        if (places[code] != UINT32_MAX)
            continue;
        texts->entry_bytes += 4 + texts->texts[code].length;
        places[code] = texts->known;
        texts->entries[texts->known++] = &texts->texts[code];
    }
    texts->chunk->nulls = nulls;
    return 0;
}

/* --- least and greatest ----------------------------------------------------------------------- */

static int compare(const struct dft_text *a, const struct dft_text *b)
{
    uint32_t least = a->length < b->length ? a->length : b->length;
    int order = least ? memcmp(a->bytes, b->bytes, least) : 0;

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Returns 0 where the text is too long. */
static int put_limit(struct dft_parquet_limit *limit, const struct dft_text *text)
{
    if (text->length > DFT_PARQUET_LIMIT_BYTES)
        return 0;
    limit->length = (uint8_t)text->length;
    if (text->length)
        memcpy(limit->bytes, text->bytes, text->length);
    return 1;
}

/* There are none where a text is mended: then the file has other texts. */
static void find_limits(struct texts *texts)
{
    const struct dft_text *least = NULL, *greatest = NULL;

    for (uint32_t i = 0; i < texts->known; i++) {
        const struct dft_text *entry = texts->entries[i];

        if (!dft_parquet_is_utf8(entry->bytes, entry->length))
            return;
        least = least && compare(least, entry) <= 0 ? least : entry;
        greatest = greatest && compare(greatest, entry) >= 0 ? greatest : entry;
    }
    texts->chunk->has_limits =
        least && put_limit(&texts->chunk->least, least) && put_limit(&texts->chunk->greatest, greatest);
}

/* --- pages ------------------------------------------------------------------------------------ */

static void put_text(struct dft_bytes *page, const struct dft_text *text)
{
    size_t begin = page->length;
    uint32_t length;

    dft_bytes_number(page, text->length, 4);
    if (dft_parquet_is_utf8(text->bytes, text->length)) {
        dft_bytes_put(page, text->bytes, text->length);
        return;
    }
    dft_parquet_mend(page, text->bytes, text->length);
    length = (uint32_t)(page->length - begin - sizeof length);
    if (!page->failed)
        memcpy(page->bytes + begin, &length, sizeof length);
}

/* A dictionary pays where it is clearly smaller, with its indices, than the texts of all rows. */
static int put_dictionary(struct texts *texts)
{
    unsigned width = dft_parquet_encode_index_width(texts->known);
    uint64_t bytes = texts->entry_bytes + (uint64_t)texts->rows * width / 8;

    texts->chunk->encoding = DFT_PARQUET_PLAIN;
    if (!texts->known || texts->entry_bytes > DICTIONARY_BYTES ||
        (bytes > texts->all_bytes / 4 * 3 && texts->known > 1))
        return 0;
    texts->chunk->encoding = DFT_PARQUET_DICTIONARY;
    texts->width = width;
    for (uint32_t i = 0; i < texts->known; i++)
        put_text(&texts->file->page, texts->entries[i]);
    return dft_parquet_dictionary_page(texts->file, texts->chunk, texts->known);
}

/* Rows of the next page. */
static uint32_t page_rows(const struct texts *texts, uint32_t from)
{
    uint32_t rest = texts->rows - from, most = rest < DFT_PARQUET_PAGE_ROWS ? rest : DFT_PARQUET_PAGE_ROWS, rows = 0;
    uint64_t bytes = 0;

    if (texts->width || !texts->known)
        return most;
    for (; rows < most && bytes < DFT_PARQUET_PAGE_BYTES; rows++) {
        uint32_t code = texts->codes[from + rows];

        bytes += code == DFT_CODE_NULL ? 0 : 4 + texts->texts[code].length;
    }
    return rows;
}

/* Levels of definition, and the indices of the rows that have a text. Returns how many these are. */
static uint32_t put_levels(struct texts *texts, const uint32_t *codes, uint32_t rows, uint32_t *indices)
{
    uint32_t *present = dft_parquet_scratch(&texts->file->present, rows, sizeof *present), n = 0;

    for (uint32_t i = 0; present && i < rows && texts->known; i++) {
        present[i] = codes[i] != DFT_CODE_NULL;
        indices[n] = present[i] ? texts->places[codes[i]] : 0;
        n += present[i];
    }
    if (!present)
        texts->file->page.failed = 1;
    dft_parquet_encode_levels(&texts->file->page, n && n < rows ? present : NULL, rows, n > 0);
    return n;
}

static int put_page(struct texts *texts, uint32_t from, uint32_t rows)
{
    struct dft_bytes *page = &texts->file->page;
    uint32_t *indices = dft_parquet_scratch(&texts->file->indices, rows, sizeof *indices), count;

    if (!indices)
        return -ENOMEM;
    count = put_levels(texts, texts->codes + from, rows, indices);
    if (texts->width) {
        dft_bytes_number(page, texts->width, 1);
        dft_parquet_encode_runs(page, indices, count, texts->width);
    }
    for (uint32_t i = 0; i < count && !texts->width; i++)
        put_text(page, texts->entries[indices[i]]);
    return dft_parquet_data_page(texts->file, texts->chunk,
                                 (struct dft_parquet_page){.rows_before = from, .nulls = rows - count}, rows);
}

int dft_parquet_texts(struct dft_parquet *file, struct dft_parquet_chunk *chunk, const struct dft_cells *cells)
{
    struct texts texts = {.file = file,
                          .chunk = chunk,
                          .texts = cells->texts,
                          .codes = cells->codes,
                          .ntexts = cells->ntexts,
                          .rows = (uint32_t)chunk->rows};
    int rc = find_used(&texts);

    if (rc)
        return rc;
    find_limits(&texts);
    rc = put_dictionary(&texts);
    for (uint32_t from = 0, rows; from < texts.rows && !rc; from += rows) {
        rows = page_rows(&texts, from);
        rc = put_page(&texts, from, rows);
    }
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* Events in batches: frames that become columns of Arrow without a look at their values (python/src/arrow_frame.c).
 *
 * A frame is the length of what follows (8 bytes), the number of rows and that of columns (4 bytes each), and the
 * columns in the order in which they were named. A column is its letter (1 byte), a bit a row that is 1 where there is
 * a value, and
 *
 *   i, t   the integers, 8 bytes each; t: Unix ns
 *   u      the same without a sign
 *   w      the words: 4 bytes a row, a position in the texts; how many texts there are (4 bytes); the texts
 *   s      a text for each row
 *
 * Texts are where each begins (4 bytes each), where the last one ends, and their bytes. A byte that is no UTF-8 is the
 * surrogate that Python's surrogateescape has for it. Numbers have the machine's order of bytes. */
#include "dump/dump_batches.h"

#include <errno.h>
#include <string.h>

#include "base/memory_text.h"
#include "base/nearest_word.h"
#include "base/write_line.h"
#include "tables/columns.h"
#include "tables/tables.h"

#define BATCH_BYTES (UINT64_C(64) << 20)

static const struct {
    const char *line;
    char letter;
} columns_of_lines[DFT_EVENTS_COLUMNS] = {
#define LETTER_TIME     't'
#define LETTER_INTEGER  'i'
#define LETTER_UNSIGNED 'u'
#define LETTER_TEXT     'w'
#define LETTER_OBJECT   's'
#define DFT_TABLE(NAME, name, help)
#define DFT_TABLE_COLUMN(NAME, COLUMN, name, type, unit, help)
#define DFT_TABLE_END(NAME)
#define DFT_EVENT_COLUMN(COLUMN, name, line, type, unit, absent, help) {line, LETTER_##type},
#include "tables/tables.def"
#undef DFT_TABLE
#undef DFT_TABLE_COLUMN
#undef DFT_TABLE_END
};

/* Returns DFT_EVENTS_COLUMNS where there is no such column. */
static unsigned column_of(const char *name, size_t length)
{
    const char *names[DFT_EVENTS_COLUMNS], *nearest;

    for (unsigned i = 0; i < DFT_EVENTS_COLUMNS; i++) {
        const char *line = columns_of_lines[i].line;

        names[i] = *line ? line : NULL;
        if (*line && strlen(line) == length && !memcmp(line, name, length))
            return i;
    }
    nearest = dft_nearest_word(name, length, names, DFT_EVENTS_COLUMNS);
    fprintf(stderr, "dftmerge dump: events have no column '%.*s'%s%s%s\n", (int)length, name,
            nearest ? ". Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return DFT_EVENTS_COLUMNS;
}

int dft_dump_columns(struct dft_dump_columns *columns, const char *names)
{
    uint64_t known = 0;

    columns->count = 0;
    for (size_t length;; names += length + 1) {
        unsigned column;

        length = strcspn(names, ",");
        column = column_of(names, length);
        if (column == DFT_EVENTS_COLUMNS)
            return -EINVAL;
        if (!(known >> column & 1))
            columns->list[columns->count++] = column;
        known |= UINT64_C(1) << column;
        if (!names[length])
            return 0;
    }
}

static void put_number(FILE *out, uint32_t number)
{
    fwrite(&number, sizeof number, 1, out);
}

static void put_valid(FILE *out, const struct dft_cells *cells, uint32_t count)
{
    for (uint32_t row = 0; row < count;) {
        unsigned char bits = 0;

        for (unsigned bit = 0; bit < 8 && row < count; bit++, row++) {
            int valid = cells->codes ? cells->codes[row] != DFT_CODE_NULL : cells->integers[row] != DFT_CELL_NULL;

            bits |= (unsigned char)(valid << bit);
        }
        putc_unlocked(bits, out);
    }
}

static int is_utf8(struct dft_text text, uint32_t i, uint32_t *length)
{
    *length = (unsigned char)text.bytes[i] < 0x80 ? 1 : (uint32_t)dft_utf8_length(text.bytes + i, text.length - i);
    return *length != 0;
}

static uint64_t length_of(struct dft_text text)
{
    uint64_t sum = 0;

    for (uint32_t i = 0, length; i < text.length; i += length ? length : 1)
        sum += is_utf8(text, i, &length) ? length : 3;
    return sum;
}

static void put_text(FILE *out, struct dft_text text)
{
    uint32_t begin = 0;

    for (uint32_t i = 0, length; i < text.length; i += length ? length : 1) {
        unsigned char byte = (unsigned char)text.bytes[i];

        if (is_utf8(text, i, &length))
            continue;
        fwrite(text.bytes + begin, 1, i - begin, out);
        fputc(0xed, out);
        fputc(byte < 0xc0 ? 0xb2 : 0xb3, out);
        fputc(0x80 | (byte & 0x3f), out);
        begin = i + 1;
    }
    if (text.length)
        fwrite(text.bytes + begin, 1, text.length - begin, out);
}

/* The text of a row, or the one at a position where there are no rows. */
static struct dft_text text_at(const struct dft_cells *cells, int by_row, uint32_t i)
{
    uint32_t code = by_row ? cells->codes[i] : i;

    return code == DFT_CODE_NULL ? (struct dft_text){0} : cells->texts[code];
}

static int put_texts(FILE *out, const struct dft_cells *cells, int by_row, uint32_t count)
{
    uint64_t end = 0;

    put_number(out, 0);
    for (uint32_t i = 0; i < count; i++) {
        end += length_of(text_at(cells, by_row, i));
        if (end > INT32_MAX)
            return -EOVERFLOW;
        put_number(out, (uint32_t)end);
    }
    for (uint32_t i = 0; i < count; i++)
        put_text(out, text_at(cells, by_row, i));
    return 0;
}

static void put_words(FILE *out, const uint32_t *codes, uint32_t count)
{
    uint32_t words[1024], n = 0;

    for (uint32_t row = 0; row < count; row++) {
        words[n++] = codes[row] == DFT_CODE_NULL ? 0 : codes[row];
        if (n < sizeof words / sizeof *words && row + 1 < count)
            continue;
        fwrite(words, sizeof *words, n, out);
        n = 0;
    }
}

static int put_column(FILE *out, char letter, const struct dft_cells *cells, uint32_t count)
{
    fputc(letter, out);
    put_valid(out, cells, count);
    if (letter == 's')
        return put_texts(out, cells, 1, count);
    if (letter != 'w') {
        fwrite(cells->integers, sizeof *cells->integers, count, out);
        return 0;
    }
    put_words(out, cells->codes, count);
    put_number(out, cells->ntexts);
    return put_texts(out, cells, 0, cells->ntexts);
}

struct writing {
    struct dft_dump *dump;
    const struct dft_dump_columns *columns;
    struct dft_memory_text memory;
};

static int take(void *context, unsigned worker, const struct dft_table_batch *batch)
{
    struct writing *writing = context;
    FILE *out = dft_memory_text_begin(&writing->memory);
    struct dft_text frame;
    uint64_t length;
    int rc = out ? 0 : -ENOMEM;

    (void)worker;
    if (rc)
        return rc;
    put_number(out, batch->count);
    put_number(out, writing->columns->count);
    for (unsigned i = 0; i < writing->columns->count && !rc; i++) {
        unsigned column = writing->columns->list[i];

        rc = put_column(out, columns_of_lines[column].letter, &batch->cells[column], batch->count);
    }
    rc = rc ? rc : dft_memory_text_end(&writing->memory, &frame);
    if (rc)
        return rc;
    length = frame.length;
    writing->dump->events += batch->count;
    fwrite(&length, sizeof length, 1, writing->dump->out);
    fwrite(frame.bytes, 1, frame.length, writing->dump->out);
    return ferror(writing->dump->out) ? -EIO : 0;
}

int dft_dump_batches(struct dft_dump *dump, struct dft_source *source, const struct dft_filter *filter,
                     const struct dft_dump_columns *columns)
{
    struct writing writing = {.dump = dump, .columns = columns};
    struct dft_table_request request = {
        .table = DFT_TABLE_EVENTS, .filter = filter, .order = DFT_ORDER_TIME, .bytes = BATCH_BYTES, .every = 1};
    int rc;

    for (unsigned i = 0; i < columns->count; i++)
        request.columns |= UINT64_C(1) << columns->list[i];
    rc = dft_tables_read(source, &request, take, &writing);
    dft_memory_text_fini(&writing.memory);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* The scanner keeps from one record to the next what it needs to be quick: what it finds must not
 * depend on that.
 *
 *   scan_test [RECORDS [SEED]]
 *
 * Lines made of a few keys and values in any order, most of them like the one before, many of them
 * damaged, are scanned with a record that has seen all lines before and with a new one. Both must
 * find the same, and a member may only be said not to have changed where its text is the same as
 * when that was last asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw_record.h"

#define LINE_MAX_BYTES 2048

static uint64_t state = 1;

static uint32_t roll(uint32_t sides)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % sides;
}

static const char *const top[] = {"id",  "name", "cat",  "pid", "tid",        "ts",
                                  "dur", "ph",   "type", "xyz", "a_long_key", ""};
static const char *const args[] = {"hhash",  "fhash", "hostname", "fname",  "level",  "p_idx",      "ret",
                                   "fd",     "count", "size",     "offset", "whence", "flags",      "mode",
                                   "length", "errno", "dft_cnt",  "name",   "value",  "image_size", "step"};
static const char *const values[] = {"1",
                                     "2",
                                     "12",
                                     "123",
                                     "1234567",
                                     "12345678",
                                     "123456789",
                                     "1234567890123456",
                                     "12345678901234567890",
                                     "18446744073709551615",
                                     "99999999999999999999999",
                                     "-1",
                                     "-1234567",
                                     "1.5",
                                     "1.",
                                     "1e9",
                                     "0",
                                     "nan",
                                     "true",
                                     "null",
                                     "-",
                                     "12x",
                                     "\"\"",
                                     "\"X\"",
                                     "\"read\"",
                                     "\"reads\"",
                                     "\"fwrite\"",
                                     "\"__xstat64\"",
                                     "\"0123456789abcdef\"",
                                     "\"a\\\"b\"",
                                     "\"a\\\\\"",
                                     "\"\\u00e9\"",
                                     "\"\xff\xfe\"",
                                     "\"twenty-two letters here\"",
                                     "\"this is more than what is remembered of a value\"",
                                     "{\"a\":[1,\"}\"]}",
                                     "[]",
                                     "{}"};

static char *put(char *at, const char *text)
{
    size_t n = strlen(text);

    memcpy(at, text, n);
    return at + n;
}

static char *spaces(char *at, uint32_t spaced)
{
    if (spaced && roll(spaced) == 0)
        *at++ = roll(2) ? ' ' : '\t';
    return at;
}

static char *put_member(char *at, const char *key, uint32_t variety, uint32_t spaced)
{
    at = put(spaces(at, spaced), "\"");
    at = put(at, key);
    at = put(spaces(put(at, "\""), spaced), ":");
    at = put(spaces(at, spaced), values[roll(variety)]);
    return spaces(at, spaced);
}

/* Members in order, some left out, now and then exchanged or twice. */
static char *put_members(char *at, const char *const *keys, uint32_t nkeys, uint32_t variety, uint32_t spaced)
{
    uint32_t shift = roll(4) ? 0 : roll(nkeys), said = 0;

    for (uint32_t i = 0; i < nkeys; i++) {
        if (roll(3) == 0)
            continue;
        at = said++ ? put(at, ",") : at;
        at = put_member(at, keys[roll(16) ? (i + shift) % nkeys : roll(nkeys)], variety, spaced);
    }
    return at;
}

static size_t make_line(char *line)
{
    uint32_t variety = roll(2) ? 3 : sizeof values / sizeof *values, spaced = roll(4) ? 0 : 8;
    char *at = put(line, "{"), *end;

    at = put_members(at, top, sizeof top / sizeof *top, variety, spaced);
    if (at > line + 1)
        at = put(at, ",");
    at = put(at, "\"args\":{");
    at = put_members(at, args, sizeof args / sizeof *args, variety, spaced);
    end = put(at, "}}");
    if (roll(4) == 0)
        line[1 + roll((uint32_t)(end - line - 1))] = "\"\\,:{}[] 0\t"[roll(12)];
    if (roll(8) == 0)
        end = line + 1 + roll((uint32_t)(end - line));
    return (size_t)(end - line);
}

static void fail(const char *what, const char *line, size_t length)
{
    printf("%s: %.*s\n", what, (int)length, line);
    exit(1);
}

static int same_text(struct dft_text a, struct dft_text b)
{
    return a.length == b.length && a.bytes == b.bytes;
}

static int same_value(const struct dft_pfw_value *a, const struct dft_pfw_value *b)
{
    return a->kind == b->kind && same_text(a->text, b->text) &&
           (a->kind != DFT_PFW_STRING || a->escaped == b->escaped) &&
           (a->kind != DFT_PFW_INTEGER || (a->number == b->number && a->negative == b->negative));
}

static void compare(const struct dft_pfw_record *kept, const struct dft_pfw_record *new, const char *line,
                    size_t length)
{
    if (kept->have != new->have || kept->nothers != new->nothers || kept->left_out != new->left_out)
        fail("other members", line, length);
    for (unsigned m = 0; m < DFT_PFW_MEMBERS; m++)
        if (m != DFT_PFW_ARGS && new->have >> m & 1 && !same_value(&kept->member[m], &new->member[m]))
            fail("another value", line, length);
    for (uint32_t i = 0; i < new->nothers; i++)
        if (!same_text(kept->other[i].key, new->other[i].key) ||
            !same_value(&kept->other[i].value, &new->other[i].value))
            fail("another unknown member", line, length);
}

/* As its readers do: a member's bit is cleared when it is looked at, which is not at each
 * record. */
static void look(struct dft_pfw_record *kept, char texts[][64], uint8_t *kinds, const char *line, size_t length)
{
    for (unsigned m = 0; m < DFT_PFW_MEMBERS; m++) {
        const struct dft_pfw_value *value = &kept->member[m];
        char text[64] = {0};

        if (m == DFT_PFW_ARGS || !(kept->have >> m & 1) || roll(2))
            continue;
        memcpy(text, value->text.bytes, value->text.length < sizeof text ? value->text.length : sizeof text);
        if (!(kept->changed >> m & 1) && (kinds[m] != value->kind || memcmp(texts[m], text, sizeof text) != 0))
            fail("said not to have changed", line, length);
        memcpy(texts[m], text, sizeof text);
        kinds[m] = value->kind;
        kept->changed &= ~(UINT64_C(1) << m);
    }
}

int main(int argc, char **argv)
{
    static struct dft_pfw_record kept, new;
    static char texts[DFT_PFW_MEMBERS][64];
    static uint8_t kinds[DFT_PFW_MEMBERS];
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000, whole = 0, steady = 0;

    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    dft_pfw_record_init(&kept);
    for (uint64_t i = 0; i < records; i++) {
        size_t length;
        char *line = malloc(LINE_MAX_BYTES); /* elsewhere each time, and what lies behind is of another line */
        const char *a, *b;

        memset(line, roll(2) ? '7' : '"', LINE_MAX_BYTES);
        length = make_line(line);
        line[length] = '\n';
        dft_pfw_record_init(&new);
        a = dft_pfw_scan(line, line + length, &kept);
        b = dft_pfw_scan(line, line + length, &new);
        if (a != b)
            fail("it ends elsewhere", line, length);
        if (a) {
            compare(&kept, &new, line, length);
            look(&kept, texts, kinds, line, length);
            whole++;
            steady += (uint64_t)__builtin_popcountll(kept.have & ~kept.changed);
        }
        free(line);
    }
    printf("%" PRIu64 " records, %" PRIu64 " of them whole, %" PRIu64 " members as before\n", records, whole, steady);
    if (whole < records / 4 || steady < records)
        fail("too few of them say anything", "", 0);
    return 0;
}

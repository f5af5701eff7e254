/* SPDX-License-Identifier: MIT */
/* Lines of text: numbers against printf, texts against writers that look at each byte. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/write_line.h"
#include "base/write_text.h"
#include "suites.h"

static uint64_t random_number(void)
{
    uint64_t wide = (uint64_t)roll(1u << 31) << 33 | (uint64_t)roll(1u << 31) << 2 | roll(4);

    return wide >> roll(64);
}

static void number_is(uint64_t value)
{
    char expected[64], text[64];

    snprintf(expected, sizeof expected, "%" PRIu64, value);
    *dft_put_uint(text, value) = 0;
    CU_ASSERT_STRING_EQUAL(text, expected);
    snprintf(expected, sizeof expected, "%" PRId64, (int64_t)value);
    *dft_put_int(text, (int64_t)value) = 0;
    CU_ASSERT_STRING_EQUAL(text, expected);
    snprintf(expected, sizeof expected, "%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
    *dft_put_thousandths(text, value) = 0;
    CU_ASSERT_STRING_EQUAL(text, expected);
    snprintf(expected, sizeof expected, "%" PRIu64 ".%09u", value / 1000000000, (unsigned)(value % 1000000000));
    *dft_put_billionths(text, value) = 0;
    CU_ASSERT_STRING_EQUAL(text, expected);
}

static void numbers_are_printfs(void)
{
    uint64_t power = 1;

    for (int i = 0; i < 20; i++, power *= 10)
        for (uint64_t near = 0; near < 3; near++)
            number_is(power - 1 + near);
    number_is(UINT64_MAX);
    number_is(UINT64_C(1) << 63);
    for (int i = 0; i < 20000; i++)
        number_is(random_number());
}

/* A time of less than ten minutes with three significant digits, by printf alone. */
static void print_time(char *text, uint64_t ns)
{
    double value = (double)ns / (ns < 999500 ? 1e3 : ns < 999500000 ? 1e6 : 1e9);
    const char *unit = ns < 999500 ? "us" : ns < 999500000 ? "ms" : "s";

    if (ns < 1000)
        snprintf(text, DFT_TEXT_ROOM, "%u ns", (unsigned)ns);
    else
        snprintf(text, DFT_TEXT_ROOM, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

static void time_is(uint64_t ns)
{
    char expected[DFT_TEXT_ROOM], text[DFT_TEXT_ROOM];

    ns %= UINT64_C(599500000000);
    print_time(expected, ns);
    CU_ASSERT_STRING_EQUAL(dft_text_ns(text, ns), expected);
}

static void times_are_printfs(void)
{
    for (uint64_t ns = 0; ns < 1100000; ns += ns < 20000 ? 1 : 37)
        time_is(ns);
    /* half-way between two roundings */
    for (uint64_t unit = 1000000; unit <= 1000000000; unit *= 1000)
        for (uint64_t i = 0; i < 1000; i++) {
            time_is(unit + unit / 1000 * (5 + 10 * i));
            time_is(unit + unit / 1000 * (5 + 10 * i) + 1);
            time_is(10 * unit + unit / 100 * (5 + 10 * i) - 1);
            time_is(100 * unit + unit / 2 + i / 2 * unit);
        }
    for (int i = 0; i < 100000; i++)
        time_is(random_number());
}

/* The page writes numbers in the same way: its tests read this table, too. */
static void numbers_are_those_of_the_table(void)
{
    FILE *table = fopen(DFT_TEST_WRITTEN, "r");
    char line[128], kind[16], number[40], expected[64], text[DFT_TEXT_ROOM];
    unsigned lines = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(table);
    while (fgets(line, sizeof line, table)) {
        uint64_t value;
        char *end;

        if (*line == '#' || sscanf(line, "%15[^\t]\t%39[^\t]\t%63[^\n]", kind, number, expected) < 3)
            continue;
        lines++;
        value = strtoull(number, &end, 10);
        if (!strcmp(kind, "ratio"))
            dft_text_ratio(text, strtod(number, NULL));
        else if (!strcmp(kind, "change"))
            dft_text_change(text, value, strtoull(end + 1, NULL, 10));
        else
            (*kind == 'n' ? dft_text_ns : *kind == 'b' ? dft_text_bytes : dft_text_count)(text, value);
        CU_ASSERT_STRING_EQUAL(text, expected);
    }
    fclose(table);
    CU_ASSERT(lines > 40);
}

/* --- texts ------------------------------------------------------------------------------------ */

typedef void write_text(struct dft_line *line, const char *bytes, size_t length);

static char *written(write_text *write, const char *bytes, size_t length, size_t before)
{
    struct dft_line line;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    dft_line_init(&line, out);
    for (size_t i = 0; i < before; i++)
        dft_line_char(&line, '.');
    write(&line, bytes, length);
    dft_line_flush(&line);
    CU_ASSERT_EQUAL_FATAL(fclose(out), 0);
    CU_ASSERT(size >= before);
    memmove(text, text + before, size - before + 1);
    return text;
}

/* A text in one piece comes out as it does with each piece alone, where no character is cut. */
static void pieces_make_the_whole(write_text *write, int quotes, const char *bytes, size_t length, size_t before)
{
    char *whole = written(write, bytes, length, before), *at = whole + quotes;

    for (size_t i = 0; i < length;) {
        size_t n = 1;
        char *piece;

        while (i + n < length && ((unsigned char)bytes[i + n] & 0xc0) == 0x80)
            n++;
        piece = written(write, bytes + i, n, 0);
        n = strlen(piece) - 2 * (size_t)quotes;
        CU_ASSERT(!strncmp(at, piece + quotes, n));
        at += n;
        for (i++; i < length && ((unsigned char)bytes[i] & 0xc0) == 0x80;)
            i++;
        free(piece);
    }
    CU_ASSERT_EQUAL(strlen(at), (size_t)quotes);
    free(whole);
}

static void random_text(char *bytes, size_t length)
{
    static const char odd[] =
        "\"\\\n\t\r\b\f\x01\x1f\x7f\xe2\x80\xae\xc2\x85\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xed\xa0\x80,";

    for (size_t i = 0; i < length; i++)
        bytes[i] = roll(12) ? (char)(' ' + roll(95)) : odd[roll(sizeof odd - 1)];
}

static void texts_are_their_pieces(void)
{
    char bytes[200];

    for (int i = 0; i < 300; i++) {
        size_t length = roll(sizeof bytes);

        random_text(bytes, length);
        pieces_make_the_whole(dft_line_quote, 1, bytes, length, 0);
        pieces_make_the_whole(dft_line_escape, 0, bytes, length, DFT_LINE_BYTES - roll(200));
        pieces_make_the_whole(dft_line_quote, 1, bytes, length, DFT_LINE_BYTES - roll(200));
    }
}

static void text_is(write_text *write, const char *bytes, const char *expected)
{
    char *text = written(write, bytes, strlen(bytes), 0);

    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

static void forms_of_texts(void)
{
    text_is(dft_line_quote, "/data/plain name", "\"/data/plain name\"");
    text_is(dft_line_quote, "a\"b\\c\n\x01\x7f", "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
    text_is(dft_line_quote, "\xc3\xa9\xff\xed\xa0\x80", "\"\xc3\xa9\\udcff\\udced\\udca0\\udc80\"");
    text_is(dft_line_escape, "a\"b\\c\n\t\x01\x7f", "a\"b\\c\\n\\t\\x01\\x7f");
    text_is(dft_line_escape, "\xc3\xa9\xc2\x85\xff", "\xc3\xa9\\xc2\\x85\\xff");
    text_is(dft_line_csv, "/data/plain;name", "/data/plain;name");
    text_is(dft_line_csv, "/data/with,a comma", "\"/data/with,a comma\"");
    text_is(dft_line_csv, "a\"b", "\"a\"\"b\"");
    text_is(dft_line_csv, "12345678\n", "\"12345678\n\"");
    text_is(dft_line_csv, "\xc3\xa9t\xc3\xa9 C:\\x", "\xc3\xa9t\xc3\xa9 C:\\x");
    text_is(dft_line_csv, "\033[1m,\r\x9b", "\"\\x1b[1m,\\x0d\\x9b\"");
    text_is(dft_line_csv, "a\\x1b\\x5c\\xyz", "a\\x5cx1b\\x5cx5c\\xyz");
}

/* What a terminal or a browser acts on: U+0080-U+009F, marks of direction, ends of lines; not their
 * neighbours. */
static void characters_that_act_are_escaped(void)
{
    static const struct {
        const char *bytes, *quoted, *escaped;
    } texts[] = {
        {"\xc2\x80", "\"\\u0080\"", "\\xc2\\x80"},          {"\xc2\x9b", "\"\\u009b\"", "\\xc2\\x9b"},
        {"\xd8\x9c", "\"\\u061c\"", "\\xd8\\x9c"},          {"\xe2\x80\x8e", "\"\\u200e\"", "\\xe2\\x80\\x8e"},
        {"\xe2\x80\x8f", "\"\\u200f\"", "\\xe2\\x80\\x8f"}, {"\xe2\x80\xa8", "\"\\u2028\"", "\\xe2\\x80\\xa8"},
        {"\xe2\x80\xae", "\"\\u202e\"", "\\xe2\\x80\\xae"}, {"\xe2\x81\xa6", "\"\\u2066\"", "\\xe2\\x81\\xa6"},
        {"\xe2\x81\xa9", "\"\\u2069\"", "\\xe2\\x81\\xa9"},
    };
    static const char *const plain[] = {"\xc2\xa0",     "\xd8\x9b",     "\xe2\x80\x8d",
                                        "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\xa5",
                                        "\xe2\x81\xaa", "\xe3\x80\x8e", "\xf0\x9f\x80\x80"};
    char quoted[16];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_is(dft_line_quote, texts[i].bytes, texts[i].quoted);
        text_is(dft_line_escape, texts[i].bytes, texts[i].escaped);
        text_is(dft_line_csv, texts[i].bytes, texts[i].escaped);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        snprintf(quoted, sizeof quoted, "\"%s\"", plain[i]);
        text_is(dft_line_quote, plain[i], quoted);
        text_is(dft_line_escape, plain[i], plain[i]);
        text_is(dft_line_csv, plain[i], plain[i]);
    }
}

static void long_texts_pass(void)
{
    size_t length = 5 * DFT_LINE_BYTES + 3;
    char *bytes = malloc(length), *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)('a' + i % 26);
    for (size_t before = 0; before < 20; before++) {
        text = written(dft_line_bytes, bytes, length, before);
        CU_ASSERT(strlen(text) == length && !memcmp(text, bytes, length));
        free(text);
        text = written(dft_line_quote, bytes, length, before);
        CU_ASSERT(strlen(text) == length + 2 && !memcmp(text + 1, bytes, length));
        free(text);
    }
    free(bytes);
}

int suite_write_line(void)
{
    CU_TestInfo tests[] = {{"numbers are printf's", numbers_are_printfs},
                           {"times are printf's", times_are_printfs},
                           {"numbers are those of the table", numbers_are_those_of_the_table},
                           {"a text is what its pieces are", texts_are_their_pieces},
                           {"JSON, terminal and CSV", forms_of_texts},
                           {"characters that act are escaped", characters_that_act_are_escaped},
                           {"texts longer than the line", long_texts_pass},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"lines of text", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}

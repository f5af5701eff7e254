/* SPDX-License-Identifier: MIT */
/* Text for people: escapes and units; see write_text.h. write_grid.c has the tables. */
#include "base/write_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/saturate.h"
#include "base/write_line.h"

#define NARROWEST       20 /* columns of a terminal */
#define SECOND          UINT64_C(1000000000)
#define TEN_MINUTES     (600 * SECOND - SECOND / 2) /* from here on minutes and seconds tell more than seconds */
#define HOURS_ALONE     100u
#define FACTOR_FROM     2 /* a change that is written as a factor, not in per cent */
/* What COLUMNS may ask for. */
#define NARROWEST_ASKED 40u
#define WIDEST_ASKED    1000u

void dft_text_escape(FILE *out, const char *bytes, size_t length)
{
    struct dft_line line;

    dft_line_init(&line, out);
    dft_line_escape(&line, bytes, length);
    dft_line_flush(&line);
}

void dft_text_escape_lines(FILE *out, const char *bytes, size_t length)
{
    for (size_t at = 0, end = 0; at < length; at = ++end) {
        while (end < length && bytes[end] != '\n' && bytes[end] != '\t')
            end++;
        dft_text_escape(out, bytes + at, end - at);
        if (end < length)
            putc(bytes[end], out);
    }
}

char *dft_text_escaped(const char *bytes, size_t length)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    dft_text_escape(out, bytes, length);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

size_t dft_text_columns(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Writes a value with at least three significant digits. */
static const char *scaled(char *text, double value, const char *unit)
{
    snprintf(text, DFT_TEXT_ROOM, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return text;
}

/* The same as scaled() of ns / unit, in integers. Half-way between two roundings it depends on the
 * nearest double: then scaled() decides. */
static const char *scaled_ns(char *text, uint64_t ns, uint64_t unit, const char *name)
{
    unsigned decimals = ns * 1000 < 9995 * unit ? 2 : ns * 100 < 9995 * unit ? 1 : 0;
    uint64_t step = decimals == 2 ? unit / 100 : decimals == 1 ? unit / 10 : unit, rest = ns % step;
    char digits[DFT_TEXT_ROOM], *end = digits + sizeof digits, *at, *to = text;

    if (2 * rest == step || ns * 1000 == 9995 * unit || ns * 100 == 9995 * unit)
        return scaled(text, (double)ns / (double)unit, name);
    at = dft_digits(end, ns / step + (2 * rest > step));
    to = mempcpy(to, at, (size_t)(end - at) - decimals);
    if (decimals)
        *to++ = '.';
    to = mempcpy(to, end - decimals, decimals);
    *to++ = ' ';
    strcpy(to, name);
    return text;
}

/* "18 m 51 s", "2 h 05 m", "1,234 h" */
static const char *long_ns(char *buffer, uint64_t ns)
{
    uint64_t seconds = ns / SECOND + (ns % SECOND >= SECOND / 2), minutes = (seconds + 30) / 60;
    char text[DFT_TEXT_ROOM];

    if (seconds < 3600)
        snprintf(buffer, DFT_TEXT_ROOM, "%u m %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    else if (minutes < HOURS_ALONE * 60)
        snprintf(buffer, DFT_TEXT_ROOM, "%u h %02u m", (unsigned)(minutes / 60), (unsigned)(minutes % 60));
    else
        snprintf(buffer, DFT_TEXT_ROOM, "%.24s h", dft_text_count(text, (minutes + 30) / 60));
    return buffer;
}

const char *dft_text_ns(char *text, uint64_t ns)
{
    char digits[DFT_TEXT_ROOM], *end = digits + sizeof digits, *at;

    if (ns < 1000) {
        at = dft_digits(end, ns);
        memcpy(mempcpy(text, at, (size_t)(end - at)), " ns", 4);
        return text;
    }
    if (ns < 999500)
        return scaled_ns(text, ns, 1000, "us");
    if (ns < 999500000)
        return scaled_ns(text, ns, 1000000, "ms");
    if (ns < TEN_MINUTES)
        return scaled_ns(text, ns, SECOND, "s");
    return long_ns(text, ns);
}

const char *dft_text_bytes(char *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    unsigned u = 0;

    if (bytes < 1024) {
        snprintf(text, DFT_TEXT_ROOM, "%u B", (unsigned)bytes);
        return text;
    }
    for (; value >= 1023.5 && u < 5; u++)
        value /= 1024;
    return scaled(text, value, units[u]);
}

const char *dft_text_count(char *text, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

const char *dft_text_share(char *text, uint64_t part, uint64_t whole)
{
    if (!whole)
        snprintf(text, DFT_TEXT_ROOM, "-");
    else
        snprintf(text, DFT_TEXT_ROOM, "%.1f %%", 100.0 * ((double)part / (double)whole));
    return text;
}

const char *dft_text_ratio(char *buffer, double times)
{
    char text[DFT_TEXT_ROOM];

    if (!(times > 0 && times < 0x1p64))
        return strcpy(buffer, "-");
    if (times < 0.005)
        return strcpy(buffer, "<0.01x");
    if (times < 9.95)
        snprintf(buffer, DFT_TEXT_ROOM, "%.*fx", times < 0.095 ? 2 : 1, times);
    else
        snprintf(buffer, DFT_TEXT_ROOM, "%.28sx", dft_text_count(text, dft_uint_of(times + 0.5)));
    return buffer;
}

const char *dft_text_change(char *text, uint64_t before, uint64_t after)
{
    double part = 100 * ((double)after - (double)before) / (double)before;

    if (before == after)
        return strcpy(text, "-");
    if (!before || !after)
        return strcpy(text, before ? "gone" : "new");
    if (after / FACTOR_FROM >= before)
        return dft_text_ratio(text, (double)after / (double)before);
    if (part <= -99.5) /* what is left of it is not nothing */
        snprintf(text, DFT_TEXT_ROOM, "%.1f %%", part < -99.9 ? -99.9 : part);
    else
        snprintf(text, DFT_TEXT_ROOM, "%+.*f %%", part < 9.95 && part > -9.95 ? 1 : 0, part);
    return text;
}

void dft_csv_text(FILE *out, const char *bytes, size_t length)
{
    struct dft_line line;

    dft_line_init(&line, out);
    dft_line_csv(&line, bytes, length);
    dft_line_flush(&line);
}

static int is_denied;

void dft_terminal_deny(void)
{
    is_denied = 1;
}

int dft_terminal_is(void)
{
    return !is_denied && isatty(STDOUT_FILENO);
}

int dft_terminal_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return dft_terminal_is() && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

unsigned dft_terminal_height(void)
{
    const char *lines = getenv("LINES");
    struct winsize size;
    long n;

    if (dft_terminal_is() && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row >= 10)
        return size.ws_row;
    n = lines ? strtol(lines, NULL, 10) : 0;
    return n >= 10 && n <= 1000 ? (unsigned)n : 40;
}

/* 0: COLUMNS is not set, or is no number. */
static unsigned columns_asked(void)
{
    const char *columns = getenv("COLUMNS");
    char *end;
    long n = columns ? strtol(columns, &end, 10) : 0;

    if (n <= 0 || *end)
        return 0;
    return n < NARROWEST_ASKED ? NARROWEST_ASKED : n > WIDEST_ASKED ? WIDEST_ASKED : (unsigned)n;
}

unsigned dft_terminal_width(void)
{
    struct winsize size;

    if (dft_terminal_is() && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= NARROWEST)
        return size.ws_col;
    return columns_asked() ? columns_asked() : 100;
}

int dft_terminal_fits(void)
{
    return dft_terminal_is() || columns_asked();
}

/* SPDX-License-Identifier: MIT */
/* Text for people: escapes and units; see write_text.h. write_grid.c has the tables. */
#include "base/write_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Length of the valid UTF-8 character at s that is no control character, or 0. */
static size_t printable_length(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if (n == 1)
        return s[0] >= 0x20 && s[0] != 0x7f;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

void dft_text_escape(FILE *out, const char *bytes, size_t length)
{
    const unsigned char *s = (const unsigned char *)bytes;

    for (size_t i = 0; i < length;) {
        size_t n = printable_length(s + i, length - i);

        if (n)
            fwrite(s + i, 1, n, out);
        else if (s[i] == '\n')
            fputs("\\n", out);
        else if (s[i] == '\t')
            fputs("\\t", out);
        else
            fprintf(out, "\\x%02x", s[i]);
        i += n ? n : 1;
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
static const char *scaled(char *capacity, double value, const char *unit)
{
    snprintf(capacity, DFT_TEXT_ROOM, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
    return capacity;
}

const char *dft_text_ns(char *capacity, uint64_t ns)
{
    double value = (double)ns;

    if (ns < 1000) {
        snprintf(capacity, DFT_TEXT_ROOM, "%u ns", (unsigned)ns);
        return capacity;
    }
    if (value < 999.5e3)
        return scaled(capacity, value / 1e3, "us");
    if (value < 999.5e6)
        return scaled(capacity, value / 1e6, "ms");
    if (value < 9999.5e9)
        return scaled(capacity, value / 1e9, "s");
    return scaled(capacity, value / 3600e9, "h");
}

const char *dft_text_bytes(char *capacity, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    unsigned u = 0;

    if (bytes < 1024) {
        snprintf(capacity, DFT_TEXT_ROOM, "%u B", (unsigned)bytes);
        return capacity;
    }
    for (; value >= 1023.5 && u < 5; u++)
        value /= 1024;
    return scaled(capacity, value, units[u]);
}

const char *dft_text_count(char *capacity, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), at = 0;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            capacity[at++] = ',';
        capacity[at++] = digits[i];
    }
    capacity[at] = 0;
    return capacity;
}

const char *dft_text_share(char *capacity, uint64_t part, uint64_t whole)
{
    if (!whole)
        snprintf(capacity, DFT_TEXT_ROOM, "-");
    else
        snprintf(capacity, DFT_TEXT_ROOM, "%.1f %%", 100.0 * ((double)part / (double)whole));
    return capacity;
}

void dft_csv_text(FILE *out, const char *bytes, size_t length)
{
    int quote = 0;

    for (size_t i = 0; i < length; i++)
        quote |= bytes[i] == '"' || bytes[i] == ',' || bytes[i] == '\n' || bytes[i] == '\r';
    if (!quote) {
        fwrite(bytes, 1, length, out);
        return;
    }
    putc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            putc('"', out);
        putc(bytes[i], out);
    }
    putc('"', out);
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

unsigned dft_terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long n;

    if (dft_terminal_is() && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 40)
        return size.ws_col;
    n = columns ? strtol(columns, NULL, 10) : 0;
    return n >= 40 && n <= 1000 ? (unsigned)n : 100;
}

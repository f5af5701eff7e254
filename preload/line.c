/* Owns the lines that are put together in a signal handler. */
#include "line.h"

#include "sys.h"

void dft_line_text(struct dft_line *line, const char *text)
{
    while (*text && line->used < sizeof line->text - 1)
        line->text[line->used++] = *text++;
}

void dft_line_number(struct dft_line *line, uint64_t number, unsigned base)
{
    char digits[24];
    int at = sizeof digits - 1;

    digits[at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    dft_line_text(line, digits + at);
}

void dft_line_write(struct dft_line *line)
{
    line->text[line->used++] = '\n';
    dft_sys_write(2, line->text, line->used);
    line->used = 0;
}

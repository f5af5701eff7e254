/* SPDX-License-Identifier: MIT */
/* Owns lines that signal handlers compose. */
#include "os/line.h"

#include <errno.h>
#include <string.h>

#include "os/sys.h"

void dft_line_text(struct dft_message_line *line, const char *text)
{
    while (*text && line->used < sizeof line->text - 1)
        line->text[line->used++] = *text++;
}

char *dft_digits(char text[DFT_DIGITS_ROOM], uint64_t number, unsigned base)
{
    char *at = text + DFT_DIGITS_ROOM - 1;

    *at = 0;
    do
        *--at = "0123456789abcdef"[number % base];
    while (number /= base);
    return at;
}

void dft_line_number(struct dft_message_line *line, uint64_t number, unsigned base)
{
    char digits[DFT_DIGITS_ROOM];

    dft_line_text(line, dft_digits(digits, number, base));
}

void dft_line_place(struct dft_message_line *line, uint32_t number, uint32_t column)
{
    if (!number)
        return;
    dft_line_text(line, "line ");
    dft_line_number(line, number, 10);
    dft_line_text(line, ", column ");
    dft_line_number(line, column, 10);
    dft_line_text(line, ": ");
}

/* Knows the errors of files and directories. */
const char *dft_line_error(int number, char buffer[DFT_ERROR_ROOM])
{
    static const struct {
        int number;
        const char *text;
    } texts[] = {
        {EACCES, "Permission denied (EACCES)"},
        {EPERM, "Operation not permitted (EPERM)"},
        {EROFS, "Read-only file system (EROFS)"},
        {ENOENT, "No such file or directory (ENOENT)"},
        {ENOTDIR, "Not a directory (ENOTDIR)"},
        {EISDIR, "Is a directory (EISDIR)"},
        {ENAMETOOLONG, "File name too long (ENAMETOOLONG)"},
        {ELOOP, "Too many levels of symbolic links (ELOOP)"},
        {ENOSPC, "No space left on device (ENOSPC)"},
        {EDQUOT, "Disk quota exceeded (EDQUOT)"},
        {EFBIG, "File too large (EFBIG)"},
        {EMFILE, "Too many open files (EMFILE)"},
        {ENFILE, "Too many open files in system (ENFILE)"},
        {ENOMEM, "Cannot allocate memory (ENOMEM)"},
        {EIO, "Input/output error (EIO)"},
        {ESTALE, "Stale file handle (ESTALE)"},
        {EINVAL, "Invalid argument (EINVAL)"},
        {EEXIST, "File exists (EEXIST)"},
    };
    static const char unknown[] = "error ";
    char *at;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].number == number)
            return texts[i].text;
    at = dft_digits(buffer + DFT_ERROR_ROOM - DFT_DIGITS_ROOM, (uint64_t)number, 10) - (sizeof unknown - 1);
    return memcpy(at, unknown, sizeof unknown - 1);
}

void dft_line_write(struct dft_message_line *line)
{
    line->text[line->used++] = '\n';
    dft_sys_write(2, line->text, line->used);
    line->used = 0;
}

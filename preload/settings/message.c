/* SPDX-License-Identifier: MIT */
/* Owns the lines for the user on descriptor 2. */
#include "settings/message.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "os/ourfile.h"
#include "os/secure.h"
#include "os/sys.h"

static size_t put(char *text, size_t capacity, size_t used, const char *more)
{
    for (; *more && used < capacity; more++)
        text[used++] = *more;
    return used;
}

/* Descriptor 2 as the program inherited it. A file that the program opens there later is its
 * own. */
static struct dft_ourfile messages;

void dft_messages_begin(void)
{
    struct stat st;

    if (!messages.inode && DFT_SYS(fstat, 2, &st, 0, 0, 0, 0) == 0)
        messages = dft_ourfile_of(&st);
}

/* A message may quote a file. Who runs a program with other rights must not read it by that. */
int dft_messages_can_be_seen(void)
{
    return !dft_is_secure() && dft_ourfile_has(&messages, 2);
}

void dft_message(enum dft_log_level level, const char *text, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[512] = "dftrace: ";
    size_t used = strlen(line);
    va_list list;

    if (level > dft_config.log_level || dft_config.log_level == DFT_LOG_OFF || !dft_messages_can_be_seen())
        return;
    used = put(line, sizeof line - 1, used, names[level]);
    used = put(line, sizeof line - 1, used, ": ");
    va_start(list, text);
    for (; text; text = va_arg(list, const char *))
        used = put(line, sizeof line - 1, used, text);
    va_end(list);
    line[used++] = '\n';
    dft_sys_write(2, line, used);
}

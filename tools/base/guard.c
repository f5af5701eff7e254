/* SPDX-License-Identifier: MIT */
/* Escapes what goes to standard error; see guard.h. Some hundred places name files there, which
 * anybody may have named. One guard serves them all, and those to come. */
#include "base/guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/write_text.h"

/* A failure here cannot be reported. */
static void put_all(const char *bytes, size_t length)
{
    while (length) {
        ssize_t n = write(STDERR_FILENO, bytes, length);

        if (n < 0 && errno != EINTR)
            return;
        bytes += n < 0 ? 0 : n;
        length -= n < 0 ? 0 : (size_t)n;
    }
}

static ssize_t put_message(void *context, const char *bytes, size_t length)
{
    int error = errno;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)context;
    if (out)
        dft_text_escape_lines(out, bytes, length);
    if (out && !fclose(out))
        put_all(text, size);
    free(text);
    errno = error;
    return (ssize_t)length;
}

void dft_guard_messages(void)
{
    FILE *guarded = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put_message});

    if (!guarded)
        return;
    setvbuf(guarded, NULL, _IONBF, 0);
    stderr = guarded;
}

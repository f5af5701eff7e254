/* SPDX-License-Identifier: MIT */
/* Opens streams in all modes, and moves nothing on some of them. Works in the current directory, which has the file
 * `given` of 100 bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *opened(const char *name, const char *mode)
{
    FILE *stream = fopen(name, mode);

    if (!stream)
        exit(1);
    return stream;
}

int main(void)
{
    FILE *stream = opened("given", "r");

    stream = freopen(NULL, "r+", stream);
    if (!stream || !(stream = freopen("again", "w", stream)))
        return 2;
    fclose(stream);
    stream = opened("appended", "w+e");
    fputs("some text\n", stream);
    fclose(stream);
    stream = opened("appended", "a");
    fputs("more\n", stream);
    fclose(stream);
    fclose(opened("appended", "a+b"));
    fclose(opened("new", "wx"));
    if (fopen("new", "wx") || fopen("none", "r"))
        return 3;
    stream = fdopen(open("given", O_WRONLY | O_APPEND), "a");
    if (!stream)
        return 4;
    fclose(stream);
    fclose(opened("given", "w")); /* cut, and nothing else */
    return 0;
}

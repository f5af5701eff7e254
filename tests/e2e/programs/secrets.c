/* SPDX-License-Identifier: MIT */
/* A program that tells a secret wherever a text can be told: DFTRACER_PRIVATE is to leave out all of them.
 *
 * usage: secrets SECRET FILE [killed | left] */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char secret[64];

static void run_commands(void)
{
    char command[128];
    FILE *stream;

    snprintf(command, sizeof command, ": %s", secret);
    if (system(command))
        exit(3);
    stream = popen(command, "r");
    if (!stream || pclose(stream))
        exit(4);
}

static void annotate(void)
{
    const struct dftrace_arg arg = dftrace_string("text", secret);
    struct dftrace_span span = {0};

    DFTRACE_METADATA("secret", secret);
    DFTRACE_THREAD_NAME(secret);
    DFTRACE_BEGIN("step");
    DFTRACE_ARG_STRING("note", secret);
    DFTRACE_ARG_INT("number", 7);
    dftrace_entity("shard", secret, secret);
    DFTRACE_INSTANT_ARGS("point", &arg, 1);
    DFTRACE_SPAN_BEGIN_ARGS(&span, 0, "span", 0, &arg, 1);
    DFTRACE_SPAN_END_ARGS(&span, &arg, 1);
    DFTRACE_END("step");
}

int main(int argc, char **argv)
{
    int fd;

    if (argc < 3)
        return 2;
    snprintf(secret, sizeof secret, "%s", argv[1]);
    fd = open(argv[2], O_WRONLY | O_CREAT, 0644);
    if (fd < 0 || write(fd, "text", 4) != 4)
        return 1;
    close(fd);
    run_commands();
    annotate();
    DFTRACE_BEGIN("open");
    DFTRACE_ARG_STRING("note", secret);
    if (argc > 3)
        return strcmp(argv[3], "left") ? raise(SIGKILL) : 0;
    DFTRACE_END("open");
    if (!fork()) {
        execl("/bin/true", secret, secret, (char *)NULL);
        _exit(5);
    }
    return 0;
}

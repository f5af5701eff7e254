/* SPDX-License-Identifier: MIT */
/* Does I/O and tells of itself, with TEXT (-DTEXT="...") in every name: of files, regions, arguments,
 * counters, threads, flows, spans, entities, roles.
 *
 * usage: odd_texts TEXT [killed] */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void move_bytes(const char *text)
{
    char path[512], block[4096];
    int fd;

    memset(block, 'x', sizeof(block));
    snprintf(path, sizeof(path), "%s/%s", text, text);
    if (mkdir(text, 0755) && access(text, F_OK))
        exit(3);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 200; i++)
        if (fd < 0 || write(fd, block, sizeof(block)) < 0 || pread(fd, block, 64, 64 * i) < 0)
            exit(4);
    fsync(fd);
    close(fd);
    open("absent", O_RDONLY);
    symlink(path, "link");
    rename(path, text);
}

static void tell(void)
{
    struct dftrace_arg args[] = {dftrace_string(TEXT, TEXT), dftrace_int(TEXT, 7)};
    struct dftrace_span span;

    DFTRACE_METADATA(TEXT, TEXT);
    DFTRACE_JOB_METADATA(TEXT, TEXT);
    DFTRACE_INSTANT_ARGS(TEXT, args, 2);
    DFTRACE_COUNTER(TEXT, 3);
    DFTRACE_COUNTER(TEXT, 5);
    DFTRACE_FLOW_START(TEXT, 9);
    DFTRACE_FLOW_FINISH(TEXT, 9);
    DFTRACE_ASYNC_BEGIN(TEXT, 4);
    DFTRACE_ASYNC_END(TEXT, 4);
    DFTRACE_SPAN_BEGIN(&span, TEXT);
    DFTRACE_SPAN_END(&span);
    DFTRACE_USES(TEXT, TEXT);
    DFTRACE_GENERATES(TEXT, "other");
    dftrace_entity_relate(DFT_REL_CONTAINS, dftrace_entity(TEXT, TEXT, TEXT), dftrace_entity(TEXT, "other", TEXT));
}

int main(int argc, char **argv)
{
    (void)argv; /* is of the command line */
    dftrace_set_role(TEXT);
    DFTRACE_THREAD_NAME(TEXT);
    DFTRACE_BEGIN_CAT(TEXT, TEXT);
    tell();
    move_bytes(TEXT);
    if (argc > 2)
        kill(getpid(), SIGKILL);
    DFTRACE_END_CAT(TEXT, TEXT);
    return 0;
}

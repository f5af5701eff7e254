/* SPDX-License-Identifier: MIT */
/* Operations that make processes: forked children that go on with what their parent has open, and
 * fresh images of this program. The parent waits, so that it is always known who moved an
 * offset. */
#include "fuzz.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IMAGE_ARGUMENTS (12 + FDS)

extern char **environ;

static void share(struct worker *w)
{
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0)
            w->fds[i].file->shared = 1;
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream)
            w->streams[i].at.file->shared = 1;
    for (int i = 0; i < DIRS; i++)
        if (w->dirs[i].dir)
            w->dirs[i].at.file->shared = 1;
}

/* A tracer that does not know of the call cannot know who else moves offsets now. */
static void passed_on(struct worker *w, const char *call)
{
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0)
            moved_by(w->fds[i].file, call);
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].stream)
            moved_by(w->streams[i].at.file, call);
}

static void wait_for(struct worker *w, pid_t pid)
{
    int status = 0;
    pid_t r = DO(w, waitpid(pid, &status, 0));

    say(w, "waitpid", r == pid, r < 0, "status=%x", status);
}

static void as_child(struct worker *w, const char *lineage)
{
    int quick = percent(w, 50);

    snprintf(w->lineage, sizeof w->lineage, "%s", lineage);
    log_open(w);
    w->number = w->number * 31 + (uint64_t)w->children + 7;
    w->ops = 10 + below(w, 40);
    w->keep = NULL;
    w->depth++;
    w->children = 0;
    work(w);
    log_close(w);
    if (quick)
        _exit(0);
    exit(0);
}

static void op_fork(struct worker *w)
{
    char lineage[sizeof w->lineage + 12];
    pid_t pid;

    if (w->threaded || w->depth >= 2 || percent(w, 60))
        return;
    flush_pending(w, NULL);
    share(w);
    snprintf(lineage, sizeof lineage, "%s.%d", w->lineage, w->children++);
    pid = DO(w, fork());
    if (pid == 0)
        as_child(w, lineage);
    say(w, "fork", pid > 0, pid < 0, "~child=%d", (int)pid);
    wait_for(w, pid);
}

/* --- images ----------------------------------------------------------------------------------- */

struct image {
    char text[IMAGE_ARGUMENTS][NAME_ROOM];
    char *argv[IMAGE_ARGUMENTS + 1];
};

/* What the new image is to do, and what it finds open. */
static void describe(struct worker *w, struct image *image, const char *lineage)
{
    int n = 0;

    snprintf(image->text[n++], NAME_ROOM, "%s/fuzz_calls", options.logs);
    snprintf(image->text[n++], NAME_ROOM, "--image");
    snprintf(image->text[n++], NAME_ROOM, "%lu", (unsigned long)w->seed);
    snprintf(image->text[n++], NAME_ROOM, "%lu", (unsigned long)(w->number * 37 + (uint64_t)w->children + 11));
    snprintf(image->text[n++], NAME_ROOM, "%u", 10 + below(w, 30));
    snprintf(image->text[n++], NAME_ROOM, "%s", lineage);
    snprintf(image->text[n++], NAME_ROOM, "%s", options.work);
    snprintf(image->text[n++], NAME_ROOM, "%s", options.logs);
    snprintf(image->text[n++], NAME_ROOM, "%s", w->root);
    snprintf(image->text[n++], NAME_ROOM, "%d", w->depth + 1);
    for (int i = 0; i < FDS; i++)
        if (w->fds[i].fd >= 0 && !(RAW(fcntl, w->fds[i].fd, F_GETFD, 0, 0, 0, 0) & FD_CLOEXEC))
            snprintf(image->text[n++], NAME_ROOM, "%d", w->fds[i].fd);
    for (int i = 0; i < n; i++)
        image->argv[i] = image->text[i];
    image->argv[n] = NULL;
}

static void op_image(struct worker *w)
{
    char lineage[sizeof w->lineage + 12];
    static struct image image;
    const char *program;
    unsigned how = below(w, 3);
    pid_t pid = -1;
    int r;

    if (w->threaded || w->depth >= 2 || percent(w, 70))
        return;
    flush_pending(w, NULL);
    share(w);
    snprintf(lineage, sizeof lineage, "%s.x%d", w->lineage, w->children++);
    describe(w, &image, lineage);
    program = image.argv[0];
    if (how == 0) {
        passed_on(w, "posix_spawn");
        r = DO(w, posix_spawn(&pid, program, NULL, NULL, image.argv, environ));
        say(w, "posix_spawn", r, 0, "~child=%d", (int)pid);
    } else if (how == 1) {
        pid = DO(w, vfork());
        if (pid == 0) {
            execve(program, image.argv, environ);
            _exit(127);
        }
        say(w, "vfork", pid > 0, pid < 0, "~child=%d", (int)pid);
    } else {
        pid = DO(w, fork());
        if (pid == 0) {
            execv(program, image.argv);
            _exit(127);
        }
        say(w, "fork", pid > 0, pid < 0, "~child=%d", (int)pid);
    }
    if (pid > 0)
        wait_for(w, pid);
}

int run_image(int argc, char **argv)
{
    static struct worker w;

    if (argc < 10)
        return 2;
    w = (struct worker){.seed = strtoul(argv[2], NULL, 10),
                        .number = strtoul(argv[3], NULL, 10),
                        .common = -1,
                        .common_race = -1,
                        .last_closed = -1};
    w.ops = (unsigned)atoi(argv[4]);
    snprintf(w.lineage, sizeof w.lineage, "%s", argv[5]);
    options.work = argv[6];
    options.logs = argv[7];
    snprintf(w.root, sizeof w.root, "%s", argv[8]);
    w.depth = atoi(argv[9]);
    for (int i = 0; i < FDS; i++) {
        struct name name = {"", ""};
        int fd = 10 + i < argc ? atoi(argv[10 + i]) : -1;

        w.fds[i].fd = -1;
        if (fd < 0)
            continue;
        kernel_name(fd, name.file);
        if (name.file[0] != '/')
            strcpy(name.file, "nameless");
        w.fds[i] = (struct fd_slot){fd, "", file_new(&name, "exec")};
        w.fds[i].file->references = 1;
        w.fds[i].file->shared = 1;
    }
    log_open(&w);
    work(&w);
    log_close(&w);
    return 0;
}

const struct operation process_operations[] = {{"fork", 3, 0, op_fork}, {"image", 2, 0, op_image}, {NULL, 0, 0, NULL}};

/* SPDX-License-Identifier: MIT */
/* The files of `--format perfflow`: their names, their buffers, and the order of records in
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open_regular.h"
#include "export/export_perfflow_files.h"

#define BUFFER_BYTES 65536u

/* --- files ------------------------------------------------------------------------------------ */

int dft_perfflow_option(const struct dft_perfflow_sink *sink, const char *name, char *value, size_t capacity)
{
    size_t n = strlen(name);

    for (const char *at = sink->options; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");

        if (!strncmp(at, name, n) && at[n] == '=') {
            snprintf(value, capacity, "%.*s", (int)(length - n - 1), at + n + 1);
            return 1;
        }
        at += length;
    }
    return 0;
}

/* The name is perfflow.array or perfflow.object, then what log-filename-include lists. A slash in a
 * name must not leave the directory that the user requested. */
char *dft_perfflow_name(const struct dft_perfflow *p, const struct dft_perfflow_sink *sink,
                        const struct dft_process *process)
{
    char include[256] = "hostname,pid", name[256] = "generic", *path = NULL, *more, *save = NULL;

    dft_perfflow_option(sink, "log-filename-include", include, sizeof include);
    dft_perfflow_option(sink, "name", name, sizeof name);
    if (asprintf(&path, "perfflow.%s", sink->object ? "object" : "array") < 0)
        return NULL;
    for (char *word = strtok_r(include, ",", &save); word && path; word = strtok_r(NULL, ",", &save), path = more) {
        int n;

        more = NULL;
        if (!strcmp(word, "name"))
            n = asprintf(&more, "%s.%s", path, name);
        else if (!strcmp(word, "hostname"))
            n = asprintf(&more, "%s.%.*s", path, (int)process->host.length, process->host.bytes);
        else if (!strcmp(word, "pid"))
            n = asprintf(&more, "%s.%u", path, process->pid);
        else if (!strcmp(word, "instance-path"))
            n = asprintf(&more, "%s.{%.*s}", path, process->job_id.length ? (int)process->job_id.length : 1,
                         process->job_id.length ? process->job_id.bytes : "1");
        else
            n = asprintf(&more, "%s", path);
        free(path);
        if (n < 0)
            return NULL;
    }
    for (char *at = path; at && *at; at++)
        if (*at == '/')
            *at = '_';
    if (path && asprintf(&more, "%s/%s.pfw", p->directory, path) >= 0) {
        free(path);
        return more;
    }
    free(path);
    return NULL;
}

/* There are too many files to keep all open. Somebody may put another one there meanwhile: it must be ours. */
static FILE *open_again(const char *path)
{
    struct stat st;
    int fd = dft_open_regular(path, O_WRONLY | O_APPEND | O_NOFOLLOW, &st), is_ours;
    FILE *file;

    if (fd == -ENOENT) {
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        fd = fd < 0 ? -errno : fd;
        is_ours = 1;
    } else {
        is_ours = fd >= 0 && st.st_uid == geteuid() && st.st_nlink == 1;
    }
    file = fd >= 0 && is_ours ? fdopen(fd, "a") : NULL;
    if (fd < 0 || !is_ours)
        errno = fd < 0 ? -fd : EEXIST;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

static void spill(struct dft_perfflow *p, struct dft_perfflow_sink *sink)
{
    FILE *file = sink->path ? open_again(sink->path) : p->export->out;

    if (!file || fwrite(sink->buffer, 1, sink->used, file) != sink->used)
        p->error = file ? -EIO : -errno;
    if (sink->path && file && fclose(file))
        p->error = -errno;
    sink->used = 0;
}

static void put(struct dft_perfflow *p, struct dft_perfflow_sink *sink, const char *text)
{
    size_t n = strlen(text);

    if (!sink->buffer && !(sink->buffer = malloc(BUFFER_BYTES))) {
        p->error = -ENOMEM;
        return;
    }
    while (n) {
        size_t part = n < BUFFER_BYTES - sink->used ? n : BUFFER_BYTES - sink->used;

        memcpy(sink->buffer + sink->used, text, part);
        sink->used += part;
        text += part;
        n -= part;
        if (sink->used == BUFFER_BYTES)
            spill(p, sink);
    }
}

static void put_record(struct dft_perfflow *p, uint32_t number, const char *line)
{
    struct dft_perfflow_sink *sink = &p->sinks[number];

    put(p, sink, sink->begun++ ? ",\n" : sink->object ? "{\"traceEvents\": [\n" : "[\n");
    put(p, sink, line);
}

/* --- order ------------------------------------------------------------------------------------ */

/* Among records at one time, the ends of what began last come first. All else stays in the order of
 * creation. */
static int comes_later(const struct dft_perfflow_waiting *a, const struct dft_perfflow_waiting *b)
{
    if (a->ns != b->ns)
        return a->ns > b->ns;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->order > b->order;
}

void dft_perfflow_wait(struct dft_perfflow *p, uint32_t sink, uint64_t ns, uint64_t start_ns, char *line)
{
    struct dft_perfflow_waiting one = {ns, start_ns, p->order++, sink, line};
    size_t i = p->nwaiting;

    if (p->nwaiting == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct dft_perfflow_waiting *more = reallocarray(p->waiting, capacity, sizeof *more);

        if (!more) {
            p->error = -ENOMEM;
            free(line);
            return;
        }
        p->waiting = more;
        p->capacity = capacity;
    }
    while (i > 0 && !comes_later(&p->waiting[i - 1], &one))
        i--;
    memmove(&p->waiting[i + 1], &p->waiting[i], (p->nwaiting - i) * sizeof *p->waiting);
    p->waiting[i] = one;
    p->nwaiting++;
}

void dft_perfflow_let_go(struct dft_perfflow *p, uint64_t until_ns)
{
    while (p->nwaiting && p->waiting[p->nwaiting - 1].ns <= until_ns) {
        struct dft_perfflow_waiting *one = &p->waiting[--p->nwaiting];

        put_record(p, one->sink, one->line);
        free(one->line);
    }
}

void dft_perfflow_finish(struct dft_perfflow *p)
{
    dft_perfflow_let_go(p, UINT64_MAX);
    for (uint32_t i = 0; i < p->nsinks; i++) {
        struct dft_perfflow_sink *sink = &p->sinks[i];

        if (!sink->begun && !sink->path && i == 0 && !p->directory)
            put(p, sink, "[");
        if (sink->begun || !p->directory)
            put(p, sink, sink->object && sink->begun ? "\n]}\n" : "\n]\n");
        if (sink->used)
            spill(p, sink);
    }
}

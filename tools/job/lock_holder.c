/* SPDX-License-Identifier: MIT */
/* Owns /proc/locks. A line is a lock, "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF"; the lines below it with an arrow
 * and the same number, "1: -> FLOCK ...", are who waits for it. */
#include "job/lock_holder.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"
#include "format/ops.h"
#include "live/source_life.h"

#define LINE 256

/* holder: -1 or 0: the kernel does not say (OFD locks, and processes of other PID namespaces). */
struct dft_locked {
    long waiter, holder;
};

void dft_locks_read(struct dft_locks *locks, const struct dft_flight *flights, size_t count)
{
    struct dft_locked lock = {0};
    char line[LINE];
    FILE *file;

    while (count && flights[count - 1].op != DFT_OP_LOCK)
        count--;
    file = count ? fopen("/proc/locks", "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%*d: -> %*s %*s %*s %ld", &lock.waiter) != 1)
            sscanf(line, "%*d: %*s %*s %*s %ld", &lock.holder);
        else if (DFT_ARRAY_PUSH(locks->list, locks->capacity, locks->count, lock))
            break;
    if (file)
        fclose(file);
}

void dft_locks_free(struct dft_locks *locks)
{
    free(locks->list);
}

static void say_name(FILE *out, long pid)
{
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    file = fopen(path, "re");
    if (file && !fgets(name, sizeof name, file))
        name[0] = 0;
    if (file)
        fclose(file);
    name[strcspn(name, "\n")] = 0;
    fprintf(out, ", held by process %ld (", pid);
    if (file)
        dft_text_escape(out, name, strlen(name));
    else
        fputs("it has ended; who inherited the descriptor holds it on", out);
    fputc(')', out);
}

void dft_lock_holder_say(FILE *out, const struct dft_locks *locks, const struct dft_flight *flight,
                         const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *process = &dft_source_processes(source, &count)[flight->process];
    size_t i = 0;

    if (flight->op != DFT_OP_LOCK || process->exit_kind != DFT_ENDING_RUNNING || !dft_life_is_here(process))
        return;
    while (i < locks->count && locks->list[i].waiter != (long)process->process.pid)
        i++;
    if (i == locks->count)
        return;
    if (locks->list[i].holder > 0)
        say_name(out, locks->list[i].holder);
    else
        fputs(", held by a process that the kernel does not name", out);
}

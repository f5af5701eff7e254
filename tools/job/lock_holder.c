/* SPDX-License-Identifier: MIT */
/* Owns /proc/locks. A line is a lock, "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF"; the lines below it with an arrow
 * and the same number, "1: -> FLOCK ...", are who waits for it. */
#include "job/lock_holder.h"

#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "format/ops.h"

#define LINE 256

/* Finds the line of the lock that `pid` waits for. Returns whether there is one; *holder: the process that has it,
 * -1 or 0: the kernel does not say (OFD locks, and processes of other PID namespaces). */
static int find_holder(uint32_t pid, long *holder)
{
    FILE *file = fopen("/proc/locks", "re");
    char line[LINE];
    long owner = 0, waiter;
    int found = 0;

    while (file && !found && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%*d: -> %*s %*s %*s %ld", &waiter) == 1)
            found = waiter == (long)pid;
        else if (sscanf(line, "%*d: %*s %*s %*s %ld", &waiter) == 1)
            owner = waiter;
    }
    if (file)
        fclose(file);
    *holder = owner;
    return found;
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

void dft_lock_holder_say(FILE *out, const struct dft_flight *flight, const struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *process = &dft_source_processes(source, &count)[flight->process];
    long holder;

    if (flight->op != DFT_OP_LOCK || process->exit_kind != DFT_ENDING_RUNNING ||
        !find_holder(process->process.pid, &holder))
        return;
    if (holder > 0)
        say_name(out, holder);
    else
        fputs(", held by a process that the kernel does not name", out);
}

/* SPDX-License-Identifier: MIT */
/* Owns what ended badly. A process that a signal ends as the kernel does by default can say nothing of it. Its parent
 * may: by the status that it waited for. */
#include "findings/verdict_ends.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "findings/facts.h"
#include "format/hash.h"
#include "source/source_unordered.h"

#define SIGNALS 65 /* their numbers are below */

struct ends {
    struct dft_map statuses; /* host and pid -> status of a wait for it, + 1 */
    uint64_t status_key;
    uint32_t signals[SIGNALS]; /* 0: no number is known */
    uint32_t killed, unknown;
};

/* One host has a pid once at a time; of several with the same one the last wait counts. */
static uint64_t pid_of(const struct dft_source_process *process, uint64_t pid)
{
    return dft_map_join(dft_name_id(process->process.host.bytes, process->process.host.length), pid);
}

static int take_wait(void *context, const struct dft_event_at *at)
{
    struct ends *ends = context;
    const struct dft_event *event = at->event;
    uint64_t *status;

    for (uint32_t i = 0; at->op == DFT_OP_WAIT && event->result > 0 && i < at->nargs; i++) {
        if (at->args[i].key != ends->status_key)
            continue;
        status = dft_map_put(&ends->statuses, pid_of(at->process, (uint64_t)event->result));
        if (!status)
            return -ENOMEM;
        *status = (uint64_t)at->args[i].i + 1;
    }
    return 0;
}

static int is_killed(const struct dft_facts *facts, const struct dft_source_process *process)
{
    return process->exit_kind == DFT_ENDING_KILLED && dft_filter_process(facts->request->filter, process);
}

/* A writer whose reader has gone is ended by SIGPIPE: so pipelines end. */
static void add_signal(struct ends *ends, int number)
{
    if (number != SIGPIPE)
        ends->signals[number > 0 && number < SIGNALS ? number : 0]++;
}

static void add_end(struct ends *ends, const struct dft_source_process *process)
{
    const uint64_t *status = dft_map_find(&ends->statuses, pid_of(process, process->process.pid));

    if (process->exit_kind == DFT_ENDING_SIGNAL)
        add_signal(ends, (int)process->end.status);
    else if (process->exit_kind == DFT_ENDING_UNKNOWN)
        ends->unknown += process->unseen != 0;
    else if (process->exit_kind == DFT_ENDING_KILLED && !status)
        ends->killed++;
    else if (process->exit_kind == DFT_ENDING_KILLED && WIFSIGNALED((int)(*status - 1)))
        add_signal(ends, WTERMSIG((int)(*status - 1)));
}

static int count_ends(struct ends *ends, const struct dft_facts *facts)
{
    uint32_t count, killed = 0;
    const struct dft_source_process *processes = dft_source_processes(facts->request->source, &count);
    int rc = 0;

    for (uint32_t i = 0; i < count; i++)
        killed += is_killed(facts, &processes[i]);
    if (killed && facts->has_file_ops)
        rc = dft_source_unordered(facts->request->source, facts->request->filter, take_wait, ends);
    for (uint32_t i = 0; i < count; i++)
        if (dft_filter_process(facts->request->filter, &processes[i]))
            add_end(ends, &processes[i]);
    return rc;
}

static int say(char **text, const struct ends *ends)
{
    int rc = 0;

    for (int i = 0; i < SIGNALS && !rc; i++) {
        const char *name = i ? sigabbrev_np(i) : NULL;

        if (ends->signals[i])
            rc = dft_finding_say(text, "%s%u process%s by %s%s", *text ? ", " : "", ends->signals[i],
                                 ends->signals[i] == 1 ? "" : "es", name ? "SIG" : "a signal", name ? name : "");
    }
    if (!rc && ends->killed)
        rc = dft_finding_say(text, "%s%u process%s killed (or left by a raw exit_group)", *text ? ", " : "",
                             ends->killed, ends->killed == 1 ? "" : "es");
    if (!rc && ends->unknown)
        rc = dft_finding_say(text, "%s%u unknown (still running, or killed)", *text ? ", " : "", ends->unknown);
    return rc;
}

int dft_verdict_ends(char **text, const struct dft_facts *facts)
{
    struct ends ends = {.status_key = dft_name_id("\0status", 7)};
    int rc = count_ends(&ends, facts);

    dft_map_fini(&ends.statuses);
    return rc ? rc : say(text, &ends);
}

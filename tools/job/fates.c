/* SPDX-License-Identifier: MIT */
/* Owns which ends of processes are an accident, and which of these came first.
 *
 * The end of one process brings that of others: a launcher ends all ranks when one has died. So the signal goes before
 * the time: SIGSEGV is a process's own, SIGKILL may be the kernel's for want of memory, and SIGTERM is what launchers
 * send. The earliest end of one kind is the cause. The end of a process that said none lies between its last sign
 * of life and the wait of its parent: the wait counts where there is one. */
#include "job/fates.h"
#include "job/fates_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "views/ps_tree.h"
#include "judge/source_fates.h"
#include "object/source_node.h"

/* --- what is an accident ------------------------------------------------------------------------ */

/* Did its parent end it? Nothing records kill(). A parent that waits for a child that ended by SIGTERM, and ends well
 * itself, meant it. By SIGKILL the kernel ends who takes too much memory, so there the child must be a copy of the
 * parent (a worker), too. */
static int was_stopped(const struct dft_source *source, const struct dft_source_process *process, int number)
{
    const struct dft_source_process *parent;
    uint32_t count;

    if (!process->waited_by || (number != SIGTERM && number != SIGKILL))
        return 0;
    parent = &dft_source_processes(source, &count)[process->waited_by - 1];
    if (parent->exit_kind != DFT_ENDING_RUNNING &&
        (!dft_process_knows_status(parent) || dft_process_signal(parent) || parent->end.status))
        return 0;
    return number == SIGTERM || (dft_text_same(parent->process.exe, process->process.exe) &&
                                 dft_text_same(parent->process.command, process->process.command));
}

/* The first image of a process. */
static uint32_t image_of(const struct dft_ps_tree *tree, uint32_t number)
{
    uint32_t parent = tree->parent[number];

    for (uint32_t i = 0; parent != DFT_PS_ROOT && i < tree->count; i++, parent = tree->parent[number]) {
        if (tree->processes[parent].process.pid != tree->processes[number].process.pid)
            break;
        number = parent;
    }
    return number;
}

/* Is it the process that stands for the job, or for a rank? What others return is an answer to their parents. */
static int is_head(const struct dft_ps_tree *tree, uint32_t number, const uint32_t *heads)
{
    uint32_t image = image_of(tree, number), parent = tree->parent[image];
    int32_t rank = tree->processes[number].process.rank;

    return image == heads[tree->processes[image].run] ||
           (rank >= 0 && (parent == DFT_PS_ROOT || tree->processes[parent].process.rank != rank));
}

static enum dft_fate fate_of(const struct dft_source *source, const struct dft_ps_tree *tree, uint32_t number,
                             const uint32_t *heads)
{
    const struct dft_source_process *process = &tree->processes[number];
    int signal = dft_process_signal(process);

    switch (process->exit_kind) {
    case DFT_ENDING_RUNNING:
        return DFT_FATE_RUNNING;
    case DFT_ENDING_UNKNOWN:
        return process->unseen ? DFT_FATE_UNSEEN : DFT_FATE_RUNNING;
    case DFT_ENDING_KILLED:
    case DFT_ENDING_SIGNAL:
        return signal == SIGPIPE                      ? DFT_FATE_DONE
               : was_stopped(source, process, signal) ? DFT_FATE_STOPPED
                                                      : DFT_FATE_KILLED;
    default:
        return dft_process_knows_status(process) && process->end.status && process->exit_kind != DFT_ENDING_EXEC &&
                       is_head(tree, number, heads)
                   ? DFT_FATE_FAILED
                   : DFT_FATE_DONE;
    }
}

/* The first process of each run, by `run` of processes; what names no run has one where it began before all others.
 * Returns NULL: no memory. */
static uint32_t *find_heads(const struct dft_ps_tree *tree, const struct dft_source *source)
{
    uint32_t nruns, *heads, head = DFT_PS_ROOT;
    uint64_t start, end, first, least = UINT64_MAX;

    dft_source_runs(source, &nruns, NULL);
    heads = malloc((nruns + 1u) * sizeof *heads);
    for (uint32_t r = 0; heads && r <= nruns; r++)
        heads[r] = DFT_PS_ROOT;
    for (uint32_t i = 0; heads && i < tree->count; i++) {
        const struct dft_source_process *process = &tree->processes[i];
        uint32_t *of = &heads[process->run];

        if (tree->parent[i] != DFT_PS_ROOT || dft_process_is_node(process))
            continue;
        dft_process_lifetime(process, &start, &end);
        if (*of != DFT_PS_ROOT)
            dft_process_lifetime(&tree->processes[*of], &first, &end);
        if (*of == DFT_PS_ROOT || start < first)
            *of = i;
        head = start < least ? i : head;
        least = start < least ? start : least;
    }
    for (uint32_t r = 0; heads && r <= nruns; r++)
        if (heads[r] != head && heads[r] != DFT_PS_ROOT && !dft_source_run_name(source, &tree->processes[heads[r]]))
            heads[r] = DFT_PS_ROOT;
    return heads;
}

/* --- which was first ---------------------------------------------------------------------------- */

/* Lower: rather the cause of the others than their consequence. */
static unsigned blame_of(const struct dft_source_process *process)
{
    int number = dft_process_signal(process), status = number ? 128 + number : process->end.status;

    if (process->exit_kind == DFT_ENDING_KILLED && !number)
        return 2;
    return status == 128 + SIGTERM || status == 128 + SIGINT || status == 128 + SIGHUP ? 3
           : status == 128 + SIGKILL                                                   ? 1
                                                                                       : 0;
}

int dft_fates_knows_end(const struct dft_source_process *process)
{
    return process->waited || (process->ended && process->exit_kind != DFT_ENDING_KILLED); /* else: its last event */
}

static uint64_t end_of(const struct dft_source_process *process)
{
    uint64_t start, end;

    dft_process_lifetime(process, &start, &end);
    return process->waited_ns > end ? process->waited_ns : end;
}

static void find_first(struct dft_fates *fates, const struct dft_ps_tree *tree)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < tree->count; i++) {
        const struct dft_source_process *process = &tree->processes[i],
                                        *first = fates->first ? &tree->processes[fates->first - 1] : NULL;

        if (!DFT_FATE_IS_BAD(fates->of[i]))
            continue;
        fates->bad++;
        fates->undated += !dft_fates_knows_end(process);
        if (i + 1 != fates->head && dft_fates_knows_end(process) && end_of(process) > last)
            last = end_of(process);
        if (!first || blame_of(process) < blame_of(first) ||
            (blame_of(process) == blame_of(first) && end_of(process) < end_of(first)))
            fates->first = i + 1;
    }
    if (fates->first && dft_fates_knows_end(&tree->processes[fates->first - 1]) &&
        last > end_of(&tree->processes[fates->first - 1]))
        fates->later_ns = last - end_of(&tree->processes[fates->first - 1]);
}

int dft_fates_find(struct dft_fates *fates, const struct dft_source *source, const struct dft_filter *filter)
{
    struct dft_ps_tree tree;
    struct dft_filter none;
    uint32_t *heads = NULL;
    int rc;

    *fates = (struct dft_fates){0};
    dft_filter_init(&none);
    rc = dft_ps_tree_make(&tree, source, &none);
    fates->of = calloc(tree.count + 1u, sizeof *fates->of);
    if (!rc)
        heads = find_heads(&tree, source);
    if (!rc && !(fates->of && heads))
        rc = -ENOMEM;
    for (uint32_t i = 0; i < tree.count && !rc; i++)
        if (!filter || dft_filter_process(filter, &tree.processes[i]))
            fates->of[i] = (uint8_t)fate_of(source, &tree, i, heads);
    for (uint32_t i = 0; i < tree.count && !rc; i++)
        if (fates->of[i] == DFT_FATE_FAILED && image_of(&tree, i) == heads[tree.processes[i].run] && !fates->head)
            fates->head = i + 1;
    if (!rc)
        find_first(fates, &tree);
    free(heads);
    dft_ps_tree_free(&tree);
    dft_filter_fini(&none);
    return rc;
}

void dft_fates_free(struct dft_fates *fates)
{
    free(fates->of);
    *fates = (struct dft_fates){0};
}

/* --- words -------------------------------------------------------------------------------------- */

struct counts {
    struct dft_killed killed;
    uint32_t failed, unseen;
};

static void count(struct counts *counts, const struct dft_fates *fates, const struct dft_source_process *process)
{
    switch (fates->of[process->number]) {
    case DFT_FATE_UNSEEN:
        counts->unseen++;
        break;
    case DFT_FATE_FAILED:
        counts->failed++;
        break;
    case DFT_FATE_KILLED:
        dft_killed_add(&counts->killed, process);
        break;
    default:
        break;
    }
}

static void say_count(FILE *out, const char **comma, uint32_t count, const char *how)
{
    if (!count)
        return;
    fprintf(out, "%s%u process%s %s", *comma, count, count == 1 ? "" : "es", how);
    *comma = ", ";
}

/* "2 processes by SIGSEGV, 1 process by SIGTERM", behind `comma`. */
static const char *say_counts(FILE *out, const struct counts *counts, const char *comma)
{
    char name[DFT_ENDED_ROOM], how[DFT_ENDED_ROOM + 4];

    for (int i = 1; i < DFT_SIGNALS; i++) {
        snprintf(how, sizeof how, "by %s", dft_signal_name(name, i) ? name : "a signal");
        say_count(out, &comma, counts->killed.signals[i], how);
    }
    say_count(out, &comma, counts->failed, "with an exit status");
    return comma;
}

/* Those whose end nobody waited for: when they died, nothing says. */
static const char *say_unknown(FILE *out, const struct counts *counts, int is_first_said, const char *comma)
{
    uint32_t killed = counts->killed.signals[0];

    if (killed && is_first_said) {
        fprintf(out, "; %u more %s killed (or left by a raw exit_group), when is not known", killed,
                killed == 1 ? "was" : "were");
        comma = ", ";
    } else {
        say_count(out, &comma, killed, "killed (or left by a raw exit_group)");
    }
    if (counts->unseen)
        fprintf(out, "%s%u unknown (still running, or killed)", comma, counts->unseen);
    return counts->unseen ? ", " : comma;
}

static int has_ranks(const struct dft_source *source, int32_t rank)
{
    uint32_t n;
    const struct dft_source_process *processes = dft_source_processes(source, &n);

    for (uint32_t i = 0; i < n && rank >= 0; i++)
        if (processes[i].process.rank >= 0 && processes[i].process.rank != rank)
            return 1;
    return 0;
}

/* "exit 1, rank 5 died first (SIGSEGV)". among: which it is the first of, NULL: no rank is. What it says of is not
 * counted again: *said has their numbers + 1. */
static const char *say_first(FILE *out, const struct dft_fates *fates, const struct dft_source_process *processes,
                             const char *among, uint32_t said[2])
{
    const struct dft_source_process *head = fates->head ? &processes[fates->head - 1] : NULL;
    const struct dft_source_process *first = fates->first ? &processes[fates->first - 1] : NULL;
    const char *comma = "";
    char end[DFT_ENDED_ROOM];

    if (head && (!among || head->process.rank < 0)) {
        fprintf(out, "exit %d", head->end.status);
        said[0] = fates->head;
        comma = ", ";
    }
    if (among) {
        fprintf(out, "%srank %d died first (%s)%s", comma, first->process.rank, dft_process_ended(end, first), among);
        said[1] = fates->first;
        comma = ", ";
    }
    return comma;
}

int dft_fates_say(FILE *out, const struct dft_fates *fates, const struct dft_source *source)
{
    uint32_t n, said[2] = {0};
    const struct dft_source_process *processes = dft_source_processes(source, &n);
    int status = 0, is_several = dft_fates_say_jobs(out, fates, source, &status);
    int is_rank = !is_several && fates->first && dft_fates_knows_end(&processes[fates->first - 1]) &&
                  has_ranks(source, processes[fates->first - 1].process.rank);
    struct counts counts = {{0}};
    char later[DFT_TEXT_ROOM];
    const char *comma = "";

    if (status)
        return fprintf(out, "exit %d", status) > 0;
    if (!is_several)
        comma = say_first(out, fates, processes,
                          !is_rank          ? NULL
                          : !fates->undated ? ""
                                            : " of those whose end is known",
                          said);
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 != said[0] && i + 1 != said[1])
            count(&counts, fates, &processes[i]);
    comma = say_counts(out, &counts, comma);
    if (is_rank && fates->later_ns)
        fprintf(out, " up to %s later", dft_text_ns(later, fates->later_ns));
    return *say_unknown(out, &counts, is_rank, comma) != 0;
}

int dft_fates_text(char **text, const struct dft_fates *fates, const struct dft_source *source)
{
    size_t length;
    FILE *out;
    int any, rc;

    *text = NULL;
    out = open_memstream(text, &length);
    if (!out)
        return -ENOMEM;
    any = dft_fates_say(out, fates, source);
    rc = fclose(out) ? -ENOMEM : 0;
    if (rc || !any) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

/* --- JSON --------------------------------------------------------------------------------------- */

void dft_fate_json(struct dft_json *json, const struct dft_source_process *process)
{
    char name[DFT_ENDED_ROOM];

    dft_json_string(json, "signal", dft_signal_name(name, dft_process_signal(process)));
    dft_json_known_uint(json, "waited_ns", process->waited != 0, process->waited_ns);
}

static void json_first(struct dft_json *json, const struct dft_source_process *first)
{
    uint64_t start, end;

    dft_process_lifetime(first, &start, &end);
    dft_json_object(json, "first");
    dft_json_known_int(json, "rank", first->process.rank >= 0, first->process.rank);
    dft_json_uint(json, "pid", first->process.pid);
    dft_json_known_int(json, "status", dft_process_knows_status(first), first->end.status);
    dft_fate_json(json, first);
    dft_json_uint(json, "end_ns", end);
    dft_json_end_object(json);
}

void dft_fates_json(struct dft_json *json, const struct dft_fates *fates, const struct dft_source *source)
{
    static const char *const words[DFT_FATES] = {
        [DFT_FATE_DONE] = "done",     [DFT_FATE_RUNNING] = "running", [DFT_FATE_STOPPED] = "stopped",
        [DFT_FATE_UNSEEN] = "unseen", [DFT_FATE_FAILED] = "failed",   [DFT_FATE_KILLED] = "killed"};
    uint32_t count, all[DFT_FATES] = {0};
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    char *text;

    dft_fates_text(&text, fates, source);
    for (uint32_t i = 0; i < count; i++)
        all[fates->of[i]] += !dft_process_is_node(&processes[i]);
    dft_json_object(json, "ended");
    dft_json_string(json, "text", text);
    for (unsigned fate = 0; fate < DFT_FATES; fate++)
        dft_json_uint(json, words[fate], all[fate]);
    if (fates->first)
        json_first(json, &processes[fates->first - 1]);
    else
        dft_json_null(json, "first");
    dft_json_uint(json, "later_ns", fates->later_ns);
    dft_json_end_object(json);
    free(text);
}

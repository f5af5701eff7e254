/* SPDX-License-Identifier: MIT */
/* Reads the small tables: processes, jobs, notes. Rank 0 emits their rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "format/end.h"
#include "mpi/comm.h"
#include "views/ps_tree.h"
#include "object/source_notes.h"
#include "tables/columns.h"
#include "tables/reading.h"

/* Reads one of them: `fill` makes its rows with maker 0. */
static int read_list(struct dft_reading *reading, int (*fill)(struct dft_reading *reading))
{
    int rc;

    if (dft_comm_rank())
        return 0;
    rc = dft_reading_begin(reading, 1, reading->request->columns);
    if (!rc)
        rc = fill(reading);
    if (!rc)
        rc = dft_reading_give_full(reading, 0, 1);
    dft_reading_end(reading);
    return rc;
}

/* --- processes -------------------------------------------------------------------------------- */

static void put_numbers(struct dft_maker *maker, const struct dft_source_process *process)
{
    const struct dft_process *p = &process->process;

    dft_maker_set(maker, DFT_PROCESSES_PROCESS, process->number);
    if (p->rank >= 0)
        dft_maker_set(maker, DFT_PROCESSES_RANK, p->rank);
    if (p->local_rank >= 0)
        dft_maker_set(maker, DFT_PROCESSES_LOCAL_RANK, p->local_rank);
    dft_maker_set(maker, DFT_PROCESSES_EVENTS, (int64_t)process->events);
    dft_maker_set(maker, DFT_PROCESSES_RECOVERED, (int64_t)process->recovered);
    if (!process->known)
        return;
    dft_maker_set(maker, DFT_PROCESSES_PID, p->pid);
    dft_maker_set(maker, DFT_PROCESSES_PPID, p->ppid);
}

static void put_end(struct dft_maker *maker, const struct dft_source_process *process)
{
    const struct dft_source_end *end = &process->end;
    uint64_t start_ns, end_ns, dropped = 0;

    dft_process_lifetime(process, &start_ns, &end_ns);
    if (start_ns) {
        dft_maker_set(maker, DFT_PROCESSES_START, (int64_t)start_ns);
        dft_maker_set(maker, DFT_PROCESSES_END, (int64_t)end_ns);
    }
    for (unsigned i = 0; i <= DFT_DROP_LAST && end->dropped; i++)
        dropped += end->dropped[i];
    dft_maker_set(maker, DFT_PROCESSES_DROPPED, (int64_t)dropped);
    if (dft_process_knows_status(process))
        dft_maker_set(maker, DFT_PROCESSES_STATUS, end->status);
    if (process->ended)
        dft_maker_set(maker, DFT_PROCESSES_OVERHEAD, (int64_t)end->overhead_ns);
}

static int put_command(struct dft_maker *maker, struct dft_text command)
{
    char *text = dft_command_line(command);
    int rc = text ? dft_maker_set_word(maker, DFT_PROCESSES_COMMAND, text) : -ENOMEM;

    free(text);
    return rc;
}

static int put_texts(struct dft_reading *reading, const struct dft_source_process *process)
{
    struct dft_maker *maker = &reading->makers[0];
    const struct dft_process *p = &process->process;
    const struct {
        unsigned column;
        struct dft_text text;
    } texts[] = {{DFT_PROCESSES_HOST, p->host},
                 {DFT_PROCESSES_PROGRAM, p->exe},
                 {DFT_PROCESSES_CWD, p->cwd},
                 {DFT_PROCESSES_ROLE, p->role}};
    int rc = dft_maker_set_word(maker, DFT_PROCESSES_JOB, dft_source_job_name(reading->source, process));

    if (!rc)
        rc = dft_maker_set_word(maker, DFT_PROCESSES_RUN, dft_source_run_name(reading->source, process));
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !rc; i++)
        rc = dft_maker_set_text(maker, texts[i].column, texts[i].text);
    if (!rc)
        rc = put_command(maker, p->command);
    return rc ? rc
              : dft_maker_set_word(maker, DFT_PROCESSES_ENDING, dft_ending_text((enum dft_ending)process->exit_kind));
}

static int put_processes(struct dft_reading *reading, const struct dft_ps_tree *tree)
{
    struct dft_maker *maker = &reading->makers[0];
    int rc = 0;

    for (uint32_t i = 0; i < tree->shown && !rc; i++) {
        const struct dft_source_process *process = &tree->processes[tree->order[i]];
        uint32_t parent = tree->parent[tree->order[i]];

        rc = dft_maker_row(maker);
        if (rc)
            return rc;
        put_numbers(maker, process);
        put_end(maker, process);
        if (parent != DFT_PS_ROOT)
            dft_maker_set(maker, DFT_PROCESSES_PARENT, tree->processes[parent].number);
        rc = put_texts(reading, process);
        if (!rc)
            rc = dft_reading_give_full(reading, 0, 0);
    }
    return rc;
}

static int fill_processes(struct dft_reading *reading)
{
    struct dft_ps_tree tree;
    int rc = dft_ps_tree_make(&tree, reading->source, reading->filter);

    if (!rc)
        rc = put_processes(reading, &tree);
    dft_ps_tree_free(&tree);
    return rc;
}

int dft_read_processes(struct dft_reading *reading)
{
    return read_list(reading, fill_processes);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int fill_jobs(struct dft_reading *reading)
{
    struct dft_maker *maker = &reading->makers[0];
    uint32_t count;
    const struct dft_source_job *jobs = dft_source_jobs(reading->source, &count);
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++) {
        rc = dft_maker_row(maker);
        if (rc)
            return rc;
        dft_maker_set(maker, DFT_JOBS_PROCESSES, jobs[i].processes);
        dft_maker_set(maker, DFT_JOBS_RANKS, jobs[i].ranks);
        if (jobs[i].world_size)
            dft_maker_set(maker, DFT_JOBS_SIZE, jobs[i].world_size);
        if (jobs[i].start_ns) {
            dft_maker_set(maker, DFT_JOBS_START, (int64_t)jobs[i].start_ns);
            dft_maker_set(maker, DFT_JOBS_END, (int64_t)jobs[i].end_ns);
        }
        rc = dft_maker_set_word(maker, DFT_JOBS_JOB, jobs[i].name);
        if (!rc)
            rc = dft_maker_set_text(maker, DFT_JOBS_ID, jobs[i].id);
        if (!rc)
            rc = dft_reading_give_full(reading, 0, 0);
    }
    return rc;
}

int dft_read_jobs(struct dft_reading *reading)
{
    return read_list(reading, fill_jobs);
}

/* --- notes ------------------------------------------------------------------------------------ */

static int fill_notes(struct dft_reading *reading)
{
    size_t count;
    char *const *notes = dft_source_notes(reading->source, &count);
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        rc = dft_maker_row(&reading->makers[0]);
        if (!rc)
            rc = dft_maker_set_word(&reading->makers[0], DFT_NOTES_NOTE, notes[i]);
    }
    return rc;
}

int dft_read_notes(struct dft_reading *reading)
{
    return read_list(reading, fill_notes);
}

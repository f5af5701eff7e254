/* SPDX-License-Identifier: MIT */
/* The head of the page: what ran, for how long, how much of it was I/O, and when. */
#include "summary/page_head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/command_line.h"
#include "base/plot.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "job/job_state.h"
#include "judge/source_fates.h"

#define INDENT  6u
#define COLUMNS 40u /* of I/O over time, at most */
#define CAPTION 30u /* what stands beside it */
#define SAME    20  /* processes that differ in time by less than this part of it lived alike */

/* --- what ran --------------------------------------------------------------------------------- */

/* A command in `width` columns. Escaped; the caller frees it. NULL: no memory. */
static char *command_of(struct dft_text command, size_t width)
{
    char *text = dft_command_line(command), *escaped, *cut = NULL;

    if (!text)
        return NULL;
    escaped = dft_text_escaped(text, strlen(text));
    free(text);
    if (!escaped || dft_text_columns(escaped) <= width)
        return escaped;
    for (text = escaped; *text && width > 3; text++)
        width -= (text[1] & 0xc0) != 0x80;
    if (asprintf(&cut, "%.*s...", (int)(text - escaped), escaped) < 0)
        cut = NULL;
    free(escaped);
    return cut;
}

static char *job_command(const struct dft_job *job, size_t width)
{
    if (!job->first)
        return NULL;
    return command_of(job->first->process.command.length ? job->first->process.command : job->first->process.exe,
                      width);
}

/* "36 jobs, the first: " where several are counted together; "" where there is one. */
static const char *text_several(char *room, size_t size, const struct dft_source *source)
{
    const struct dft_source_job *last;
    uint32_t njobs, nruns = dft_command_count_runs(source, &last);

    dft_source_jobs(source, &njobs);
    *room = 0;
    if (njobs > 1 || nruns > 1)
        snprintf(room, size, "%u %s, the first: ", njobs > 1 ? njobs : nruns, njobs > 1 ? "jobs" : "runs");
    return room;
}

static void print_command(const struct dft_summary *summary)
{
    const struct dft_job *job = &summary->job;
    size_t width = dft_terminal_width() - INDENT;
    char *id, *command, several[40];

    if (!job->first)
        return;
    width -= (size_t)printf("job   %s", text_several(several, sizeof several, summary->source)) - INDENT;
    id = dft_text_escaped(job->first->process.job_id.bytes, job->first->process.job_id.length);
    if (id && *id && dft_text_columns(id) + 2 < width / 2)
        width -= (size_t)printf("%s: ", id);
    command = job_command(job, width);
    puts(command ? command : "");
    free(command);
    free(id);
}

/* --- for how long ----------------------------------------------------------------------------- */

static int lived_alike(const struct dft_page *page)
{
    return page->longest_ns - page->shortest_ns <= page->longest_ns / SAME;
}

/* "13 processes x 12.5 s"; "42 processes (81 programs), together 345 ms". */
static void say_processes(FILE *out, const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    int all = page->processes == job->processes;
    uint32_t pids = all ? job->pids : page->processes;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    fprintf(out, "%s process%s", dft_text_count(a, pids), pids == 1 ? "" : "es");
    if (all && job->processes != pids)
        fprintf(out, " (%s programs)", dft_text_count(a, job->processes));
    if (page->processes == 1 && page->lives_ns == page->span_ns)
        return;
    if (page->processes && pids == page->processes && lived_alike(page))
        fprintf(out, " x %s", dft_text_ns(b, page->lives_ns / page->processes));
    else
        fprintf(out, ", together %s", dft_text_ns(b, page->lives_ns));
}

/* "2.96 s"; of a part of it, "1.5 s to 1.6 s of 2.96 s" or "the last 1 s of 2.96 s". */
static void say_span(FILE *out, const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    const struct dft_filter *filter = &page->summary->options->filter;
    uint64_t from = filter->from_ns > job->start_ns ? filter->from_ns - job->start_ns : 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (page->span_ns < job->wall_ns && from + page->span_ns == job->wall_ns)
        fprintf(out, "the last %s of ", dft_text_ns(a, page->span_ns));
    else if (page->span_ns < job->wall_ns)
        fprintf(out, "%s to %s of ", dft_text_ns(a, from), dft_text_ns(b, from + page->span_ns));
    fprintf(out, "%s, ", dft_text_ns(a, job->wall_ns));
}

/* What became of the processes that pass the filter. */
struct fates {
    struct dft_killed killed;
    uint32_t ranks, running, unseen;
    uint64_t recovered;
};

/* Returns 0 or -ENOMEM. */
static int count_fates(struct fates *fates, const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(page->summary->source, &count);
    uint8_t *seen = calloc(job->world_size + 1u, 1);

    for (uint32_t p = 0; seen && p < count; p++) {
        const struct dft_source_process *process = &processes[p];
        int32_t rank = process->process.rank;

        if (!dft_filter_process(&page->summary->options->filter, process))
            continue;
        dft_killed_add(&fates->killed, process);
        fates->running += process->exit_kind == DFT_ENDING_RUNNING;
        fates->unseen += process->exit_kind == DFT_ENDING_UNKNOWN && process->unseen;
        fates->recovered += process->exit_kind == DFT_ENDING_RUNNING || process->unseen ? 0 : process->recovered;
        if (rank >= 0 && (uint32_t)rank < job->world_size) {
            fates->ranks += !seen[rank];
            seen[rank] = 1;
        }
    }
    free(seen);
    return seen ? 0 : -ENOMEM;
}

static void say_fates(FILE *out, const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    struct fates fates = {0};
    char text[DFT_TEXT_ROOM];

    if (count_fates(&fates, page))
        return;
    if (job->ranks)
        fprintf(out, ", %s of %u ranks", dft_text_count(text, fates.ranks), job->world_size);
    if (job->hosts > 1 && page->processes == job->processes)
        fprintf(out, ", %u hosts", job->hosts);
    if (fates.killed.count) {
        fprintf(out, ", %u killed", fates.killed.count);
        dft_killed_how(out, &fates.killed);
    }
    if (fates.running)
        fprintf(out, ", %u still running", fates.running);
    if (fates.unseen)
        fprintf(out, ", %u unknown (still running, or killed)", fates.unseen);
    dft_job_unrecorded(out, ", ", job);
    if (fates.recovered)
        fprintf(out, "; %s events recovered from live files", dft_text_count(text, fates.recovered));
}

static void print_time(const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    char when[64];
    time_t seconds = (time_t)(job->start_ns / 1000000000);
    struct dft_sentence text;
    FILE *out;
    struct tm tm;

    out = dft_sentence_begin(&text);
    if (!out)
        return;
    say_span(out, page);
    say_processes(out, page);
    say_fates(out, page);
    if (job->start_ns && gmtime_r(&seconds, &tm) && strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm))
        fprintf(out, "; from %s", when);
    dft_sentence_end(&text, out, "time", INDENT);
}

/* --- how much of it --------------------------------------------------------------------------- */

/* Requests go on beside each other, and threads do: then calls take more than all of the time. */
static void say_share(FILE *out, const struct dft_page *page)
{
    const struct dft_job *job = &page->summary->job;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    int threads = job->threads > page->processes && page->processes == job->processes;

    fprintf(out, "%s", dft_text_ns(a, page->io.time_ns));
    if (page->lives_ns)
        fprintf(out, " = %s of %s", dft_text_share(b, page->io.time_ns, page->lives_ns),
                page->processes > 1 ? "all processes" : "that");
    if (threads && job->threads_ns && page->io.time_ns <= job->threads_ns)
        fprintf(out, ", %s of %s threads", dft_text_share(a, page->io.time_ns, job->threads_ns),
                dft_text_count(b, job->threads));
    else if (page->io.time_ns > page->lives_ns)
        fputs(": calls overlap", out);
}

/* Processes without a rank are one group where ranks are. */
static uint32_t count_rankless(const struct dft_source *source)
{
    uint32_t count, found = 0;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    for (uint32_t i = 0; i < count; i++)
        found += processes[i].process.rank < 0;
    return found;
}

/* From the start of the first process of a rank that passes the filter to the end of the last one. */
static uint64_t rank_life(const struct dft_page *page, uint64_t rank)
{
    const struct dft_filter *filter = &page->summary->options->filter;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(page->summary->source, &count);
    uint64_t first = UINT64_MAX, last = 0, start, end;

    for (uint32_t p = 0; p < count; p++) {
        if (processes[p].process.rank < 0 || (uint64_t)processes[p].process.rank != rank ||
            !dft_filter_process(filter, &processes[p]))
            continue;
        dft_process_lifetime(&processes[p], &start, &end);
        first = start < first ? start : first;
        last = end > last ? end : last;
    }
    first = first < filter->from_ns ? filter->from_ns : first;
    last = last > filter->to_ns ? filter->to_ns : last;
    return last > first ? last - first : 0;
}

/* The share of the slowest process or rank, of its own time. */
static void say_slowest(FILE *out, const struct dft_page *page)
{
    const struct dft_answer *answer = &page->slowest;
    uint64_t life = page->longest_ns, start, end;
    char number[DFT_TEXT_ROOM];
    struct dft_key_value who, program;

    if (!page->has_slowest || !answer->count || !answer->groups[0].metrics.dur_sum)
        return;
    dft_group_value(answer, &answer->groups[0], (enum dft_by)answer->query.by[0], &who);
    if (answer->query.by[0] == DFT_BY_RANK && who.type == DFT_KEY_UINT) {
        fprintf(out, "; most in rank %llu: ", (unsigned long long)who.number);
        life = rank_life(page, who.number);
    } else if (answer->query.by[0] == DFT_BY_RANK && count_rankless(page->summary->source) > 1) {
        fputs("; most in processes without a rank: ", out);
        life = 0; /* each has its own */
    } else {
        const struct dft_source_process *process = answer->process_group[answer->groups[0].key.process_group - 1];

        dft_process_lifetime(process, &start, &end);
        life = end - start < life ? end - start : life;
        dft_group_value(answer, &answer->groups[0], DFT_BY_PROGRAM, &program);
        fprintf(out, "; most in process %u", process->process.pid);
        if (program.type == DFT_KEY_TEXT && program.text.length) {
            fputs(" (", out);
            dft_text_escape(out, program.text.bytes, program.text.length);
            fputs(")", out);
        }
        fputs(": ", out);
    }
    fputs(dft_text_ns(number, answer->groups[0].metrics.dur_sum), out);
    if (life)
        fprintf(out, ", %s of its %s", dft_text_share(number, answer->groups[0].metrics.dur_sum, life),
                dft_text_ns((char[DFT_TEXT_ROOM]){0}, life));
}

static void print_io(const struct dft_page *page)
{
    struct dft_sentence text;
    FILE *out;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    out = dft_sentence_begin(&text);
    if (!out)
        return;
    say_share(out, page);
    fprintf(out, "; %s read, %s written in %s calls",
            dft_text_bytes(a, page->classes[DFT_IO_READ].bytes + page->classes[DFT_IO_STARTUP].bytes),
            dft_text_bytes(b, page->classes[DFT_IO_WRITE].bytes), dft_text_count(c, page->io.count));
    say_slowest(out, page);
    if (dft_job_flying(&page->summary->job, page->summary->source, 1).time_ns)
        fprintf(out, "; not in these numbers: %s so far in calls in flight",
                dft_text_ns(a, dft_job_flying(&page->summary->job, page->summary->source, 1).time_ns));
    dft_sentence_end(&text, out, "I/O", INDENT);
}

/* --- when ------------------------------------------------------------------------------------- */

/* I/O over time, a character for one or several groups. */
static void print_over_time(const struct dft_answer *answer)
{
    int unicode = dft_plot_is_unicode();
    uint64_t sums[COLUMNS] = {0}, width = answer->query.width_ns, max = 0, last = 0, fold, start;
    unsigned width_left = dft_terminal_width() - INDENT, at = 0;
    unsigned columns = width_left >= COLUMNS + CAPTION ? COLUMNS
                       : width_left > 2 * CAPTION      ? width_left - CAPTION
                                                       : width_left;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], line[3 * COLUMNS + 1] = "", *end = line;
    struct dft_sentence text;
    FILE *out;

    for (uint32_t i = 0; i < answer->count; i++)
        last = answer->groups[i].key.time > last ? answer->groups[i].key.time : last;
    columns = columns < COLUMNS ? columns : COLUMNS;
    fold = last / columns + 1;
    out = last < 3 || !answer->has_busy ? NULL : dft_sentence_begin(&text);
    if (!out)
        return;
    for (uint32_t i = 0; i < answer->count; i++)
        sums[answer->groups[i].key.time / fold] += answer->groups[i].metrics.edge;
    columns = (unsigned)(last / fold) + 1;
    for (unsigned i = 0; i < columns; i++)
        if (sums[i] > max) {
            max = sums[i];
            at = i;
        }
    start = answer->query.base_ns + at * fold * width;
    for (unsigned i = 0; i < columns; i++)
        end = stpcpy(end, sums[i]   ? dft_plot_bar(unicode, dft_plot_level(sums[i], max, DFT_PLOT_LEVELS))
                          : unicode ? "·"
                                    : "_");
    fputs(line, out);
    fprintf(out, "  %s each, most at %s", dft_text_ns(a, width * fold),
            dft_text_ns(b, start > answer->query.origin_ns ? start - answer->query.origin_ns : 0));
    dft_sentence_end(&text, out, "when", INDENT);
}

void dft_page_head(const struct dft_page *page, const struct dft_answer *over_time)
{
    print_command(page->summary);
    dft_command_print_runs(page->summary->options, page->summary->source);
    print_time(page);
    print_io(page);
    if (over_time && over_time->count)
        print_over_time(over_time);
}

void dft_page_head_line(const struct dft_page *page)
{
    char *command = job_command(&page->summary->job, dft_terminal_width() / 2);
    struct dft_sentence text;
    FILE *out;

    dft_job_print_in_flight(&page->summary->job, page->summary->source);
    dft_command_print_runs(page->summary->options, page->summary->source);
    out = dft_sentence_begin(&text);
    if (out) {
        fprintf(out, "%s%s", command ? command : "", command ? ": " : "");
        say_span(out, page);
        say_processes(out, page);
        fputs(", I/O ", out);
        say_share(out, page);
        dft_job_unrecorded(out, ", ", &page->summary->job);
        dft_sentence_end(&text, out, "", 0);
    }
    free(command);
}

/* SPDX-License-Identifier: MIT */
/* The summary for people: first what matters, then tables by call, file and rank. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/comm.h"
#include "format/end.h"
#include "summary/summary.h"
#include "base/write_text.h"

#define TOP_CALLS   20
#define TOP_FILES   10
#define TOP_REGIONS 10
#define TOP_OTHERS  5
#define TABLES      4 /* of one request */

/* --- what was lost ---------------------------------------------------------------------------- */

/* --- the head --------------------------------------------------------------------------------- */

/* Sums over all calls by class, and which operations there are. */
struct classes {
    uint64_t time_ns[DFT_IO_COUNT], bytes[DFT_IO_COUNT];
    uint64_t ops;
};

static void add_op(struct classes *classes, const struct dft_group *group)
{
    classes->ops |= UINT64_C(1) << (group->key.op < DFT_OP_COUNT ? group->key.op : DFT_OP_OTHER);
}

static int ask_ops(struct dft_summary *summary, struct classes *classes)
{
    struct dft_query query = {.by = {DFT_BY_OP}, .nby = 1};
    struct dft_answer answer;
    int rc = dft_summary_ask(summary, &query, NULL, 0, DFT_SUMMARY_LINES, &answer);

    for (uint32_t i = 0; !rc && i < answer.count; i++)
        add_op(classes, &answer.groups[i]);
    if (!rc)
        dft_answer_fini(&answer);
    return rc;
}

/* Aggregates of files know classes, but no operations. */
static int ask_classes(struct dft_summary *summary, struct classes *classes, struct dft_answer *answer)
{
    enum dft_kept_events kept =
        dft_filter_has_files(&summary->options->filter) ? dft_source_kept(summary->source) : DFT_KEPT_ALL;
    struct dft_query query = {.by = {DFT_BY_CLASS, DFT_BY_OP}, .nby = kept == DFT_KEPT_ALL ? 2 : 1};
    int rc = dft_summary_ask(summary, &query, NULL, 0, DFT_SUMMARY_LINES, answer);

    memset(classes, 0, sizeof *classes);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];

        classes->time_ns[group->key.class] += group->metrics.dur_sum;
        classes->bytes[group->key.class] += group->metrics.bytes;
        if (kept == DFT_KEPT_ALL)
            add_op(classes, group);
    }
    if (kept == DFT_KEPT_SOME)
        rc = ask_ops(summary, classes);
    if (rc)
        dft_answer_fini(answer);
    dft_comm_broadcast(&classes->ops, sizeof classes->ops);
    return rc;
}

/* Which operations are file I/O. */
static uint64_t io_ops(void)
{
    uint64_t ops = 0;

    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        ops |= (uint64_t)(DFT_CLASSES_IO >> dft_op_io((uint8_t)op) & 1) << op;
    return ops;
}

static void print_command(struct dft_text command)
{
    char *text = malloc(command.length + 1u), *escaped;
    size_t limit = dft_terminal_width();

    if (!text)
        return;
    limit = limit > 30 ? limit - 10 : 20;
    for (uint32_t i = 0; i < command.length; i++)
        text[i] = command.bytes[i] ? command.bytes[i] : ' ';
    while (command.length && text[command.length - 1] == ' ')
        command.length--;
    escaped = dft_text_escaped(text, command.length);
    if (escaped && dft_text_columns(escaped) > limit)
        printf("%.*s...", (int)limit - 3, escaped);
    else if (escaped)
        fputs(escaped, stdout);
    free(escaped);
    free(text);
}

/* Which of several runs this is; or that there may be several, where nothing tells. */
static void print_runs(const struct dft_source *source)
{
    uint32_t count, apart, named, shown = 0;
    const struct dft_source_job *runs = dft_source_runs(source, &count, &apart), *last = NULL;

    if (!count)
        return;
    named = count - !runs[0].id.length;
    for (uint32_t i = 0; i < count; i++)
        if (runs[i].id.length && !runs[i].left_out) {
            shown++;
            last = &runs[i];
        }
    if (named > 1 && shown == 1)
        printf("run       %s, %s%u (--run all: all of them, --run NAME: another; dftmerge ps lists them)\n", last->name,
               last == &runs[count - 1] ? "the newest of " : "one of ", named);
    else if (named > 1)
        printf("runs      %u, counted together (dftmerge ps lists them; --run NAME: one)\n", shown);
    if (!runs[0].id.length && !runs[0].left_out && shown)
        printf("          with %u process%s of no run\n", runs[0].processes, runs[0].processes == 1 ? "" : "es");
    if (!runs[0].id.length && !runs[0].left_out && apart > 1)
        printf("runs      nothing says what is one run: %u groups of processes, apart in time, are counted together as "
               "one "
               "run\n",
               apart);
}

static void print_job(const struct dft_job *job, const struct dft_source *source)
{
    char capacity[DFT_TEXT_ROOM], when[64] = "";
    time_t seconds = (time_t)(job->start_ns / 1000000000);
    struct tm tm;

    if (job->first) {
        fputs("job       ", stdout);
        if (job->first->process.job_id.length) {
            dft_text_escape(stdout, job->first->process.job_id.bytes, job->first->process.job_id.length);
            fputs(": ", stdout);
        }
        print_command(job->first->process.command.length ? job->first->process.command : job->first->process.exe);
        putchar('\n');
    }
    print_runs(source);
    printf("processes %s", dft_text_count(capacity, job->pids));
    if (job->processes != job->pids)
        printf(" (%s programs)", dft_text_count(capacity, job->processes));
    if (job->ranks)
        printf(", %s of %u ranks", dft_text_count(capacity, job->ranks), job->world_size);
    if (job->hosts > 1)
        printf(", %u hosts", job->hosts);
    if (job->killed)
        printf(", %u killed", job->killed);
    if (job->running)
        printf(", %u still running", job->running);
    if (job->unseen)
        printf(", %u unknown (still running, or killed)", job->unseen);
    if (job->recovered)
        printf("; %s events recovered from live files", dft_text_count(capacity, job->recovered));
    if (job->start_ns && gmtime_r(&seconds, &tm))
        strftime(when, sizeof when, ", from %Y-%m-%d %H:%M:%S UTC", &tm);
    printf("\nwall time %s%s\n", dft_text_ns(capacity, job->wall_ns), when);
}

/* What is all of the time, of which I/O and tracing have their shares. */
static void print_base(const struct dft_job *job)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    if (job->processes == 1)
        printf("%s thread%s x %s", dft_text_count(a, job->threads), job->threads == 1 ? "" : "s",
               dft_text_ns(b, job->threads_ns / job->threads));
    else
        printf("%s, the time of %s threads in %s processes", dft_text_ns(a, job->threads_ns),
               dft_text_count(b, job->threads), dft_text_count(c, job->processes));
}

/* Requests go on beside each other, and so may calls of threads that are not told apart. */
static void print_io_share(const struct dft_job *job, uint64_t io)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    printf("I/O time  %s, ", dft_text_ns(a, io));
    if (io <= job->threads_ns)
        printf("%s of ", dft_text_share(b, io, job->threads_ns));
    else
        fputs("so calls overlap: it is more than ", stdout);
    print_base(job);
    putchar('\n');
}

/* Classes that most jobs do without are shown only where they take time. */
static void print_classes(const struct classes *classes)
{
    static const struct {
        uint8_t class, always;
        const char *word;
    } shown[] = {{DFT_IO_READ, 1, "read"},
                 {DFT_IO_WRITE, 1, "write"},
                 {DFT_IO_SYNC, 0, "sync"},
                 {DFT_IO_META, 1, "metadata"},
                 {DFT_IO_STARTUP, 0, "start-up"}};
    const char *comma = "          ";
    char capacity[DFT_TEXT_ROOM];

    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        uint64_t ns = classes->time_ns[shown[i].class];

        if (!ns && !shown[i].always)
            continue;
        printf("%s%s %s", comma, shown[i].word, dft_text_ns(capacity, ns));
        comma = ", ";
    }
    putchar('\n');
}

static void print_io(const struct dft_summary *summary, const struct classes *classes, const struct dft_answer *answer,
                     const struct dft_unseen *unseen)
{
    const struct dft_job *job = &summary->job;
    uint64_t io = 0;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    for (uint8_t class = 0; class < DFT_IO_COUNT; class ++)
        io += DFT_CLASSES_IO >> class & 1 ? classes->time_ns[class] : 0;
    print_io_share(job, io);
    print_classes(classes);
    printf("moved     %s read, %s written, in %s events",
           dft_text_bytes(a, classes->bytes[DFT_IO_READ] + classes->bytes[DFT_IO_STARTUP]),
           dft_text_bytes(b, classes->bytes[DFT_IO_WRITE]), dft_text_count(c, answer->events));
    if (answer->events_kept != answer->events)
        printf(" (%s kept one by one)", dft_text_count(d, answer->events_kept));
    putchar('\n');
    dft_unseen_print(unseen);
    if (!dft_summary_is_lossy(summary))
        puts("lost      nothing");
    if (job->overhead_ns)
        printf("tracing   took %s, %s of the same\n", dft_text_ns(a, job->overhead_ns),
               dft_text_share(b, job->overhead_ns, job->threads_ns));
}

/* --- the whole -------------------------------------------------------------------------------- */

static void print_title(const char *title, const struct dft_answer *answer, uint64_t top)
{
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];

    if (top && top < answer->found)
        printf("\n%s (the first %s of %s)\n", title, dft_text_count(a, top), dft_text_count(b, answer->found));
    else
        printf("\n%s\n", title);
}

/* A table of the page. */
struct table {
    const char *title;
    struct dft_query query;
    uint64_t top;
    int even_empty;
    struct dft_answer answer;
};

static int print_table(struct dft_summary *summary, struct table *table)
{
    int rc = 0, any = table->answer.count || table->even_empty;

    dft_comm_broadcast(&any, sizeof any);
    if (!any)
        return 0;
    print_title(table->title, &table->answer, table->top);
    do
        rc = dft_summary_table(&table->answer);
    while (!rc && (rc = dft_answer_next(&table->answer)) > 0);
    if (!rc)
        dft_summary_last_line(summary, &table->answer);
    return rc;
}

/* Asks for all tables at once. The column to sort by may be a key of another table. */
static int ask_tables(struct dft_summary *summary, struct table *tables, unsigned count)
{
    struct dft_query_request requests[TABLES];

    for (unsigned i = 0; i < count; i++) {
        struct table *table = &tables[i];

        if (summary->options->top)
            table->top = summary->options->top;
        requests[i] = (struct dft_query_request){
            table->query, {summary->options->sort, table->top, DFT_SUMMARY_LINES}, &table->answer};
        if (dft_order_check(&requests[i].order, &table->query))
            requests[i].order.column = NULL;
    }
    return dft_query_many(summary->source, &summary->options->filter, requests, count);
}

/* The ranks' table has its place before the calls that are mostly waiting: for children, for
 * requests. */
static int print_tables(struct dft_summary *summary, struct table *tables, unsigned count, unsigned before_ranks)
{
    int rc = ask_tables(summary, tables, count);

    if (rc)
        return rc;
    for (unsigned i = 0; i <= count; i++) {
        if (!rc && i == before_ranks && summary->job.ranks > 1)
            rc = dft_summary_ranks(summary);
        if (!rc && i < count)
            rc = print_table(summary, &tables[i]);
        if (i < count)
            dft_answer_fini(&tables[i].answer);
    }
    return rc;
}

/* Adds a table of calls of these operations, if there are any. */
static unsigned add_calls(struct table *tables, unsigned count, const char *title, const struct dft_query *query,
                          uint64_t ops, uint64_t top)
{
    struct table *table = &tables[count];

    if (!ops)
        return count;
    *table = (struct table){.title = title, .query = *query, .top = top};
    table->query.ops = ops;
    return count + 1;
}

static int print_page(struct dft_summary *summary, const struct dft_query *query, uint64_t ops)
{
    const uint64_t regions = UINT64_C(1) << DFT_OP_REGION;
    struct table tables[TABLES];
    unsigned count = add_calls(tables, 0, "Calls by time", query, ops & io_ops(), TOP_CALLS), before_ranks;

    tables[count++] = (struct table){.title = "Files by time",
                                     .query = {.by = {DFT_BY_FILE}, .nby = 1, .events = summary->query.events},
                                     .top = TOP_FILES};
    count = before_ranks = add_calls(tables, count, "Regions by time", query, ops & regions, TOP_REGIONS);
    count = add_calls(tables, count, "Processes and requests by time", query, ops & ~(io_ops() | regions), TOP_OTHERS);
    return print_tables(summary, tables, count, before_ranks);
}

int dft_summary_text(struct dft_summary *summary)
{
    struct dft_query query = summary->query;
    struct dft_answer answer;
    struct classes classes;
    struct dft_unseen unseen;
    int rc = dft_unseen_collect(summary, &unseen);

    if (!rc)
        rc = ask_classes(summary, &classes, &answer);
    if (rc)
        return rc;
    if (dft_summary_is_lossy(summary)) { /* first: what follows is not all */
        fputs("lost      ", stdout);
        dft_summary_losses(summary, "");
        putchar('\n');
    }
    print_job(&summary->job, summary->source);
    print_io(summary, &classes, &answer, &unseen);
    dft_summary_nothing(summary, &answer);
    dft_answer_fini(&answer);
    query.busy = query.patterns = 1;
    query.percentiles = query.by[0] != DFT_BY_TIME;
    for (unsigned i = 1; i < query.nby; i++)
        query.percentiles &= query.by[i] != DFT_BY_TIME;
    if (summary->by) {
        const int is_line = memchr(query.by, DFT_BY_TIME, query.nby) != NULL; /* a part of it would be any part */
        struct table table = {
            .title = "Groups by time", .query = query, .top = is_line ? 0 : TOP_CALLS, .even_empty = 1};

        return print_tables(summary, &table, 1, 2);
    }
    return print_page(summary, &query, classes.ops);
}

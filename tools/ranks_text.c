/* dftmerge ranks: the answer from traces as text: one screen, what matters first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks.h"
#include "ranks_job.h"
#include "write_text.h"

#define TOP_DEFAULT 10u
#define LAGS_TIMES  1.5 /* the mean: below it nothing lags */

static const struct dft_source_process *process_of(const struct dft_ranks_job *job, uint32_t rank)
{
    uint32_t count;

    return &dft_source_processes(job->source, &count)[job->ranks[rank].process];
}

/* "rank 17", or "pid 1234" where no process says its rank. */
static void put_rank(const struct dft_ranks_job *job, uint32_t rank)
{
    if (job->by_rank)
        printf("rank %" PRId32, job->ranks[rank].rank);
    else
        printf("pid %" PRIu32, process_of(job, rank)->process.pid);
}

static void put_host(const struct dft_ranks_job *job, uint32_t rank)
{
    struct dft_text host = process_of(job, rank)->process.host;

    if (!host.length)
        return;
    printf(" (");
    dft_text_escape(stdout, host.bytes, host.length);
    putchar(')');
}

/* Seconds since the first event of the job. */
static const char *since(char *room, const struct dft_ranks_job *job, uint64_t time)
{
    snprintf(room, DFT_TEXT_ROOM, "%+.*f s", job->bucket_ns < 1000000000 ? 3 : 1,
             (double)(int64_t)(time - job->origin_ns) / 1e9);
    return room;
}

static void put_clock(uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    char text[32] = "?";
    struct tm tm;

    if (gmtime_r(&seconds, &tm))
        strftime(text, sizeof text, "%H:%M:%S", &tm);
    printf("%s UTC", text);
}

static void put_call(const struct dft_ranks_job *job, uint64_t call)
{
    struct dft_text category, name;
    char room[18];

    dft_names_call(dft_source_names_table(job->source), call, &category, &name, room);
    dft_text_escape(stdout, name.bytes, name.length);
}

static uint64_t aligned_time(const struct dft_suspect *suspect)
{
    return (uint64_t)suspect->aligned_ns;
}

/* --- what was first -------------------------------------------------------------------------------------------------- */

static void put_place(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    if (!measured->call)
        return;
    printf("\n          in ");
    put_call(job, measured->call);
    if (measured != &job->measured[DFT_RANKS_BYTES] && measured->times > 0)
        printf(", which took %.*f times the usual", measured->times < 9.95 ? 1 : 0, measured->times);
    if (measured->directory) {
        printf(", %.0f %% under ", 100 * measured->share);
        dft_text_escape(stdout, measured->directory, strlen(measured->directory));
    }
}

static void put_lead(const struct dft_ranks_job *job, const struct dft_measured *measured)
{
    const struct dft_first_cause *cause = &measured->cause;
    char room[DFT_TEXT_ROOM];

    if (!cause->has_onset)
        printf(", and no other %s did", job->by_rank ? "rank" : "process");
    else if (!cause->suspects->lead_ns)
        printf(", with %" PRIu32 " others in the same bucket of %s", dft_ranks_together(cause) - 1,
               dft_text_ns(room, job->bucket_ns));
    else
        printf(", %s before %s", dft_text_ns(room, (uint64_t)cause->suspects->lead_ns),
               cause->candidates > 2 ? "the next ones" : "the next one");
}

static void put_first(const struct dft_ranks_job *job)
{
    static const char *const did[] = {[DFT_RANKS_LATENCY] = "slowed down first",
                                      [DFT_RANKS_METADATA] = "slowed down first",
                                      [DFT_RANKS_BYTES] = "moved more than the others first"};
    const struct dft_measured *measured;
    const struct dft_suspect *suspect;
    char room[DFT_TEXT_ROOM];

    printf("first     ");
    if (job->headline < 0) {
        printf(job->nranks < 2 ? "one alone: there is nothing to compare it with\n"
                               : "none: nobody slowed down, or moved more, by itself\n");
        return;
    }
    measured = &job->measured[job->headline];
    suspect = measured->cause.suspects;
    put_rank(job, suspect->rank);
    put_host(job, suspect->rank);
    printf(" %s, at %s (", did[job->headline], since(room, job, aligned_time(suspect)));
    put_clock(aligned_time(suspect));
    putchar(')');
    put_lead(job, measured);
    put_place(job, measured);
    printf("\n          it %s ", job->headline == DFT_RANKS_BYTES ? "moved" : "lost");
    printf("%s%s; confidence %s\n",
           job->headline == DFT_RANKS_BYTES ? dft_text_bytes(room, measured->lost) : dft_text_ns(room, measured->lost),
           job->headline == DFT_RANKS_BYTES ? " beyond twice the median" : "",
           dft_confidence_name(suspect->confidence));
}

/* --- the job --------------------------------------------------------------------------------------------------------- */

static void put_skew(const struct dft_ranks_job *job, const char *what, int is_end)
{
    uint32_t last = 0, first = 0;
    char room[DFT_TEXT_ROOM];
    uint64_t spread;

    for (uint32_t r = 1; r < job->nranks; r++) {
        uint64_t now = is_end ? job->ranks[r].end_ns : job->ranks[r].start_ns;

        if (now > (is_end ? job->ranks[last].end_ns : job->ranks[last].start_ns))
            last = r;
        if (now < (is_end ? job->ranks[first].end_ns : job->ranks[first].start_ns))
            first = r;
    }
    spread = is_end ? job->ranks[last].end_ns - job->ranks[first].end_ns
                    : job->ranks[last].start_ns - job->ranks[first].start_ns;
    if (spread)
        printf("%swithin %s", what, dft_text_ns(room, spread));
    else
        printf("%sat the same time", what);
    if (spread) {
        printf(", the last is ");
        put_rank(job, last);
        printf(", %s behind the median", dft_text_ns(room, is_end ? job->ranks[last].end_ns - job->median_end_ns
                                                                  : job->ranks[last].start_ns - job->median_start_ns));
    }
    putchar('\n');
}

static void put_stragglers(const struct dft_ranks_job *job)
{
    char room[DFT_TEXT_ROOM];

    if (!job->nstragglers)
        return;
    printf("late      %" PRIu32 " ended long behind the others: ", job->nstragglers);
    for (uint32_t i = 0; i < job->nstragglers && i < 5; i++) {
        printf(i ? ", " : "");
        put_rank(job, job->stragglers[i]);
        printf(" by %s", dft_text_ns(room, job->ranks[job->stragglers[i]].end_ns - job->median_end_ns));
    }
    puts(job->nstragglers > 5 ? " ..." : "");
}

/* In lines of the terminal's width, under a title of ten columns. */
static void put_wrapped(const char *title, const char *text)
{
    size_t width = dft_terminal_width() - 10, n;

    while ((n = strlen(text)) > width) {
        for (n = width; n && text[n] != ' '; n--)
            ;
        if (!n)
            break;
        printf("%-10s%.*s\n", title, (int)n, text);
        title = "";
        text += n + 1;
    }
    printf("%-10s%s\n", title, text);
}

static int put_job(const struct dft_ranks_job *job)
{
    char room[DFT_TEXT_ROOM], *clocks = dft_clocks_text(&job->clocks);

    if (!clocks)
        return -ENOMEM;
    if (job->by_rank) {
        printf("ranks     %" PRIu32 " of %" PRIu32, job->nranks, job->world_size);
        if (job->nmissing) {
            printf("; missing: ");
            dft_print_ranks(stdout, job->missing, job->nmissing, 12);
        }
        if (job->unranked)
            printf("; %" PRIu32 " processes without a rank are left out", job->unranked);
    } else {
        printf("processes %" PRIu32 ": none says its rank, each is looked at by itself", job->nranks);
    }
    printf("\nlasted    %s, from ", dft_text_ns(room, job->wall_ns));
    put_clock(job->origin_ns);
    putchar('\n');
    if (job->job) {
        printf("job       ");
        dft_text_escape(stdout, job->job, strlen(job->job));
        printf(", the largest of %" PRIu32 "; %" PRIu32 " processes of the others are left out (--job)\n", job->njobs,
               job->others);
    }
    put_wrapped("clocks", clocks);
    free(clocks);
    put_skew(job, "start     ", 0);
    put_skew(job, "end       ", 1);
    put_stragglers(job);
    printf("memory    not sampled in these traces: it takes no part\n");
    return 0;
}

/* --- tables ---------------------------------------------------------------------------------------------------------- */

static int lag_cell(struct dft_grid *grid, const struct dft_ranks_job *job, const struct dft_lag *lag)
{
    char room[3 * DFT_TEXT_ROOM], from[DFT_TEXT_ROOM], to[DFT_TEXT_ROOM];

    if (lag->from == DFT_NO_BUCKET)
        return dft_grid_cell(grid, "the start");
    since(from, job, job->origin_ns + lag->from * job->bucket_ns);
    if (lag->to >= job->nbuckets)
        return dft_grid_cell(grid, from);
    snprintf(room, sizeof room, "%s to %s", from, since(to, job, job->origin_ns + lag->to * job->bucket_ns));
    return dft_grid_cell(grid, room);
}

static int text_cell(struct dft_grid *grid, struct dft_text text)
{
    char *escaped = dft_text_escaped(text.bytes ? text.bytes : "", text.length);
    int rc = escaped ? dft_grid_cell(grid, escaped) : -ENOMEM;

    free(escaped);
    return rc;
}

static int rank_cell(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t rank)
{
    char room[DFT_TEXT_ROOM];

    snprintf(room, sizeof room, "%" PRId64,
             job->by_rank ? (int64_t)job->ranks[rank].rank : (int64_t)process_of(job, rank)->process.pid);
    return dft_grid_cell(grid, room);
}

static int times_cell(struct dft_grid *grid, double times)
{
    char room[DFT_TEXT_ROOM];

    if (!(times > 0 && times < 1e6))
        return dft_grid_cell(grid, "-");
    snprintf(room, sizeof room, "%.*fx", times < 9.95 ? 1 : 0, times);
    return dft_grid_cell(grid, room);
}

/* The call that a rank spent most time in. */
static uint64_t most_of(const struct dft_rank *rank)
{
    uint64_t call = 0, most = 0;

    for (uint32_t i = 0; i < rank->ncalls; i++)
        if (dft_lost_of(rank->calls[i].op) >= 0 && rank->calls[i].ns > most) {
            most = rank->calls[i].ns;
            call = rank->calls[i].call;
        }
    return call;
}

static int slow_line(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t r)
{
    const struct dft_rank *rank = &job->ranks[r];
    struct dft_text category, name;
    char room[DFT_TEXT_ROOM];
    int rc = rank_cell(grid, job, r);

    rc = rc ? rc : text_cell(grid, process_of(job, r)->process.host);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(room, rank->io_ns));
    rc = rc ? rc : times_cell(grid, job->median_io_ns ? (double)rank->io_ns / (double)job->median_io_ns : 0);
    rc = rc ? rc : lag_cell(grid, job, &rank->lag);
    dft_names_call(dft_source_names_table(job->source), most_of(rank), &category, &name, room);
    return rc ? rc : text_cell(grid, name);
}

static int put_slow(const struct dft_ranks_job *job, uint64_t top)
{
    const struct dft_grid_column columns[] = {
        {job->by_rank ? "rank" : "pid"}, {"host", 1, 1}, {"I/O time"}, {"of median"}, {"since", 1}, {"most in", 1}};
    struct dft_grid *grid;
    char room[DFT_TEXT_ROOM];
    int rc = 0;

    if (!job->nslow)
        return 0;
    grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; grid && !rc && i < job->nslow && i < top; i++)
        rc = slow_line(grid, job, job->slow[i]);
    if (grid && !rc) {
        printf("\nSlow: %" PRIu32 " of %" PRIu32 ", against a median of %s in I/O\n", job->nslow, job->nranks,
               dft_text_ns(room, job->median_io_ns));
        dft_grid_print(grid, stdout);
    }
    rc = grid ? rc : -ENOMEM;
    dft_grid_destroy(grid);
    return rc;
}

static int call_line(struct dft_grid *grid, const struct dft_ranks_job *job, uint32_t c)
{
    const struct dft_job_call *call = &job->calls[c];
    double mean = (double)call->ns / job->nranks;
    struct dft_text category, name;
    char room[DFT_TEXT_ROOM];
    int rc;

    dft_names_call(dft_source_names_table(job->source), call->call, &category, &name, room);
    rc = text_cell(grid, category);
    rc = rc ? rc : text_cell(grid, name);
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(room, (uint64_t)mean));
    rc = rc ? rc : dft_grid_cell(grid, dft_text_ns(room, call->slowest_ns[0]));
    rc = rc ? rc : times_cell(grid, mean > 0 ? (double)call->slowest_ns[0] / mean : 0);
    rc = rc ? rc : rank_cell(grid, job, call->slowest[0]);
    if (rc)
        return rc;
    if ((double)call->slowest_ns[0] < LAGS_TIMES * mean)
        return dft_grid_cell(grid, "-");
    return lag_cell(grid, job, &call->lags[0]);
}

static int put_calls(const struct dft_ranks_job *job, uint64_t top)
{
    const struct dft_grid_column columns[] = {{"cat", 1, 0, 2}, {"call", 1, 1}, {"mean"},
                                              {"slowest"},      {"of mean"},    {job->by_rank ? "rank" : "pid"},
                                              {"lags since", 1}};
    struct dft_grid *grid = dft_grid_create(columns, sizeof columns / sizeof *columns);
    uint32_t n = job->ncalls < DFT_RANKS_CALLS ? job->ncalls : DFT_RANKS_CALLS;
    int rc = 0;

    for (uint32_t c = 0; grid && !rc && c < n && c < top; c++)
        rc = call_line(grid, job, c);
    if (grid && !rc && n) {
        printf("\nImbalance: time in calls, mean of all %s and the slowest\n", job->by_rank ? "ranks" : "processes");
        dft_grid_print(grid, stdout);
    }
    rc = grid ? rc : -ENOMEM;
    dft_grid_destroy(grid);
    return rc;
}

int dft_ranks_text(const struct dft_ranks_job *job, uint64_t top)
{
    char room[DFT_TEXT_ROOM];
    int rc;

    top = top ? top : TOP_DEFAULT;
    put_first(job);
    rc = put_job(job);
    rc = rc ? rc : put_slow(job, top);
    rc = rc ? rc : put_calls(job, top);
    if (!rc)
        printf("answered from %s, in buckets of %s\n", job->from_rows ? "buckets" : "events",
               dft_text_ns(room, job->bucket_ns));
    return rc;
}

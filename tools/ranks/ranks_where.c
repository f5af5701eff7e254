/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: in which call, and under which directory, a first suspect lost its time (or moved
 * its bytes), from its spike on. Its events are read once more; of what was kept as aggregates
 * alone, rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "ranks/ranks_filter.h"
#include "ranks/ranks_pairs.h"
#include "ranks/ranks_piece.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

#define FILES_MAX 4096u /* whose names are fetched, those with most */
#define HEADS     8u    /* files from which directories are tried */
#define SHARE     0.8   /* of all that a directory must hold */

static int fits(const struct dft_looking *looking, uint8_t op)
{
    int kind = dft_lost_of(op);

    return kind == (looking->measure == DFT_RANKS_METADATA ? DFT_LOST_META : DFT_LOST_DATA);
}

static void add(const struct dft_looking *looking, struct dft_pair *pair, uint64_t ns, uint64_t usual_ns,
                uint64_t bytes)
{
    pair->ns += ns;
    pair->usual_ns += usual_ns;
    if (looking->measure == DFT_RANKS_BYTES)
        pair->weight += (double)bytes;
    else if (ns > usual_ns)
        pair->weight += (double)(ns - usual_ns);
}

static int add_event(struct dft_looking *looking, const struct dft_piece *piece, uint64_t file)
{
    struct dft_pair *pair;
    int rc = dft_pair_at(looking, piece->call, file, 0, &pair);

    if (rc)
        return rc;
    pair->count += piece->count;
    add(looking, pair, piece->ns,
        piece->samples * dft_usual_ns(&looking->job->usual, piece->call, dft_piece_size(piece)), piece->bytes);
    return 0;
}

/* A row may be a part of one, so nothing is decided by it alone. */
static int add_row(struct dft_looking *looking, uint64_t call, uint64_t file, uint64_t time,
                   const struct dft_metrics *m, uint64_t last_ns)
{
    struct dft_pair *pair;
    int rc = dft_pair_at(looking, call, file, time, &pair);

    if (rc)
        return rc;
    dft_pair_add(pair, &(struct dft_pair){
                           .count = m->count, .sum = {m->samples, m->dur_sum, m->bytes, m->data}, .last_ns = last_ns});
    return 0;
}

static int look_at_events(void *context, unsigned worker, const struct dft_source_process *process,
                          const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_looking *looking = context;
    struct dft_piece piece;
    int rc = 0;

    (void)block;
    pthread_mutex_lock(&looking->lock);
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        int64_t shift = dft_clocks_shift(&looking->job->clocks, process->number, event->start_ns);

        if (dft_piece_of_event(&piece, batch, event, shift) && piece.end_ns >= looking->from_ns &&
            fits(looking, piece.op) &&
            dft_ranks_passes_event(looking->job, worker, event, &batch->calls[event->call], shift))
            rc = add_event(looking, &piece, event->file);
    }
    pthread_mutex_unlock(&looking->lock);
    return rc;
}

/* Rows tell calls and files apart, but not together: files stand for themselves, as those of call
 * 0. */
static int look_at_rows(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_looking *looking = context;
    struct dft_piece piece;
    int rc = 0;

    (void)block;
    pthread_mutex_lock(&looking->lock);
    for (uint32_t i = 0; !rc && i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        const struct dft_metrics *m = &row->metrics;
        const struct dft_clocks *clocks = &looking->job->clocks;
        int64_t shift = dft_clocks_shift(clocks, process->number, row->interval * buckets->interval_ns);

        if ((!m->count && !m->bytes) || !dft_ranks_passes_row(looking->job, worker, row, buckets->interval_ns, shift))
            continue;
        if (dft_piece_of_row(&piece, buckets, row, shift)) {
            if (piece.start_ns + buckets->interval_ns > looking->from_ns && fits(looking, piece.op))
                rc = add_row(looking, piece.call, 0, row->interval, m, piece.last_ns);
        } else if (row->kind == DFT_ROW_FILE &&
                   (row->class == DFT_CLASS_META) == (looking->measure == DFT_RANKS_METADATA)) {
            rc = add_row(looking, 0, row->subject, row->interval, m,
                         m->last_end + (uint64_t)dft_clocks_shift(clocks, process->number, m->last_end));
        }
    }
    pthread_mutex_unlock(&looking->lock);
    return rc;
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct dft_looking *looking = context;
    const struct dft_ranks_job *job = looking->job;

    return job->rank_of[process->number] == looking->rank + 1 && block->count && (block->use & DFT_IN_EVENTS) &&
           block->end + (uint64_t)dft_clocks_shift(&job->clocks, process->number, block->end) >= looking->from_ns;
}

static void weigh(const struct dft_looking *looking, const struct dft_pair *from, struct dft_pair *into)
{
    const struct dft_sum *sum = &from->sum;
    uint32_t size = looking->measure == DFT_RANKS_METADATA ? DFT_USUAL_META : dft_usual_size(sum->bytes, sum->data);

    into->weight += from->weight;
    into->ns += from->ns;
    into->usual_ns += from->usual_ns;
    if (from->ns || from->last_ns >= looking->from_ns)
        into->count += from->count;
    if (from->last_ns >= looking->from_ns)
        add(looking, into, sum->ns,
            from->call ? sum->samples * dft_usual_ns(&looking->job->usual, from->call, size) : 0, sum->bytes);
}

/* Rows of all times together, those that end before the spike left out. */
static int settle(struct dft_looking *looking)
{
    struct dft_looking settled = {.job = looking->job};
    int rc = 0;

    for (uint32_t i = 0; !rc && i < looking->count; i++) {
        const struct dft_pair *from = &looking->pairs[i];
        struct dft_pair *pair;

        rc = dft_pair_at(&settled, from->call, from->file, 0, &pair);
        if (!rc)
            weigh(looking, from, pair);
    }
    dft_pairs_fini(looking);
    looking->numbers = settled.numbers;
    looking->pairs = settled.pairs;
    looking->count = settled.count;
    looking->capacity = settled.capacity;
    return rc;
}

/* --- the call --------------------------------------------------------------------------------- */

static int find_call(const struct dft_looking *looking, struct dft_measured *measured)
{
    struct dft_looking calls = {.job = looking->job};
    double most = 0;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < looking->count; i++) {
        struct dft_pair *pair;

        rc = dft_pair_at(&calls, looking->pairs[i].call, 0, 0, &pair);
        if (rc)
            break;
        pair->weight += looking->pairs[i].weight;
        pair->count += looking->pairs[i].count;
        pair->ns += looking->pairs[i].ns;
        pair->usual_ns += looking->pairs[i].usual_ns;
    }
    for (uint32_t i = 0; !rc && i < calls.count; i++) {
        const struct dft_pair *pair = &calls.pairs[i];
        uint64_t call = pair->call;

        if (!call || pair->weight < most || (pair->weight == most && (!most || call > measured->call)))
            continue;
        most = pair->weight;
        measured->call = call;
        measured->calls = pair->count;
        measured->call_ns = pair->ns;
        measured->usual_ns = pair->usual_ns;
        measured->times = pair->usual_ns ? (double)pair->ns / (double)pair->usual_ns : 0;
    }
    dft_pairs_fini(&calls);
    return rc;
}

/* --- the directory ---------------------------------------------------------------------------- */

struct weighed {
    double weight;
    uint64_t file;
};

static int by_weight(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

static uint32_t list_files(const struct dft_looking *looking, uint64_t call, struct weighed *files, double *all)
{
    uint32_t n = 0;

    *all = 0;
    for (uint32_t i = 0; i < looking->count; i++) {
        if (looking->pairs[i].call != call)
            continue;
        *all += looking->pairs[i].weight;
        if (looking->pairs[i].file)
            files[n++] = (struct weighed){looking->pairs[i].weight, looking->pairs[i].file};
    }
    qsort(files, n, sizeof *files, by_weight);
    return n < FILES_MAX ? n : FILES_MAX;
}

static double below(const struct dft_names *names, const struct weighed *files, uint32_t count, struct dft_text path)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct dft_text text = dft_names_text(names, files[i].file);

        if (text.length > path.length && text.bytes[path.length] == '/' && !memcmp(text.bytes, path.bytes, path.length))
            sum += files[i].weight;
    }
    return sum;
}

/* The longest directory that holds most of it. */
static int find_directory(struct dft_looking *looking, struct dft_measured *measured)
{
    const struct dft_names *names = dft_source_names_table(looking->job->source);
    struct weighed *files = malloc((looking->count + 1u) * sizeof *files);
    uint64_t *ids = malloc((FILES_MAX + 1u) * sizeof *ids);
    struct dft_text best = {0};
    uint32_t n;
    double all;
    int rc = files && ids ? 0 : -ENOMEM;

    if (rc)
        goto out;
    n = list_files(looking, measured->call, files, &all);
    if (!n) /* rows: files of whatever call */
        n = list_files(looking, 0, files, &all);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = files[i].file;
    rc = n ? dft_source_names(looking->job->source, ids, n) : 0;
    for (uint32_t i = 0; !rc && i < n && i < HEADS; i++) {
        struct dft_text path = dft_names_text(names, files[i].file);

        while (path.length) {
            const char *slash = memrchr(path.bytes, '/', path.length);
            double held;

            path.length = slash ? (uint32_t)(slash - path.bytes) : 0;
            if (path.length <= best.length)
                break;
            held = below(names, files, n, path);
            if (held < SHARE * all)
                continue;
            best = path;
            measured->share = held / all;
        }
    }
    if (!rc && best.length)
        measured->directory = strndup(best.bytes, best.length);
out:
    free(files);
    free(ids);
    return rc;
}

static int look(struct dft_looking *looking, struct dft_measured *measured)
{
    struct dft_visit visit = {
        .context = looking, .select = is_asked, .events = look_at_events, .buckets = look_at_rows};
    int rc = dft_source_visit(looking->job->source, &visit);

    if (!rc)
        rc = dft_pairs_share(looking);
    if (!rc)
        rc = settle(looking);
    if (!rc)
        rc = find_call(looking, measured);
    if (!rc && measured->call)
        rc = find_directory(looking, measured);
    dft_pairs_fini(looking);
    return rc;
}

int dft_ranks_where(struct dft_ranks_job *job)
{
    int rc = 0;

    for (int m = 0; !rc && m < DFT_RANKS_MEASURES; m++) {
        struct dft_measured *measured = &job->measured[m];
        struct dft_looking looking = {
            .job = job, .measure = (enum dft_ranks_measure)m, .lock = PTHREAD_MUTEX_INITIALIZER};

        if (!measured->cause.nsuspects)
            continue;
        looking.rank = measured->cause.suspects->rank;
        looking.from_ns = (uint64_t)measured->cause.suspects->time_ns;
        rc = look(&looking, measured);
    }
    return rc;
}

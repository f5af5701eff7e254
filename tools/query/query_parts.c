/* Counting in parts: some of the groups at a time, so that they fit into memory whatever their number.
 *
 * Each thread counts into a tally of its own and hands it over to the common one when it has grown. When that would
 * pass the budget, nothing of it is of use: the part is split in two (the first part: all of them) and counted anew.
 *
 * Where traits of processes are keys, a part is first the groups of some of the processes. Then only the blocks of these are
 * read for it, but for the first part, which learns what is true of the whole answer (dft_met): whatever the number of parts,
 * that is three passes over the blocks at most, one of them for finding out. Only when groups of one combination of processes
 * do not fit are its keys divided by their hash. Of P parts by hash alone each takes a pass, and at most about one more.
 *
 * Which part a key is in must follow from the key of the answer, not from that of counting, in which several calls may
 * be one group. So from the second part on calls are turned into texts at once. Texts that no block read so far had
 * are fetched when the pass is over, and it is repeated. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/query_inside.h"
#include "source/source_names.h"
#include "source/source_visit.h"

#define MODULUS_MAX (1u << 20) /* a part this small is counted whatever it takes */

/* --- which keys ---------------------------------------------------------------------------------------------------- */

static int undecided(struct dft_counting *counting, uint64_t call)
{
    struct dft_group_key key = {.call = call};
    uint32_t number;

    counting->met.undecidable++;
    return dft_group_map_get(&counting->unknown_calls, &key, &number);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

int dft_key_in_part(struct dft_asking *asking, struct dft_counting *counting, struct dft_group_key *key)
{
    const struct dft_part *part = &asking->part;
    uint64_t call = key->call, hash;
    int rc;

    if (key->who % part->who_modulus != part->who)
        return 0;
    if (part->modulus == 1 && !asking->members)
        return 1;
    rc = dft_known_key(asking, counting->texts, key);
    if (rc)
        return rc == -ENOENT ? undecided(counting, call) : rc;
    hash = dft_group_hash(key);
    return (uint32_t)(hash >> 32) % part->modulus == part->residue &&
           (!asking->members ||
            bsearch(&hash, asking->members, asking->nmembers, sizeof *asking->members, by_number) != NULL);
}

static void halve(struct dft_part *one, struct dft_part *other, int by_who)
{
    *(by_who ? &one->who_modulus : &one->modulus) *= 2;
    *other = *one;
    *(by_who ? &other->who : &other->residue) += (by_who ? one->who_modulus : one->modulus) / 2;
}

/* By processes all parts alike, as they have much the same groups; by hash all alike, or those of its processes alone. */
static int split(struct dft_asking *asking, uint32_t part, int by_who)
{
    int all = !part && (by_who || asking->parts[part].who_modulus == 1);
    uint32_t first = all ? 0 : part, last = all ? asking->nparts : part + 1, n = asking->nparts;
    struct dft_part *bigger = realloc(asking->parts, (n + last - first) * sizeof *bigger);

    if (!bigger)
        return -ENOMEM;
    asking->parts = bigger;
    for (uint32_t i = first; i < last; i++)
        halve(&bigger[i], &bigger[n++], by_who);
    asking->nparts = n;
    return 0;
}

/* A part whose groups do not fit. Of processes that were met one after the other it is known how much more of them there is: the
 * parts become as many at once. */
static int split_full(struct dft_asking *asking, uint32_t part)
{
    uint64_t counted = asking->met.blocks ? asking->met.blocks : 1, times = 1;
    int by_who, rc;

    do {
        by_who = asking->parts[part].modulus == 1 && asking->parts[part].who_modulus < asking->nwho;
        rc = split(asking, part, by_who);
        times *= 2;
    } while (!rc && by_who && times * counted < asking->asked);
    return rc;
}

/* --- from the threads to the whole --------------------------------------------------------------------------------- */

static int is_full(const struct dft_asking *asking)
{
    return dft_tally_used(&asking->total) > asking->budget && asking->part.modulus < MODULUS_MAX;
}

static int hand_over_all(struct dft_asking *asking, struct dft_counting *counting)
{
    int rc;

    pthread_mutex_lock(&asking->lock);
    rc = dft_tally_merge(&asking->total, &counting->tally);
    if (!rc && is_full(asking))
        rc = DFT_TOO_MANY;
    pthread_mutex_unlock(&asking->lock);
    dft_tally_clear(&counting->tally);
    counting->block++; /* numbers of groups that were remembered mean nothing any more */
    return rc;
}

int dft_custom_over(struct dft_asking *asking, struct dft_counting *counting)
{
    return dft_tally_used(&counting->tally) > asking->share ? hand_over_all(asking, counting) : 0;
}

static int pack(void *context, void **bytes, size_t *length)
{
    struct dft_asking *asking = context;

    return dft_tally_pack(&asking->total, bytes, length);
}

static int unpack(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_asking *asking = context;
    int rc = dft_tally_unpack(&asking->total, bytes, length);

    (void)rank;
    return rc ? rc : is_full(asking) ? DFT_TOO_MANY : 0;
}

static void add_met(struct dft_met *into, const struct dft_met *from)
{
    into->events += from->events;
    into->events_kept += from->events_kept;
    into->unsplit += from->unsplit;
    into->inexact += from->inexact;
    into->shared += from->shared;
    into->coarse += from->coarse;
    into->batches += from->batches;
    into->file_rows += from->file_rows;
    into->unknown += from->unknown;
    into->busy_unknown += from->busy_unknown;
    into->blocks += from->blocks;
    into->second_files += from->second_files;
    into->undecidable += from->undecidable;
}

/* --- a pass -------------------------------------------------------------------------------------------------------- */

static int count_events(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_asking *asking = context;

    asking->workers[worker].met.blocks++;
    return dft_count_events(asking, &asking->workers[worker], process, block, batch);
}

static int count_buckets(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_asking *asking = context;

    asking->workers[worker].met.blocks++;
    return dft_count_rows(asking, &asking->workers[worker], process, block, buckets);
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct dft_asking *asking = context;

    if (!asking->all_blocks && asking->who_of[process->number] % asking->part.who_modulus != asking->part.who)
        return 0;
    if (!(block->use & (asking->rows_only ? DFT_IN_ROWS : DFT_IN_EVENTS)) || !block->count ||
        !dft_filter_block(asking->filter, process, block))
        return 0;
    asking->asked++;
    return 1;
}

static int begin(struct dft_asking *asking)
{
    int histograms = asking->histograms;
    int rc = dft_tally_init(&asking->total, histograms);

    memset(&asking->met, 0, sizeof asking->met);
    asking->asked = 0;
    for (unsigned i = 0; !rc && i < asking->nworkers; i++) {
        struct dft_counting *counting = &asking->workers[i];

        rc = dft_tally_init(&counting->tally, histograms);
        counting->memo = calloc(DFT_MEMO, sizeof *counting->memo);
        if (!counting->memo)
            rc = -ENOMEM;
    }
    return rc;
}

/* The threads' memory goes; unknown calls stay. */
static void end(struct dft_asking *asking)
{
    for (unsigned i = 0; i < asking->nworkers; i++) {
        struct dft_counting *counting = &asking->workers[i];

        add_met(&asking->met, &counting->met);
        memset(&counting->met, 0, sizeof counting->met);
        dft_tally_fini(&counting->tally);
        free(counting->memo);
        dft_placing_fini(&counting->placing);
        counting->memo = NULL;
        memset(counting->rows, 0, sizeof counting->rows);
    }
}

static int pass(struct dft_asking *asking)
{
    struct dft_visit visit = {.context = asking,
                              .select = is_asked,
                              .events = count_events,
                              .buckets = count_buckets,
                              .progress = "blocks counted"};
    int rc = dft_comm_agree(begin(asking));

    if (!rc)
        rc = asking->together ? dft_count_together(asking, &asking->workers[0])
                              : dft_source_visit(asking->source, &visit);
    for (unsigned i = 0; !rc && i < asking->nworkers; i++)
        rc = hand_over_all(asking, &asking->workers[i]);
    end(asking);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_reduce(pack, unpack, asking);
    dft_comm_sum((uint64_t *)&asking->met, sizeof asking->met / sizeof(uint64_t));
    if (rc)
        dft_tally_fini(&asking->total);
    return rc;
}

/* --- a part -------------------------------------------------------------------------------------------------------- */

static int fetch_unknown(struct dft_asking *asking)
{
    size_t n = 0;
    uint64_t *wanted;
    int rc;

    for (unsigned w = 0; w < asking->nworkers; w++)
        n += asking->workers[w].unknown_calls.count;
    wanted = malloc((n + 1) * sizeof *wanted);
    rc = dft_comm_agree(wanted ? 0 : -ENOMEM);
    n = 0;
    for (unsigned w = 0; !rc && w < asking->nworkers; w++) {
        struct dft_group_map *calls = &asking->workers[w].unknown_calls;

        for (uint32_t i = 0; i < calls->count; i++)
            wanted[n++] = calls->keys[i].call;
        dft_group_map_fini(calls);
    }
    if (!rc)
        rc = dft_source_names(asking->source, wanted, n);
    free(wanted);
    return rc;
}

int dft_count_part(struct dft_asking *asking, uint32_t part)
{
    int names_tried = 0;

    asking->part = asking->parts[part];
    asking->all_blocks = !part;
    for (;;) {
        int rc = pass(asking);

        if (rc == DFT_NOT_EXACT) {
            asking->rows_only = 0;
            continue;
        }
        if (rc == DFT_TOO_MANY) {
            rc = split_full(asking, part);
            return rc ? rc : DFT_TOO_MANY;
        }
        if (rc)
            return rc;
        if (asking->met.unknown && !names_tried) {
            names_tried = 1;
            rc = dft_source_names_locate(asking->source);
        } else if (asking->met.undecidable && !asking->texts_tried) {
            asking->texts_tried = 1;
            rc = fetch_unknown(asking);
        } else {
            return 0;
        }
        dft_tally_fini(&asking->total);
        if (rc)
            return rc;
    }
}

/* Queries: decides where the answer comes from, and has the blocks counted. */
#include "query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query_inside.h"

#define WIDTH_DEFAULT_NS UINT64_C(1000000000)

/* --- which processes ------------------------------------------------------------------------------------------------
 * */

static uint64_t text_id(struct dft_asking *asking, struct dft_text text)
{
    uint64_t id;

    if (!text.length)
        return 0;
    id = dft_name_id(text.bytes, text.length);
    return dft_names_add(asking->names, id, text.bytes, text.length, NULL) ? 0 : id;
}

static uint64_t program_id(struct dft_asking *asking, const struct dft_process *process)
{
    struct dft_text text = process->exe;
    const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;

    if (slash) {
        text.length -= (uint32_t)(slash + 1 - text.bytes);
        text.bytes = slash + 1;
    }
    return text_id(asking, text);
}

/* Numbers the combinations of those traits of processes that are keys. Any of a key's fields does for a trait here. */
static int number_processes(struct dft_asking *asking)
{
    struct dft_group_map map = {0};
    const struct dft_source_process *processes;
    uint32_t count;
    int rc = 0;

    processes = dft_source_processes(asking->source, &count);
    asking->who_of = calloc(count + 1u, sizeof *asking->who_of);
    asking->who = calloc(count + 1u, sizeof *asking->who);
    if (!asking->who_of || !asking->who)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < count; i++) {
        const struct dft_process *process = &processes[i].process;
        struct dft_group_key key = {0};
        uint32_t number;

        if (DFT_HAS(asking, DFT_BY_PROCESS))
            key.call = processes[i].key;
        if (DFT_HAS(asking, DFT_BY_RANK))
            key.cat = (uint64_t)(process->rank + INT64_C(1));
        if (DFT_HAS(asking, DFT_BY_PID))
            key.name = process->pid;
        if (DFT_HAS(asking, DFT_BY_HOST))
            key.region = text_id(asking, process->host);
        if (DFT_HAS(asking, DFT_BY_PROGRAM))
            key.file = program_id(asking, process);
        rc = dft_group_map_get(&map, &key, &number);
        asking->who_of[i] = number + 1;
        if (!rc && number == asking->nwho)
            asking->who[asking->nwho++] = &processes[i];
    }
    dft_group_map_fini(&map);
    return rc;
}

/* --- the interval of time groups ------------------------------------------------------------------------------------
 * */

struct widths {
    uint8_t *seen;       /* by process */
    uint64_t widest[64]; /* by worker */
};

static int first_of_process(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct widths *widths = context;

    if (block->type != DFT_BLOCK_BUCKETS || !block->use || widths->seen[process->number])
        return 0;
    widths->seen[process->number] = 1;
    return 1;
}

static int widest_of(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_buckets *buckets)
{
    struct widths *widths = context;

    (void)process;
    (void)block;
    if (buckets->interval_ns > widths->widest[worker] && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        widths->widest[worker] = buckets->interval_ns;
    return 0;
}

/* The widest interval that the traces have, so that all rows can answer if their intervals are multiples of each other.
 * */
static int choose_width(struct dft_asking *asking)
{
    struct widths widths = {0};
    struct dft_visit visit = {.context = &widths, .select = first_of_process, .buckets = widest_of};
    uint32_t count;
    int rc;

    if (!DFT_HAS(asking, DFT_BY_TIME) || asking->query.width_ns)
        return 0;
    dft_source_processes(asking->source, &count);
    widths.seen = calloc(count + 1u, 1);
    if (!widths.seen)
        return -ENOMEM;
    rc = dft_source_visit(asking->source, &visit);
    free(widths.seen);
    for (unsigned i = 0; i < sizeof widths.widest / sizeof *widths.widest; i++)
        if (widths.widest[i] > asking->query.width_ns)
            asking->query.width_ns = widths.widest[i];
    if (!asking->query.width_ns)
        asking->query.width_ns = WIDTH_DEFAULT_NS;
    return rc;
}

/* --- counting -------------------------------------------------------------------------------------------------------
 * */

static int count_events(void *context, unsigned worker, const struct dft_source_process *process,
                        const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_asking *asking = context;

    return dft_count_events(asking, &asking->workers[worker], process, block, batch);
}

static int count_buckets(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_block *block, struct dft_buckets *buckets)
{
    struct dft_asking *asking = context;

    return dft_count_rows(asking, &asking->workers[worker], process, block, buckets);
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct dft_asking *asking = context;

    return (block->use & (asking->rows_only ? DFT_IN_ROWS : DFT_IN_EVENTS)) && block->count &&
           dft_filter_block(asking->filter, process, block);
}

static void counting_fini(struct dft_counting *counting)
{
    dft_group_map_fini(&counting->map);
    dft_group_map_fini(&counting->parents);
    dft_table_destroy(counting->table);
    free(counting->children_ns);
    free(counting->memo);
    free(counting->calls);
    free(counting->of_call);
    free(counting->call_slots);
    memset(counting, 0, sizeof *counting);
}

static int count_all(struct dft_asking *asking)
{
    struct dft_visit visit = {.context = asking,
                              .select = is_asked,
                              .events = count_events,
                              .buckets = count_buckets,
                              .progress = "blocks counted"};

    for (unsigned i = 0; i < asking->nworkers; i++) {
        counting_fini(&asking->workers[i]);
        asking->workers[i].table =
            dft_table_create(DFT_QUERY_INTERVAL, asking->query.percentiles ? DFT_KEEP_HISTOGRAMS : 0);
        asking->workers[i].memo = calloc(DFT_MEMO, sizeof *asking->workers[i].memo);
        if (!asking->workers[i].table || !asking->workers[i].memo)
            return -ENOMEM;
    }
    return dft_source_visit(asking->source, &visit);
}

/* Counts, and when the text of a call that is asked about turns out to be unknown, once more with all texts. */
static int count_knowing(struct dft_asking *asking)
{
    int rc = count_all(asking), unknown = 0;

    for (unsigned i = 0; i < asking->nworkers; i++)
        unknown |= asking->workers[i].unknown;
    if (rc < 0 || !unknown)
        return rc;
    rc = dft_source_names_locate(asking->source);
    return rc ? rc : count_all(asking);
}

/* Rows first, where they may answer; when one does not fit, events. */
static int count(struct dft_asking *asking, enum dft_answer_source *source)
{
    int rc, batches = 0, file_rows = 0;

    *source = DFT_ANSWER_BUCKETS;
    asking->rows_only =
        !DFT_HAS_FILES(asking) && !asking->filter->nfiles && dft_source_used(asking->source, DFT_BLOCK_BUCKETS);
    if (asking->rows_only) {
        rc = count_knowing(asking);
        if (rc != DFT_NOT_EXACT)
            return rc;
        asking->rows_only = 0;
    }
    rc = count_knowing(asking);
    for (unsigned i = 0; i < asking->nworkers; i++) {
        batches |= asking->workers[i].batches;
        file_rows |= asking->workers[i].file_rows;
    }
    *source = file_rows                                                        ? DFT_ANSWER_FILES
              : batches || !dft_source_used(asking->source, DFT_BLOCK_BUCKETS) ? DFT_ANSWER_EVENTS
                                                                               : DFT_ANSWER_BUCKETS;
    return rc;
}

static void note_inexact(struct dft_asking *asking, struct dft_answer *answer)
{
    int inexact = 0;

    for (unsigned i = 0; i < asking->nworkers; i++)
        inexact |= asking->workers[i].inexact;
    if (inexact)
        answer->has_percentiles = 0; /* histograms have wider intervals than the rest */
    if (inexact)
        dft_source_note(asking->source, 0,
                        "some events were kept only as aggregates, and these have whole intervals: times are rounded");
    if (answer->unsplit)
        dft_source_note(
            asking->source, 0,
            "%llu events were kept only as aggregates, which cannot be split as asked: they are in no group",
            (unsigned long long)answer->unsplit);
}

/* --- the whole ------------------------------------------------------------------------------------------------------
 * */

static int asking_init(struct dft_asking *asking, struct dft_source *source, const struct dft_filter *filter,
                       const struct dft_query *query)
{
    const unsigned no_self =
        1u << DFT_BY_REGION | 1u << DFT_BY_FILE | 1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN | 1u << DFT_BY_TIME;
    uint64_t start, end;

    *asking = (struct dft_asking){.source = source, .own_filter = *filter, .query = *query};
    asking->filter = &asking->own_filter;
    asking->names = dft_source_names_table(source);
    dft_source_span(source, &start, &end);
    if (asking->own_filter.from_ns <= start)
        asking->own_filter.from_ns = 0;
    if (asking->own_filter.to_ns > end)
        asking->own_filter.to_ns = UINT64_MAX;
    for (unsigned i = 0; i < query->nby; i++)
        asking->has |= 1u << query->by[i];
    asking->want_self = !(asking->has & no_self);
    asking->nworkers = dft_source_threads(source);
    asking->workers = calloc(asking->nworkers, sizeof *asking->workers);
    if (!asking->workers)
        return -ENOMEM;
    if (DFT_HAS(asking, DFT_BY_DIR) || DFT_HAS(asking, DFT_BY_PATTERN)) /* needs the texts while counting */
        return dft_source_names(source, NULL, 0);
    return dft_filter_has_calls(filter) ? dft_source_names_of_rows(source) : 0;
}

int dft_query_run(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  struct dft_answer *answer)
{
    struct dft_asking *asking = malloc(sizeof *asking);
    int rc = -ENOMEM;

    memset(answer, 0, sizeof *answer);
    if (!asking)
        return rc;
    rc = asking_init(asking, source, filter, query);
    if (!rc)
        rc = number_processes(asking);
    if (!rc)
        rc = choose_width(asking);
    if (!rc)
        rc = count(asking, &answer->source);
    if (!rc)
        rc = dft_query_finish(asking, answer);
    if (!rc)
        note_inexact(asking, answer);
    for (unsigned i = 0; asking->workers && i < asking->nworkers; i++)
        counting_fini(&asking->workers[i]);
    free(asking->workers);
    free(asking->who_of);
    free(asking->who);
    free(asking);
    if (rc)
        dft_answer_fini(answer);
    return rc;
}

void dft_answer_fini(struct dft_answer *answer)
{
    free(answer->groups);
    free(answer->bins);
    free(answer->who);
    memset(answer, 0, sizeof *answer);
}

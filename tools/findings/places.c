/* SPDX-License-Identifier: MIT */
/* Looks at every file as a whole, and adds what it is to its directory and its pattern. */
#include "findings/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "findings/facts.h"
#include "findings/facts_ask.h"
#include "findings/file_totals.h"
#include "format/facets.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "query/answer_pages.h"
#include "query/file_facts.h"
#include "intake/source_names.h"

#define BARE_MAX (1u << 19) /* files without data, of which some may be directories */

enum { BARE_ASKED = 1, BARE_FOUND = 2 };

struct looking {
    struct dft_facts *facts;
    int rows_lost;         /* calls that failed, failed with ENOENT, where errors are not distinguished */
    struct dft_map opened; /* file -> 1: a process opened it again and again */
    struct dft_map bare;   /* file -> BARE_ASKED, BARE_FOUND */
};

/* --- places ----------------------------------------------------------------------------------- */

struct dft_file_place *dft_places_find(const struct dft_places *places, uint64_t id)
{
    const uint64_t *number = dft_map_find(&places->numbers, id);

    return number ? &places->list[*number - 1] : NULL;
}

static struct dft_file_place *put_place(struct dft_places *places, uint64_t id)
{
    uint64_t *number = dft_map_put(&places->numbers, id);

    if (!number)
        return NULL;
    if (!*number) {
        if (DFT_ARRAY_PUSH(places->list, places->capacity, places->count, (struct dft_file_place){.id = id}))
            return NULL;
        *number = places->count;
    }
    return &places->list[*number - 1];
}

uint64_t dft_places_saved_as(const struct dft_facts *facts, uint64_t file)
{
    const struct dft_accesses *accesses = &facts->accesses;
    const uint64_t *name = file ? dft_map_find(&accesses->renamed, file) : NULL;
    const uint64_t *times = name ? dft_map_find(&accesses->made, *name) : NULL;

    return times && *times >= facts->request->limits->values[DFT_LIMIT_SAVES_RENAMES] ? *name : 0;
}

static int add_to(struct dft_places *places, uint64_t id, uint64_t dir, const struct dft_file_totals *totals)
{
    struct dft_file_place *place = put_place(places, id);

    if (!place)
        return -ENOMEM;
    place->dir = !place->dir && !place->found && !place->lost.files ? dir : place->dir == dir ? dir : 0;
    dft_file_totals_place(place, totals);
    return 0;
}

static int take_saved(struct dft_places *saves, const struct dft_file_totals *totals)
{
    const struct dft_place_sum sum = {
        .files = 1, .calls = totals->calls, .bytes = totals->write_bytes, .time_ns = totals->time_ns};
    struct dft_file_place *name = put_place(saves, totals->saved_as);

    if (name)
        dft_place_sum_add(&name->small, &sum);
    return name ? 0 : -ENOMEM;
}

static int take_file(struct looking *looking, struct dft_file_totals *totals)
{
    struct dft_file_places *places = &looking->facts->places;
    const struct dft_answer *answers = looking->facts->answers;
    uint64_t dir = 0, pattern = 0, *bare;
    int rc;

    if (totals->file == dft_name_id("//", 2)) { /* files anywhere that were not distinguished */
        places->unknown_ns += totals->time_ns;
        totals->is_small = totals->is_startup = 0; /* of some of them alone */
        dft_file_totals_place(&places->anywhere, totals);
        return 0;
    }
    rc = totals->saved_as ? take_saved(&places->saves, totals)
                          : dft_file_totals_take_large(looking->facts, places, totals);
    if (!rc)
        rc = dft_file_facts_group(answers[DFT_FACT_DIRS].files, totals->file, &dir);
    if (!rc)
        rc = dft_file_facts_group(answers[DFT_FACT_PATTERNS].files, totals->file, &pattern);
    if (!rc && dir)
        rc = add_to(&places->dirs, dir, dir, totals);
    if (!rc && pattern)
        rc = add_to(&places->patterns, pattern, dir, totals);
    if (rc || totals->data || looking->bare.count >= BARE_MAX)
        return rc;
    bare = dft_map_put(&looking->bare, totals->file);
    if (bare)
        *bare |= (totals->calls ? BARE_FOUND : 0) | (totals->lost ? BARE_ASKED : 0);
    return bare ? 0 : -ENOMEM;
}

/* --- all files -------------------------------------------------------------------------------- */

static int add_asker(struct dft_file_places *places, const struct dft_answer *answer, const struct dft_group *group)
{
    struct dft_key_value value;
    uint64_t id;

    dft_group_value(answer, group, DFT_BY_PROGRAM, &value);
    if (value.type != DFT_KEY_TEXT)
        return 0;
    id = dft_name_id(value.text.bytes, value.text.length);
    for (size_t i = 0; i < places->naskers; i++)
        if (places->askers[i].id == id) {
            places->askers[i].calls += group->metrics.count;
            places->askers[i].time_ns += group->metrics.dur_sum;
            return 0;
        }
    return DFT_ARRAY_PUSH(places->askers, places->askers_capacity, places->naskers,
                          (struct dft_asker){id, group->metrics.count, group->metrics.dur_sum, value.text});
}

static int note(struct dft_map *map, uint64_t file)
{
    uint64_t *value = file ? dft_map_put(map, file) : NULL;

    if (value)
        *value = 1;
    return file && !value ? -ENOMEM : 0;
}

/* What other answers, and single events, tell of a file. */
static void look_up(struct looking *looking, struct dft_file_totals *totals)
{
    const struct dft_facts *facts = looking->facts;
    const uint64_t *mapped = totals->file ? dft_map_find(&facts->accesses.mapped, totals->file) : NULL;
    const uint64_t *length;
    uint64_t *listed;

    totals->mapped = mapped ? *mapped : 0;
    totals->is_made = totals->file && dft_map_find(&facts->accesses.made, totals->file);
    length = totals->file ? dft_map_find(&facts->accesses.lengths, totals->file) : NULL;
    totals->length = length ? *length : 0;
    totals->saved_as = dft_places_saved_as(facts, totals->file);
    totals->is_reopened = totals->file && dft_map_find(&looking->opened, totals->file);
    dft_file_totals_end(facts, totals);
    listed = totals->file ? dft_map_find(&looking->facts->places.listed, totals->file) : NULL;
    if (listed && totals->is_small)
        *listed = DFT_LISTED_SMALL;
}

static int by_file(const void *left, const void *right)
{
    const struct dft_group *a = *(const struct dft_group *const *)left, *b = *(const struct dft_group *const *)right;

    DFT_ORDER(a->key.file, b->key.file);
    return 0;
}

/* The files that rules see one by one, and those of them that a process opened again and again. */
static int list_files(struct looking *looking)
{
    struct dft_facts *facts = looking->facts;
    const struct dft_answer *files = &facts->answers[DFT_FACT_FILES], *opens = &facts->answers[DFT_FACT_OPENS];
    const struct dft_limits *limits = facts->request->limits;
    uint64_t limit = limits->values[DFT_LIMIT_REOPENED_OPENS];
    int off = limits->off >> DFT_FINDING_REOPENED & 1, rc = 0;

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_FILES) && i < files->count && !rc; i++)
        rc = note(&facts->places.listed, files->groups[i].key.file);
    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_OPENS) && !off && i < opens->count && !rc; i++)
        if (opens->groups[i].metrics.count - opens->groups[i].metrics.errors > limit)
            rc = note(&looking->opened, opens->groups[i].key.file);
    return dft_comm_agree(rc);
}

/* All groups of a file come in one answer. */
static int take_groups(void *context, const struct dft_answer *answer)
{
    struct looking *looking = context;
    const struct dft_group **sorted = malloc((answer->count + 1u) * sizeof *sorted);
    struct dft_file_totals totals;
    int rc = sorted ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < answer->count; i++)
        sorted[i] = &answer->groups[i];
    if (!rc && answer->count)
        qsort(sorted, answer->count, sizeof *sorted, by_file);
    for (uint32_t i = 0, from = 0; !rc && i < answer->count; i++) {
        if (i == from)
            totals = (struct dft_file_totals){
                .file = sorted[i]->key.file,
                .is_folded = answer->files && dft_file_facts_is_folded(answer->files, sorted[i]->key.file)};
        dft_file_totals_add(looking->facts, looking->rows_lost, &totals, sorted[i]);
        if (i + 1 < answer->count && sorted[i + 1]->key.file == totals.file)
            continue;
        look_up(looking, &totals);
        rc = totals.file ? take_file(looking, &totals) : 0;
        for (; !rc && !totals.calls && totals.lost && from <= i; from++)
            rc = add_asker(&looking->facts->places, answer, sorted[from]);
        from = i + 1;
    }
    free(sorted);
    return rc;
}

/* Texts of directories and patterns, and which directories were requested or found themselves. */
static int name_places(struct looking *looking, struct dft_places *places, enum dft_fact fact)
{
    struct dft_names *names = dft_source_names_table(looking->facts->request->source);
    uint64_t *ids = malloc((places->count + 1) * sizeof *ids);
    int rc = dft_comm_agree(ids ? 0 : -ENOMEM);

    for (size_t i = 0; !rc && i < places->count; i++)
        ids[i] = places->list[i].id;
    if (!rc)
        rc = dft_file_facts_texts(looking->facts->answers[fact].files, names, ids, places->count);
    for (size_t i = 0; !rc && i < places->count; i++) {
        struct dft_file_place *place = &places->list[i];
        const uint64_t *bare = dft_map_find(&looking->bare, place->id);

        place->text = dft_names_text(names, place->id);
        place->is_asked = bare && (*bare & BARE_ASKED);
        place->is_found = place->found || (bare && (*bare & BARE_FOUND));
    }
    free(ids);
    return rc;
}

/* Did nearly all calls on paths that failed, fail with ENOENT? */
static int are_lost(const struct dft_facts *facts)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    uint64_t failed = 0, lost = 0;

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct dft_group *group = &calls->groups[i];
        uint16_t err = dft_facets_err(group->key.facets);

        if (group->key.class != DFT_IO_META && group->key.class != DFT_IO_STARTUP)
            continue;
        failed += err ? group->metrics.count : 0;
        lost += err == ENOENT ? group->metrics.count : 0;
    }
    return failed && lost >= failed / 20 * 19;
}

/* Is there so much metadata that one of the rules could find something, or see a risk? */
static int is_worth_it(const struct dft_facts *facts)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    const uint64_t trip_ns = facts->request->limits->values[DFT_LIMIT_RISK_TRIP];
    uint64_t time_ns = 0, trips_ns = 0;

    for (uint32_t i = 0; i < calls->count; i++)
        if (calls->groups[i].key.class == DFT_IO_META || calls->groups[i].key.class == DFT_IO_STARTUP) {
            time_ns += calls->groups[i].metrics.dur_sum;
            trips_ns += calls->groups[i].metrics.count * trip_ns;
        }
    return dft_facts_matters(facts, time_ns > trips_ns ? time_ns : trips_ns);
}

void dft_places_put(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    struct dft_query query = {.by = {DFT_BY_FILE, DFT_BY_CLASS}, .nby = 2};

    if (facts->has_file_ops) {
        query.nby = 5;
        query.by[2] = DFT_BY_OP;
        query.by[3] = DFT_BY_ERRNO;
        query.by[4] = DFT_BY_PROGRAM;
    }
    dft_facts_put(facts, questions, DFT_FACT_PLACES, query);
    questions->requests[questions->count - 1].order = (struct dft_order){.in_parts = 1};
}

int dft_places_collect(struct dft_facts *facts)
{
    struct looking looking = {.facts = facts, .rows_lost = are_lost(facts)};
    int worth = is_worth_it(facts), rc;

    dft_comm_broadcast(&worth, sizeof worth);
    if (!worth || !dft_facts_has(facts, DFT_FACT_PLACES))
        return 0;
    rc = list_files(&looking);
    if (!rc)
        rc = dft_answer_each(&facts->answers[DFT_FACT_PLACES], take_groups, &looking);
    if (!rc)
        rc = name_places(&looking, &facts->places.dirs, DFT_FACT_DIRS);
    if (!rc)
        rc = name_places(&looking, &facts->places.patterns, DFT_FACT_PATTERNS);
    dft_map_fini(&looking.bare);
    dft_map_fini(&looking.opened);
    return rc;
}

static void fini_list(struct dft_places *places)
{
    free(places->list);
    dft_map_fini(&places->numbers);
}

void dft_places_fini(struct dft_file_places *places)
{
    fini_list(&places->dirs);
    fini_list(&places->patterns);
    fini_list(&places->saves);
    free(places->askers);
    free(places->large);
    free(places->whole);
    dft_map_fini(&places->listed);
    memset(places, 0, sizeof *places);
}

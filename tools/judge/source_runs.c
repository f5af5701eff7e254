/* SPDX-License-Identifier: MIT */
/* Runs: the processes that were started together, as far as they say so themselves.
 *
 * Only an identity that its processes carry tells a run apart. That is the identity of dftrun,
 * which children inherit, else the id of the launcher's job. A launcher has no id, because it gives
 * them: it is of the run of those that it has started, if that is one. What else has no id is of
 * the run of the process that has started it. Processes with neither form one run without a name.
 * So do processes of other tracers. This run is left out only where the user asks for a run by
 * name. */
#include "judge/source_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views/ps_tree.h"
#include "object/source_inside.h"
#include "base/write_text.h"
#include "judge/source_job_names.h"
#include "object/source_notes.h"
#include "object/source_span.h"
#include "format/hash.h"

#define NO_ID 1u /* stands for a missing id among hashes */

static struct dft_text id_of(const struct dft_process *process)
{
    return process->run_id.length ? process->run_id : process->job_id;
}

/* Orders runs by start. The run without a name comes first. */
static int by_time(const void *left, const void *right)
{
    const struct dft_source_job *a = left, *b = right;

    if (!a->id.length != !b->id.length)
        return a->id.length ? 1 : -1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->id_hash < b->id_hash ? -1 : a->id_hash > b->id_hash;
}

/* What is known of each process while runs are found. */
struct finding {
    struct dft_source *source;
    struct dft_ps_tree tree;
    uint64_t *start_ns, *end_ns;
    uint32_t *says; /* the process whose id counts, or NOBODY, or SEVERAL: processes below have different ones */
};

#define NOBODY  UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

static uint64_t hash_of(const struct finding *finding, uint32_t says)
{
    struct dft_text id = says >= SEVERAL ? (struct dft_text){0} : id_of(&finding->source->processes[says].process);

    return id.length ? dft_name_id(id.bytes, id.length) : 0;
}

/* Tells those above a process without an id of their own. Each changes twice at most, so damaged trees with cycles
 * come to an end. */
static void tell_above(struct finding *finding, uint32_t process)
{
    uint32_t says = process, *there;

    for (uint32_t at = finding->tree.parent[process]; at != DFT_PS_ROOT; at = finding->tree.parent[at]) {
        there = &finding->says[at];
        if (*there == SEVERAL || (*there != NOBODY && hash_of(finding, *there) == hash_of(finding, says)))
            return;
        *there = says = *there == NOBODY ? says : SEVERAL;
    }
}

static void find_ids(struct finding *finding)
{
    const struct dft_source *source = finding->source;
    const struct dft_ps_tree *tree = &finding->tree;

    for (uint32_t p = 0; p < source->nprocesses; p++)
        finding->says[p] = id_of(&source->processes[p].process).length ? p : NOBODY;
    for (uint32_t p = 0; p < source->nprocesses; p++)
        if (finding->says[p] == p)
            tell_above(finding, p);
    for (uint32_t i = 0; i < tree->shown; i++) {
        uint32_t p = tree->order[i], parent = tree->parent[p];

        if (finding->says[p] >= SEVERAL)
            finding->says[p] = parent == DFT_PS_ROOT ? NOBODY : finding->says[parent];
    }
}

static int number_runs(struct finding *finding)
{
    struct dft_source *source = finding->source;
    struct dft_map map = {0}; /* hash of the id -> number + 1 */
    uint64_t *place = NULL;

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        uint32_t says = finding->says[p], number;
        uint64_t hash = hash_of(finding, says);

        place = dft_map_put(&map, hash ? hash : NO_ID);
        if (!place)
            break;
        if (!*place) {
            source->runs[source->nruns] = (struct dft_source_job){.id_hash = hash, .number = source->nruns};
            if (hash)
                source->runs[source->nruns].id = id_of(&source->processes[says].process);
            *place = ++source->nruns;
        }
        number = (uint32_t)*place - 1;
        dft_source_job_widen(&source->runs[number], finding->start_ns[p], finding->end_ns[p]);
        source->runs[number].processes++;
        source->processes[p].run = number + 1;
    }
    dft_map_fini(&map);
    return place || !source->nprocesses ? 0 : -ENOMEM;
}

static int name_runs(struct dft_source *source)
{
    uint32_t *place = calloc(source->nruns + 1u, sizeof *place);
    int rc = place ? 0 : -ENOMEM;

    qsort(source->runs, source->nruns, sizeof *source->runs, by_time);
    for (uint32_t r = 0; !rc && r < source->nruns; r++) {
        struct dft_source_job *run = &source->runs[r];

        place[run->number] = r + 1;
        run->number = r;
        run->name = run->id.length ? dft_text_escaped(run->id.bytes, run->id.length) : strdup("unnamed");
        rc = run->name ? 0 : -ENOMEM;
    }
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++)
        source->processes[p].run = place[source->processes[p].run - 1];
    free(place);
    return rc;
}

/* The number of the tree that a process stands in: of the one at its top. Those whose parent is known by its key alone
 * stand together. */
static uint32_t find_top(struct finding *finding, struct dft_map *missing, uint32_t i, uint32_t *tops)
{
    uint32_t p = finding->tree.order[i], parent = finding->tree.parent[p];
    uint64_t key = finding->source->processes[p].process.parent_key, *place;

    if (parent != DFT_PS_ROOT && tops[parent] != NOBODY)
        return tops[parent];
    place = key ? dft_map_put(missing, key) : NULL;
    if (place && !*place)
        *place = p + UINT64_C(1);
    return place ? (uint32_t)(*place - 1) : p;
}

/* Counts groups of processes without an id that no other of these lives beside. A tree is one group: a process that
 * execs, or whose children come one after the other, is one whatever time lies between. */
static int count_apart(struct finding *finding)
{
    const struct dft_source *source = finding->source;
    size_t room = source->nprocesses + 1u;
    struct dft_span *lives = calloc(room, sizeof *lives);
    uint32_t *tops = malloc(room * sizeof *tops), n = 0;
    struct dft_map missing = {0};
    int rc = lives && tops ? 0 : -ENOMEM;
    uint64_t end = 0;

    if (!rc)
        memset(tops, 0xff, room * sizeof *tops);
    for (uint32_t i = 0; !rc && i < finding->tree.shown; i++) {
        uint32_t p = finding->tree.order[i], top = tops[p] = find_top(finding, &missing, i, tops);
        struct dft_span *life = &lives[top];

        if (source->runs[source->processes[p].run - 1].id.length)
            continue;
        if (!life->last || finding->start_ns[p] < life->first)
            life->first = finding->start_ns[p];
        life->last = finding->end_ns[p] > life->last ? finding->end_ns[p] : life->last;
    }
    for (uint32_t i = 0; !rc && i < source->nprocesses; i++)
        if (lives[i].last)
            lives[n++] = lives[i];
    if (!rc)
        qsort(lives, n, sizeof *lives, dft_span_by_first);
    for (uint32_t i = 0; i < n; i++) {
        finding->source->unnamed_apart += !i || lives[i].first > end;
        end = lives[i].last > end ? lives[i].last : end;
    }
    dft_map_fini(&missing);
    free(lives);
    free(tops);
    return rc;
}

int dft_source_find_runs(struct dft_source *source)
{
    size_t n = source->nprocesses + 1u;
    struct finding finding = {.source = source,
                              .start_ns = calloc(n, sizeof *finding.start_ns),
                              .end_ns = calloc(n, sizeof *finding.end_ns),
                              .says = calloc(n, sizeof *finding.says)};
    struct dft_filter everything;
    int rc;

    dft_filter_init(&everything);
    source->runs = calloc(n, sizeof *source->runs);
    rc = source->runs && finding.start_ns && finding.end_ns && finding.says ? 0 : -ENOMEM;
    if (!rc)
        rc = dft_ps_tree_make(&finding.tree, source, &everything);
    if (!rc) {
        dft_source_find_lives(source, finding.start_ns, finding.end_ns);
        find_ids(&finding);
        rc = number_runs(&finding);
    }
    if (!rc)
        rc = name_runs(source);
    if (!rc)
        rc = count_apart(&finding);
    dft_ps_tree_free(&finding.tree);
    free(finding.start_ns);
    free(finding.end_ns);
    free(finding.says);
    return rc;
}

/* --- --run ------------------------------------------------------------------------------------ */

static void note_missing(struct dft_source *source, const char *patterns)
{
    char *list = dft_source_list_jobs(source->runs, source->nruns);

    dft_source_note(source, 1, "no run %s is here; there %s %s", patterns, source->nruns == 1 ? "is" : "are",
                    list ? list : "others");
    free(list);
}

/* Leaves out all runs but the last that began. The run without a name stays. */
static void leave_older(struct dft_source *source)
{
    for (uint32_t r = 0; r + 1 < source->nruns; r++)
        source->runs[r].left_out = source->runs[r].id.length != 0;
}

static int leave_others(struct dft_source *source, const char *patterns)
{
    int any = 0;

    for (uint32_t r = 0; r < source->nruns; r++) {
        int fits = dft_source_name_fits(patterns, source->runs[r].name);

        if (fits < 0)
            return fits;
        source->runs[r].left_out = !fits;
        any |= fits;
    }
    if (!any && source->nruns)
        note_missing(source, patterns);
    return 0;
}

int dft_source_choose_runs(struct dft_source *source, const char *patterns, int newest)
{
    uint8_t *keep = calloc(source->nprocesses + 1u, 1);
    int rc = keep ? 0 : -ENOMEM;

    if (!rc && patterns)
        rc = leave_others(source, patterns);
    else if (newest)
        leave_older(source);
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++)
        keep[p] = !source->runs[source->processes[p].run - 1].left_out;
    if (!rc)
        rc = dft_source_keep_processes(source, keep);
    free(keep);
    return rc;
}

void dft_source_note_newest(struct dft_source *source)
{
    uint32_t named = source->nruns - (source->nruns && !source->runs[0].id.length);

    if (named > 1)
        dft_source_note(source, 0, "%s is the newest of %u runs here; run all takes all of them, run NAME another one",
                        source->runs[source->nruns - 1].name, named);
}

void dft_source_note_runs(struct dft_source *source)
{
    char *list;

    /* another note tells of jobs */
    if (source->nruns < 2u + !source->runs[0].id.length || source->njobs > 1)
        return;
    list = dft_source_list_jobs(source->runs, source->nruns);
    if (list)
        dft_source_note(source, 0, "%u runs are together here: %s; --run NAME takes one", source->nruns, list);
    free(list);
}

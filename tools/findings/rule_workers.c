/* SPDX-License-Identifier: MIT */
/* A loader worker that takes longer for an item than the others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "findings/facts.h"
#include "findings/rules.h"

/* The workers of one name in a team: a new epoch has new processes for them. */
struct worker {
    struct dft_text role; /* empty: it has none, and is one process */
    uint32_t team, process, processes;
    uint64_t items, item_ns, item_io_ns;
};

static int by_role(const void *left, const void *right)
{
    const struct worker *a = left, *b = right;
    uint32_t n = a->role.length < b->role.length ? a->role.length : b->role.length;
    int order = n ? memcmp(a->role.bytes, b->role.bytes, n) : 0;

    if (a->team != b->team)
        return a->team < b->team ? -1 : 1;
    if (order || a->role.length != b->role.length)
        return order ? order : a->role.length < b->role.length ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

static uint32_t gather(const struct dft_facts *facts, uint64_t least, struct worker *workers)
{
    const struct dft_overlap *overlap = &facts->overlap;
    uint32_t count, n = 0, merged = 0;
    const struct dft_source_process *processes = dft_source_processes(facts->request->source, &count);

    for (uint32_t i = 0; i < overlap->nprocesses; i++) {
        const struct dft_overlap_process *p = &overlap->processes[i];

        if (p->items && !dft_overlap_is_trainer(overlap, p))
            workers[n++] = (struct worker){
                processes[p->process].process.role, p->team, p->process, 1, p->items, p->item_ns, p->item_io_ns};
    }
    if (n)
        qsort(workers, n, sizeof *workers, by_role);
    for (uint32_t i = 0; i < n; i++) {
        struct worker *last = merged ? &workers[merged - 1] : NULL;

        if (!last || last->team != workers[i].team || !last->role.length ||
            !dft_text_same(last->role, workers[i].role)) {
            workers[merged++] = workers[i];
            continue;
        }
        last->processes++;
        last->items += workers[i].items;
        last->item_ns += workers[i].item_ns;
        last->item_io_ns += workers[i].item_io_ns;
    }
    n = merged;
    merged = 0;
    for (uint32_t i = 0; i < n; i++)
        if (workers[i].items >= least)
            workers[merged++] = workers[i];
    return merged;
}

static double mean(uint64_t ns, uint64_t items)
{
    return items ? (double)ns / (double)items : 0;
}

/* What an item takes the other workers of its team, all together, and the slowest of them. Returns
 * how many these are. */
static uint32_t others_of(const struct worker *workers, uint32_t count, uint32_t at, struct worker *others,
                          double *slowest)
{
    uint32_t n = 0;

    *slowest = 0;
    *others = (struct worker){0};
    for (uint32_t i = 0; i < count; i++) {
        if (i == at || workers[i].team != workers[at].team)
            continue;
        others->items += workers[i].items;
        others->item_ns += workers[i].item_ns;
        others->item_io_ns += workers[i].item_io_ns;
        if (mean(workers[i].item_ns, workers[i].items) > *slowest)
            *slowest = mean(workers[i].item_ns, workers[i].items);
        n++;
    }
    return n;
}

/* How much longer all its items take than those of others. */
static double extra_of(const struct worker *worker, const struct worker *others)
{
    return (double)worker->item_ns - mean(others->item_ns, others->items) * (double)worker->items;
}

/* "worker 3 (process 4711)" */
static int say_name(const struct dft_facts *facts, const struct worker *worker, char **text)
{
    uint32_t count, pid = dft_source_processes(facts->request->source, &count)[worker->process].process.pid;
    char *role = dft_text_escaped(worker->role.length ? worker->role.bytes : "", worker->role.length);
    int rc = role ? 0 : -ENOMEM;

    if (!rc && *role && worker->processes > 1)
        rc = dft_finding_say(text, "%s (%u processes)", role, worker->processes);
    else if (!rc && *role)
        rc = dft_finding_say(text, "%s (process %u)", role, pid);
    else if (!rc)
        rc = dft_finding_say(text, "process %u", pid);
    free(role);
    return rc;
}

static int say(struct dft_rules *rules, struct dft_finding *finding, const struct worker *worker,
               const struct worker *others, uint32_t nothers)
{
    const struct dft_overlap *overlap = &rules->facts->overlap;
    double one = mean(worker->item_ns, worker->items), usual = mean(others->item_ns, others->items);
    double io = mean(worker->item_io_ns, worker->items) - mean(others->item_io_ns, others->items);
    int is_io = 2 * io > one - usual, rc;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], d[DFT_TEXT_ROOM];

    finding->rank = overlap->teams[worker->team].rank;
    finding->sure = nothers > 1 && overlap->is_exact ? DFT_SURE_HIGH : DFT_SURE_MEDIUM;
    rc = dft_finding_say(&finding->title, "one loader worker is slow");
    if (!rc)
        rc = say_name(rules->facts, worker, &finding->where);
    if (!rc)
        rc = dft_finding_say(&finding->evidence, "%s: %s%s an item, others %s (%s), over %s items; its %s, not %s",
                             finding->where, overlap->is_exact ? "" : "about ", dft_text_ns(a, (uint64_t)one),
                             dft_text_ns(b, (uint64_t)usual), dft_text_ratio(d, one / usual),
                             dft_text_count(c, worker->items), is_io ? "I/O" : "self time",
                             is_io ? "its own work" : "I/O");
    if (!rc)
        rc = dft_finding_say(&finding->why_sure, "%u other workers load items of the same kind", nothers);
    if (!rc && !is_io)
        rc = dft_finding_say(&finding->advice, " Look at where it runs and which items it gets.");
    return rc;
}

/* Where the trainer waits for what the slow worker takes longer, more workers are no help. */
static int blame(struct dft_rules *rules, const struct dft_overlap_team *team, uint64_t extra_ns)
{
    char a[DFT_TEXT_ROOM];

    if (dft_facts_starts_slowly(rules->facts, team))
        return 0;
    for (uint32_t i = 0; i < rules->findings->count; i++) {
        struct dft_finding *waits = &rules->findings->list[i];

        if (waits->code != DFT_FINDING_TRAINER_WAITS || waits->rank != team->rank || extra_ns * 2 < waits->cost_ns)
            continue;
        free(waits->advice);
        waits->advice = NULL;
        return dft_finding_say(&waits->advice, "Mend the loader worker that is slow first; at most %s to gain.",
                               dft_text_ns(a, extra_ns));
    }
    return 0;
}

int dft_rule_workers(struct dft_rules *rules)
{
    const struct dft_overlap *overlap = &rules->facts->overlap;
    struct worker *workers, others, of_found;
    uint32_t count, found = 0, nothers = 0;
    struct dft_finding *finding;
    double max = 0, slowest, times = (double)dft_limit(rules, DFT_LIMIT_SLOW_WORKER_TIMES) / 1000;
    uint64_t cost;
    int rc = 0;

    if (!rules->facts->has_overlap || !overlap->has_items)
        return 0;
    workers = malloc((overlap->nprocesses + 1u) * sizeof *workers);
    if (!workers)
        return -ENOMEM;
    count = gather(rules->facts, dft_limit(rules, DFT_LIMIT_SLOW_WORKER_ITEMS), workers);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = others_of(workers, count, i, &others, &slowest);

        if (!n || !others.item_ns || mean(workers[i].item_ns, workers[i].items) < times * slowest ||
            extra_of(&workers[i], &others) <= max)
            continue;
        max = extra_of(&workers[i], &others);
        found = i;
        nothers = n;
        of_found = others;
    }
    cost = (uint64_t)max;
    if (nothers && overlap->has_data && cost > overlap->teams[workers[found].team].data_ns)
        cost = overlap->teams[workers[found].team].data_ns; /* nobody waited for more */
    if (nothers)
        rc = dft_rules_add(rules, DFT_FINDING_SLOW_WORKER, cost, rules->facts->wall_ns, &finding);
    if (rc > 0)
        rc = say(rules, finding, &workers[found], &of_found, nothers);
    if (!rc && nothers)
        rc = blame(rules, &overlap->teams[workers[found].team], cost);
    free(workers);
    return rc;
}
